#include "cluster/local_devices.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"

struct local_device {
    char *type, *part;
    bool is_held;
};

static void add_part(struct local_devices *d, const char *type, const char *part)
{
    d->parts = mem_resize(d->parts, d->n + 1, sizeof d->parts[0]);
    d->parts[d->n++] = (struct local_device){mem_str(type), mem_str(part), false};
}

void local_devices_init(struct local_devices *d, const char *text)
{
    mem_auto char *copy = mem_str(text ? text : "");
    char *lines = copy, *line, *part;

    *d = (struct local_devices){NULL, 0};
    while ((line = strsep(&lines, "\n"))) {
        char *list = strchr(line, '=');
        if (!list)
            continue;
        *list++ = '\0';
        while ((part = strsep(&list, ",")))
            add_part(d, line, part);
    }
}

void local_devices_fini(struct local_devices *d)
{
    for (size_t i = 0; i < d->n; i++) {
        free(d->parts[i].type);
        free(d->parts[i].part);
    }
    free(d->parts);
}

/** "/dev/a+/dev/b": in an allocation file, an option of a program and a variable it needs no quotes. */
static bool part_is_good(const char *part)
{
    mem_auto char *copy = mem_str(part);
    char *rest = copy, *path;

    if (strpbrk(part, " \t\n:'\"\\"))
        return false;
    while ((path = strsep(&rest, "+")))
        if (path[0] != '/' || !path[1])
            return false;
    return true;
}

static bool is_among(const struct local_devices *d, const char *part)
{
    size_t i = 0;

    while (i < d->n && strcmp(d->parts[i].part, part) != 0)
        i++;
    return i < d->n;
}

size_t local_devices_count(const char *list)
{
    mem_auto char *copy = mem_str(list);
    struct local_devices seen = {NULL, 0};
    char *rest = copy, *part;
    bool is_good = true;

    while (is_good && (part = strsep(&rest, ","))) {
        is_good = part_is_good(part) && !is_among(&seen, part);
        add_part(&seen, "", part);
    }
    size_t n = is_good ? seen.n : 0;
    local_devices_fini(&seen);
    return n;
}

static void take_of_type(struct local_devices *d, const struct spec_amount *a, struct buf *out)
{
    int64_t left = a->n;

    for (size_t i = 0; left > 0 && i < d->n; i++) {
        struct local_device *part = &d->parts[i];
        if (part->is_held || strcmp(part->type, a->type) != 0)
            continue;
        buf_addf(out, "%s%s", out->len ? "," : "", part->part);
        part->is_held = true;
        left--;
    }
}

char *local_devices_take(struct local_devices *d, const struct spec_needs *needs)
{
    struct buf out = BUF_EMPTY;

    for (size_t i = 0; needs && i < needs->n_amounts; i++)
        take_of_type(d, &needs->amounts[i], &out);
    return out.len ? buf_take(&out) : mem_str("");
}

void local_devices_hold(struct local_devices *d, const char *held, bool is_held)
{
    mem_auto char *copy = mem_str(held ? held : "");
    char *rest = copy, *part;

    while ((part = strsep(&rest, ",")))
        for (size_t i = 0; i < d->n; i++)
            if (!strcmp(d->parts[i].part, part))
                d->parts[i].is_held = is_held;
}

char *local_devices_paths(const char *held)
{
    mem_auto char *copy = mem_str(held ? held : "");
    struct local_devices seen = {NULL, 0};
    struct buf out = BUF_EMPTY;
    char *rest = copy, *path;

    while ((path = strsep(&rest, ",+"))) {
        if (!*path || is_among(&seen, path))
            continue;
        add_part(&seen, "", path);
        buf_addf(&out, "%s%s", out.len ? "," : "", path);
    }
    local_devices_fini(&seen);
    return out.len ? buf_take(&out) : mem_str("");
}
