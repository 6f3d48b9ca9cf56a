/** See out.h. */
#include "out.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"
#include "json/json.h"

/* ---- tables ---- */

void out_table_begin(struct out_table *t, const char *const *titles)
{
    *t = (struct out_table){0};
    for (; titles[t->n_columns]; t->n_columns++)
        out_table_add(t, titles[t->n_columns]);
}

void out_hide_controls(char *text, const char *but)
{
    for (char *p = text; *p; p++) {
        if (((unsigned char)*p < 0x20 || *p == 0x7f) && !strchr(but, *p))
            *p = '?';
    }
}

void out_table_add(struct out_table *t, const char *text)
{
    char *cell = mem_str(text && text[0] ? text : "-");

    out_hide_controls(cell, "");
    t->cells = mem_resize(t->cells, t->n_cells + 1, sizeof(char *));
    t->cells[t->n_cells++] = cell;
}

void out_table_add_number(struct out_table *t, const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    mem_auto char *text =
        json_is_integer(value) ? mem_fmt("%lld", (long long)json_integer_value(value)) : NULL;

    out_table_add(t, text);
}

/** Every byte of a character but the first is of the form 10xxxxxx. */
static bool begins_character(char byte)
{
    return ((unsigned char)byte & 0xc0) != 0x80;
}

size_t out_text_fit(const char *text, size_t n_characters)
{
    size_t len = 0;

    while (text[len] && (n_characters > 0 || !begins_character(text[len])))
        n_characters -= begins_character(text[len++]);
    return len;
}

/** Characters of a text, for the width of its column. */
static size_t text_width(const char *text)
{
    size_t n = 0;

    for (; *text; text++)
        n += begins_character(*text);
    return n;
}

void out_table_print(struct out_table *t)
{
    size_t *widths = mem_array(t->n_columns, sizeof(size_t));

    for (size_t i = 0; i < t->n_cells; i++) {
        size_t width = text_width(t->cells[i]);
        if (width > widths[i % t->n_columns])
            widths[i % t->n_columns] = width;
    }
    for (size_t i = 0; i < t->n_cells; i++) {
        bool is_last = i % t->n_columns == t->n_columns - 1;
        size_t pad = is_last ? 0 : widths[i % t->n_columns] - text_width(t->cells[i]) + 2;
        printf("%s%*s%s", t->cells[i], (int)pad, "", is_last ? "\n" : "");
        free(t->cells[i]);
    }
    free(widths);
    free(t->cells);
    *t = (struct out_table){0};
}

void out_lines_to(FILE *to, const char *text)
{
    mem_auto char *lines = mem_str(text);

    out_hide_controls(lines, "\n\t");
    fprintf(to, "%s\n", lines);
}

/* ---- JSON and time ---- */

void out_json(const json_t *value)
{
    buf_auto struct buf text = BUF_EMPTY;

    json_write_pretty(value, &text);
    printf("%s\n", buf_cstr(&text));
}

void out_json_line(const json_t *value)
{
    buf_auto struct buf text = BUF_EMPTY;

    json_write(value, &text);
    printf("%s\n", buf_cstr(&text));
}

const char *out_time(int64_t wall_ms, char out[32])
{
    time_t seconds = (time_t)(wall_ms / 1000);
    struct tm utc;

    gmtime_r(&seconds, &utc);
    strftime(out, 32, "%Y-%m-%dT%H:%M:%SZ", &utc);
    return out;
}
