#include "feed/mark_file.h"
#include "registryd/events.h"
#include "base/mem.h"
#include "base/obj.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MARK_FILE_MAGIC OBJ_MAGIC('S', 'H', 'O', 'W')
/** What the file begins with; the number is the form's. */
#define FILE_MAGIC "bobbin shown 1\n"

/** The file, in the form of this machine. An empty tree_id says that nothing is known. */
struct page {
    char magic[16];
    struct mirror_past past;
};

struct mark_file {
    struct obj obj;
    struct mirror *mirror;
    int fd; /* holds the lock */
    struct page *page;
};

/* ---- the file ---- */

static bool is_id(const char id[STORE_REVISION_MAX])
{
    size_t len = strnlen(id, STORE_REVISION_MAX);
    return len < STORE_REVISION_MAX && strspn(id, "0123456789abcdef") == len;
}

static bool is_usable(const struct page *page)
{
    return memcmp(page->magic, FILE_MAGIC, sizeof page->magic) == 0 && is_id(page->past.tree_id) &&
           is_id(page->past.store_id) && page->past.store_id[0] && page->past.newest >= 0;
}

/* Locks the file for this process and allocates its blocks, so that a full disk is an error here and no signal at a later store. */
static struct page *map_file(int fd)
{
    if (flock(fd, LOCK_EX | LOCK_NB) != 0)
        return NULL;
    errno = posix_fallocate(fd, 0, sizeof(struct page));
    void *page =
        errno ? MAP_FAILED : mmap(NULL, sizeof(struct page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return page == MAP_FAILED ? NULL : page;
}

struct mark_file *mark_file_open(const char *dir, struct mirror_past *past)
{
    *past = (struct mirror_past){0};
    mem_auto char *own = mem_fmt("%s/registryd", dir);
    mem_auto char *path = mem_fmt("%s/shown", own);
    (void)mkdir(dir, 0755); /* open reports what is wrong with either */
    (void)mkdir(own, 0755);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    struct page *page = fd < 0 ? NULL : map_file(fd);
    if (!page) {
        log_emit(&ev_mark_failed, LOG_STR("file", path), LOG_STR("why", strerror(errno)));
        if (fd >= 0)
            close(fd);
        return NULL;
    }
    if (page->past.tree_id[0] && is_usable(page))
        *past = page->past;
    struct mark_file *f = mem_new(struct mark_file);
    obj_init(&f->obj, MARK_FILE_MAGIC);
    f->page = page;
    f->fd = fd;
    return f;
}

/* ---- following the mirror ---- */

/* A process that is killed in between leaves a file that says nothing or everything: tree_id is empty meanwhile. */
static void on_synced(void *arg)
{
    struct mark_file *f = obj_cast(arg, struct mark_file, MARK_FILE_MAGIC);
    struct mirror_past now;
    mirror_present(f->mirror, &now);
    struct mirror_past *kept = &f->page->past;
    kept->tree_id[0] = '\0';
    atomic_thread_fence(memory_order_seq_cst);
    memcpy(f->page->magic, FILE_MAGIC, sizeof f->page->magic);
    memcpy(kept->store_id, now.store_id, sizeof kept->store_id);
    memcpy(kept->tree_id + 1, now.tree_id + 1, sizeof kept->tree_id - 1);
    kept->newest = now.newest;
    atomic_thread_fence(memory_order_seq_cst);
    kept->tree_id[0] = now.tree_id[0];
}

static void keep_newest(struct mark_file *f)
{
    int64_t newest = mirror_newest(f->mirror);
    if (newest > f->page->past.newest)
        f->page->past.newest = newest;
}

static void on_applied(void *arg, int64_t zxid)
{
    keep_newest(obj_cast(arg, struct mark_file, MARK_FILE_MAGIC));
    (void)zxid;
}

static void on_change(void *arg, enum mirror_change kind, const char *path, const struct mirror_node *node,
                      const char *old_data, size_t old_len, int64_t zxid)
{
    keep_newest(obj_cast(arg, struct mark_file, MARK_FILE_MAGIC));
    (void)kind, (void)path, (void)node, (void)old_data, (void)old_len, (void)zxid;
}

static const struct mirror_listener listener = {
    .synced = on_synced, .change = on_change, .applied = on_applied};

void mark_file_keep(struct mark_file *f, struct mirror *m)
{
    BUG_IF(f->mirror != NULL);
    f->mirror = m;
    mirror_listen(m, &listener, f);
}

void mark_file_free(struct mark_file *f)
{
    if (!f)
        return;
    munmap(f->page, sizeof *f->page);
    close(f->fd);
    obj_fini(&f->obj);
    free(f);
}
