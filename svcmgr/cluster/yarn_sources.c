#include "cluster/yarn_sources.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/queue.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uv.h>

#include "base/mem.h"
#include "base/obj.h"
#include "cluster/source_text.h"
#include "localizer/localizer.h"

#define SOURCES_MAGIC OBJ_MAGIC('Y', 'S', 'R', 'C')
#define READ_MAGIC    OBJ_MAGIC('Y', 'S', 'R', 'D')

#define PIECE 65536

struct yarn_sources_read {
    struct obj obj;
    TAILQ_ENTRY(yarn_sources_read) link;
    struct yarn_sources *owner;
    struct sources_ask ask;
    struct buf *texts; /* ask.n_sources of them */
    struct source_fault fault;
    bool has_failed, is_cancelled;
    struct err_info why; /* it cannot be begun; code 0: it can */
    uv_work_t work;
    void (*done)(void *arg, int err, struct buf *texts, const struct err_info *why);
    void *arg;
};

struct yarn_sources {
    struct obj obj;
    struct yarn_sources_config config; /* texts owned */
    TAILQ_HEAD(, yarn_sources_read) waiting;
    struct yarn_sources_read *running; /* on the pool; it may be cancelled */
    struct run_timer *next;            /* begins the first that waits */
    bool is_freed;                     /* goes with what is running */
};

static void free_read(struct yarn_sources_read *r)
{
    for (size_t i = 0; i < r->ask.n_sources; i++)
        buf_fini(&r->texts[i]);
    free(r->texts);
    sources_ask_fini(&r->ask);
    obj_fini(&r->obj);
    free(r);
}

static void free_sources(struct yarn_sources *s)
{
    free((char *)s->config.user);
    free((char *)s->config.dir);
    obj_fini(&s->obj);
    free(s);
}

/* ---- on the pool ---- */

/** @return 0; or -1: *f says why */
static int read_all(int fd, int64_t max, struct buf *out, struct source_fault *f)
{
    ssize_t n = 1;

    while (n > 0 && (int64_t)out->len <= max) {
        n = read(fd, buf_room(out, PIECE), PIECE);
        out->len += n > 0 ? (size_t)n : 0;
    }
    if (n < 0)
        return localizer_fault(f, SOURCE_UNREAD, errno);
    return (int64_t)out->len > max ? localizer_fault(f, SOURCE_TOO_LARGE, 0) : 0;
}

/** Names and values, as a JSON object. */
static int read_pairs(int fd, const struct source *s, struct buf *out, struct source_fault *f)
{
    int object = memfd_create("source", MFD_CLOEXEC);
    int failed = object < 0 ? localizer_fault(f, SOURCE_UNWRITTEN, errno)
                            : localizer_convert(fd, object, s->form, s->max_bytes, f);

    if (!failed && lseek(object, 0, SEEK_SET) != 0)
        failed = localizer_fault(f, SOURCE_UNREAD, errno);
    if (!failed)
        failed = read_all(object, INT64_MAX, out, f);
    if (object >= 0)
        close(object);
    return failed;
}

/** Our rights are the user's: a link leads him to what he may read anyway. Nothing else than a file is waited for. */
static int open_file(const char *path, struct source_fault *f)
{
    struct stat st = {0};
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    bool is_absent = fd < 0 && (errno == ENOENT || errno == ENOTDIR || errno == ENAMETOOLONG);

    if (fd < 0)
        return localizer_fault(f,
                               is_absent         ? SOURCE_ABSENT
                               : errno == EACCES ? SOURCE_NO_RIGHT
                                                 : SOURCE_UNREAD,
                               errno);
    if (!fstat(fd, &st) && S_ISREG(st.st_mode))
        return fd;
    close(fd);
    return localizer_fault(f, SOURCE_NOT_REGULAR, 0);
}

static int open_source(const struct yarn_sources_read *r, const struct source *s, struct source_fault *f)
{
    const struct yarn_sources_config *config = &r->owner->config;
    const struct fetch_from from = {s, r->ask.owner};

    if (!source_is_url(s->path))
        return open_file(s->path, f);
    int dir = mkdir(config->dir, 0700) && errno != EEXIST
                  ? -1
                  : open(config->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0)
        return localizer_fault(f, SOURCE_UNWRITTEN, errno);
    int fd = localizer_cache(dir, &from, s->max_bytes, config->fresh_s, f);
    close(dir);
    return fd;
}

static void work(uv_work_t *job)
{
    struct yarn_sources_read *r = obj_cast(job->data, struct yarn_sources_read, READ_MAGIC);

    for (size_t i = 0; !r->has_failed && i < r->ask.n_sources; i++) {
        const struct source *s = &r->ask.sources[i];
        int fd = open_source(r, s, &r->fault);
        r->fault.source = i;
        if (fd < 0)
            r->has_failed = true;
        else if (s->form == SOURCE_FILE)
            r->has_failed = read_all(fd, s->max_bytes, &r->texts[i], &r->fault) != 0;
        else
            r->has_failed = read_pairs(fd, s, &r->texts[i], &r->fault) != 0;
        if (fd >= 0)
            close(fd);
    }
}

/* ---- one after the other ---- */

static void go_on(struct yarn_sources *s)
{
    if (!s->running && !TAILQ_EMPTY(&s->waiting))
        run_timer_start(s->next, 0, 0);
}

static void finish(struct yarn_sources_read *r)
{
    const struct source *failed = r->has_failed ? &r->ask.sources[r->fault.source] : NULL;
    int err = failed ? source_fault_why(failed, r->ask.owner, &r->fault, &r->why) : r->why.code;

    r->done(r->arg, err, err ? NULL : r->texts, &r->why);
    free_read(r);
}

static void worked(uv_work_t *job, int status)
{
    struct yarn_sources_read *r = obj_cast(job->data, struct yarn_sources_read, READ_MAGIC);
    struct yarn_sources *s = r->owner;

    BUG_IF(status != 0);
    s->running = NULL;
    if (s->is_freed) {
        free_read(r);
        free_sources(s);
        return;
    }
    go_on(s);
    if (r->is_cancelled)
        free_read(r);
    else
        finish(r);
}

static void on_next(void *arg)
{
    struct yarn_sources *s = obj_cast(arg, struct yarn_sources, SOURCES_MAGIC);
    struct yarn_sources_read *r = TAILQ_FIRST(&s->waiting);

    if (!r || s->running)
        return;
    TAILQ_REMOVE(&s->waiting, r, link);
    if (r->why.code) {
        go_on(s);
        finish(r);
        return;
    }
    s->running = r;
    r->work.data = r;
    BUG_IF(uv_queue_work(run_loop_uv(s->config.loop), &r->work, work, worked) != 0);
}

static int add_source(struct yarn_sources_read *r, const struct cluster_file *f, struct err_info *why)
{
    const struct yarn_sources_config *config = &r->owner->config;
    struct fs_place place = {.path = NULL};
    int err = fs_place_read(&config->fs, f->source, config->user, &place, why);

    if (err)
        return err;
    sources_ask_file(&r->ask, source_form_of(f), place.path, SOURCE_TEXT_MAX);
    for (size_t i = 0; i < place.n_urls; i++)
        sources_ask_url(&r->ask, place.urls[i]);
    fs_place_fini(&place);
    return 0;
}

struct yarn_sources_read *yarn_sources_start(
    struct yarn_sources *s, const struct cluster_file *files, size_t n,
    void (*done)(void *arg, int err, struct buf *texts, const struct err_info *why), void *arg)
{
    struct yarn_sources_read *r = mem_new(struct yarn_sources_read);
    int err = 0;

    obj_init(&r->obj, READ_MAGIC);
    r->owner = s;
    r->ask.owner = mem_str(s->config.user);
    r->done = done;
    r->arg = arg;
    for (size_t i = 0; !err && i < n; i++)
        err = add_source(r, &files[i], &r->why);
    r->why.code = err;
    r->texts = mem_array(n + 1, sizeof *r->texts);
    for (size_t i = 0; i < n; i++)
        r->texts[i] = BUF_EMPTY;
    TAILQ_INSERT_TAIL(&s->waiting, r, link);
    go_on(s);
    return r;
}

void yarn_sources_cancel(struct yarn_sources_read *r)
{
    if (r->owner->running == r) {
        r->is_cancelled = true;
        return;
    }
    TAILQ_REMOVE(&r->owner->waiting, r, link);
    free_read(r);
}

struct yarn_sources *yarn_sources_new(const struct yarn_sources_config *config)
{
    struct yarn_sources *s = mem_new(struct yarn_sources);

    obj_init(&s->obj, SOURCES_MAGIC);
    s->config = *config;
    s->config.user = mem_str(config->user);
    s->config.dir = mem_str(config->dir);
    TAILQ_INIT(&s->waiting);
    s->next = run_timer_new(config->loop, on_next, s);
    return s;
}

void yarn_sources_free(struct yarn_sources *s)
{
    if (!s)
        return;
    run_timer_free(s->next);
    s->is_freed = true;
    if (!s->running)
        free_sources(s);
}
