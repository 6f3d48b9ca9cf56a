/** What a kept directory was used with: see dev.h. */
#include "dev.h"

#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/str.h"
#include "kit/options.h"
#include "run/file.h"

#define EMBEDDED  "--store embedded"
#define ZOOKEEPER "--store zookeeper"

/** The words that choose the store of this run. The directory may move, so its path is no part of them. New. */
static char *store_words(const struct dev *d)
{
    const char *set = opt_text(d->cli->options, KEY_STORE);

    if (d->wants_zookeeper)
        return mem_str(ZOOKEEPER);
    return set ? mem_fmt("-D hadoop.registry.store=%s", set) : mem_str(EMBEDDED);
}

static bool has_dir(const struct dev *d, const char *name)
{
    mem_auto char *path = dev_path(d, name);
    struct stat st;

    return !stat(path, &st) && S_ISDIR(st.st_mode);
}

/** The words of the run before; NULL: none is known, or there was none. New. */
static char *words_before(const struct dev *d, const char *file)
{
    buf_auto struct buf text = BUF_EMPTY;
    bool is_embedded = has_dir(d, "registry"), is_zookeeper = has_dir(d, "zookeeper");

    if (!file_read(file, &text, NULL))
        return str_trim(buf_cstr(&text));
    if (is_embedded == is_zookeeper) /* nothing yet, or, from an earlier version, both */
        return NULL;
    return mem_str(is_embedded ? EMBEDDED : ZOOKEEPER);
}

int dev_keep_check(const struct dev *d, struct err_info *why)
{
    mem_auto char *file = dev_path(d, "store");
    mem_auto char *wanted = store_words(d);
    mem_auto char *before = words_before(d, file);

    if (!before || strcmp(before, wanted) == 0)
        return 0;
    return err_set(why, ERR_USAGE, d->dir,
                   "its registry was kept with %s, and this run has %s: it would begin without records; give "
                   "%s again, or --keep another directory",
                   before, wanted, before);
}

int dev_keep_start(struct dev *d, struct err_info *why)
{
    mem_auto char *file = dev_path(d, "store");
    mem_auto char *words = store_words(d);
    mem_auto char *line = mem_fmt("%s\n", words);

    return d->is_temporary ? 0 : file_write(file, line, strlen(line), why);
}
