#include "masters/master_dir.h"
#include "base/mem.h"
#include "base/str.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int is_zone_file(const struct dirent *e)
{
    return str_ends(e->d_name, ".zone") && e->d_name[0] != '.';
}

static bool is_taken(const struct master_dir *d, const uint8_t *apex)
{
    for (size_t i = 0; i < d->n_files; i++)
        if (name_equal(d->files[i].apex, apex))
            return true;
    return false;
}

static void read_one(const char *dir, const char *name, const struct map *stamps, struct master_dir *out)
{
    struct master_file f = {.path = mem_fmt("%s/%s", dir, name)};
    struct buf stamp = BUF_EMPTY;
    f.is_bad = zonefile_apex(name, f.apex) != 0;
    if (!f.is_bad && is_taken(out, f.apex)) {
        free(f.path);
        return;
    }
    const char *known = map_get(stamps, f.path);
    f.is_unchanged = known && zonefile_is_current(known);
    if (f.is_bad)
        err_set(&f.why, ERR_CONFIG, f.path, "the file name is no zone name: NAME.zone was expected");
    else if (!f.is_unchanged)
        f.is_bad = zonefile_read(f.path, f.apex, &f.content, &stamp, &f.why) != 0;
    f.stamp = buf_take(&stamp);
    out->files = mem_resize(out->files, out->n_files + 1, sizeof *out->files);
    out->files[out->n_files++] = f;
}

void master_dir_read(const char *dir, const struct map *stamps, struct master_dir *out)
{
    struct dirent **entries;
    *out = (struct master_dir){.files = NULL};
    int n = scandir(dir, &entries, is_zone_file, alphasort);
    if (n < 0) {
        out->err = err_set(&out->why, ERR_IO, dir, "the zone directory cannot be read: %s", strerror(errno));
        return;
    }
    for (int i = 0; i < n; i++) {
        read_one(dir, entries[i]->d_name, stamps, out);
        free(entries[i]);
    }
    free(entries);
}

void master_dir_fini(struct master_dir *d)
{
    for (size_t i = 0; i < d->n_files; i++) {
        free(d->files[i].path);
        free(d->files[i].stamp);
        rrlist_fini(&d->files[i].content.rrs);
    }
    free(d->files);
    *d = (struct master_dir){.files = NULL};
}
