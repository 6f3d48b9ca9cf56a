/** See explained.h. */
#include "explained.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "json/json.h"
#include "out.h"
#include "services.h"

/** "web-3, web-4 and 810 more", or the name of the whole. free() */
static char *object_text(const json_t *line, const char *whole, const struct explained_kind *kind)
{
    const json_t *items = json_object_get(line, kind->key);
    json_int_t n_left =
        json_integer_value(json_object_get(line, "count")) - (json_int_t)json_array_size(items);
    char *text = NULL;
    size_t i;
    const json_t *item;

    json_array_foreach(items, i, item)
    {
        mem_auto char *before = text;
        mem_auto char *one = kind->text(line, item);
        text = before ? mem_fmt("%s, %s", before, one) : mem_str(one);
    }
    mem_auto char *shown = text;
    if (!shown || n_left <= 0)
        return mem_str(shown ? shown : whole);
    return mem_fmt("%s and %lld more", shown, (long long)n_left);
}

static void print_line(const json_t *line, const char *whole, const struct explained_kind *kind)
{
    mem_auto char *object = object_text(line, whole, kind);
    mem_auto char *text = mem_fmt("%s: %s\n  %s\n  remedy: %s", object, services_text(line, "state"),
                                  services_text(line, "wait"), services_text(line, "remedy"));

    out_lines_to(stdout, text);
}

void explained_print(const json_t *list, const char *whole, const struct explained_kind *kind)
{
    size_t i;
    const json_t *line;

    json_array_foreach(list, i, line) print_line(line, whole, kind);
    if (json_array_size(list) == 0)
        printf("Nothing to explain: all is as wanted.\n");
}
