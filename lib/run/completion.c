#include "run/completion.h"

#include <ctype.h>
#include <string.h>

#include "base/mem.h"
#include "base/obj.h"
#include "base/str.h"

void completion_row(struct buf *out, const char *table, const char *place, const char *text)
{
    mem_auto char *trimmed = str_trim(text);

    BUG_IF(strchr(place, '\'') || strchr(text, '\''));
    buf_addf(out, "_bobbin_%s['%s']='%s'\n", table, place, trimmed);
}

/** "table|json" is words; a name in capitals stands for something. */
static bool is_words(const char *placeholder)
{
    for (const char *p = placeholder; *p; p++)
        if (!islower((unsigned char)*p) && !isdigit((unsigned char)*p) && !strchr("|-", *p))
            return false;
    return islower((unsigned char)*placeholder);
}

static void add_words(const char *alternatives, struct buf *out)
{
    for (const char *p = alternatives; *p; p++)
        buf_add_char(out, *p == '|' ? ' ' : *p);
}

void completion_kind(const char *placeholder, struct buf *out)
{
    if (is_words(placeholder))
        add_words(placeholder, out);
    else if (strchr(placeholder, '@'))
        buf_add_str(out, "<any>"); /* @FILE: a file's name behind a sign is not completed */
    else if (strstr(placeholder, "DIR"))
        buf_add_str(out, "<dir>");
    else if (strstr(placeholder, "FILE"))
        buf_add_str(out, "<file>");
    else
        buf_add_str(out, "<any>");
}

void completion_keys(struct buf *out, const char *program, const struct opt_def *defs, size_t n)
{
    buf_auto struct buf keys = BUF_EMPTY;

    for (size_t i = 0; i < n; i++) {
        buf_auto struct buf values = BUF_EMPTY;
        mem_auto char *place = mem_fmt("%s %s", program, defs[i].key);
        buf_addf(&keys, "%s ", defs[i].key);
        if (defs[i].type == OPT_ENUM)
            add_words(defs[i].unit, &values);
        else if (defs[i].type == OPT_BOOL)
            buf_add_str(&values, "true false");
        if (values.len)
            completion_row(out, "key_values", place, buf_cstr(&values));
    }
    completion_row(out, "keys", program, buf_cstr(&keys));
}

void completion_end(struct buf *out, const char *program)
{
    buf_addf(out, "complete -F _bobbin_complete %s\n", program);
}
