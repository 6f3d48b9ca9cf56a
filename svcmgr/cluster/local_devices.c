#include "cluster/local_devices.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"
#include "spec/spec.h"

#define GPU_BITS 63

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

/* ---- GPUs ---- */

static size_t n_of_type(const struct local_devices *d, const char *type)
{
    size_t n = 0;

    for (size_t i = 0; i < d->n; i++)
        n += !strcmp(d->parts[i].type, type);
    return n;
}

void local_devices_add_gpus(struct local_devices *d, int64_t n)
{
    size_t n_named = n_of_type(d, SPEC_GPU_TYPE);

    for (size_t i = 0; !n_named && i < GPU_BITS && (int64_t)i < n; i++) {
        mem_auto char *part = mem_fmt(LOCAL_GPU_PART, i);
        add_part(d, SPEC_GPU_TYPE, part);
    }
}

/** A part's number among those of its type is in the mask, or there is none. */
static bool is_in_mask(int64_t mask, size_t number)
{
    return !mask || (number < GPU_BITS && mask >> number & 1);
}

/** Those of the mask that are free, or that there are at all. */
static int64_t gpus_of(const struct local_devices *d, bool are_free)
{
    int64_t bits = 0;
    size_t number = 0;

    for (size_t i = 0; i < d->n; i++) {
        if (strcmp(d->parts[i].type, SPEC_GPU_TYPE) != 0)
            continue;
        if (number < GPU_BITS && !(are_free && d->parts[i].is_held))
            bits |= (int64_t)1 << number;
        number++;
    }
    return bits;
}

char *local_devices_lack(const struct local_devices *d, const struct spec_needs *needs)
{
    int64_t mask = 0;

    for (size_t i = 0; needs && i < needs->n_amounts; i++)
        mask |= needs->amounts[i].mask;
    if (mask & ~gpus_of(d, false))
        return mem_fmt("the GPUs of the mask %lld are wanted, this host has those of %lld", (long long)mask,
                       (long long)gpus_of(d, false));
    if (mask & ~gpus_of(d, true))
        return mem_fmt("the GPUs of the mask %lld are wanted, those of %lld are free", (long long)mask,
                       (long long)gpus_of(d, true));
    return NULL;
}

int64_t local_devices_gpus(const struct local_devices *d, const char *held)
{
    mem_auto char *copy = mem_str(held ? held : "");
    char *rest = copy, *part;
    int64_t bits = 0;

    while ((part = strsep(&rest, ","))) {
        size_t number = 0;
        for (size_t i = 0; i < d->n; i++) {
            if (strcmp(d->parts[i].type, SPEC_GPU_TYPE) != 0)
                continue;
            if (!strcmp(d->parts[i].part, part) && number < GPU_BITS)
                bits |= (int64_t)1 << number;
            number++;
        }
    }
    return bits;
}

/* ---- taking ---- */

static void take_of_type(struct local_devices *d, const struct spec_amount *a, struct buf *out)
{
    int64_t left = a->n;
    size_t number = 0;

    for (size_t i = 0; left > 0 && i < d->n; i++) {
        struct local_device *part = &d->parts[i];
        if (strcmp(part->type, a->type) != 0)
            continue;
        if (!is_in_mask(a->mask, number++) || part->is_held)
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
        if (*path != '/' || is_among(&seen, path))
            continue;
        add_part(&seen, "", path);
        buf_addf(&out, "%s%s", out.len ? "," : "", path);
    }
    local_devices_fini(&seen);
    return out.len ? buf_take(&out) : mem_str("");
}
