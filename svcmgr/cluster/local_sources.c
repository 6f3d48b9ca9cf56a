/**
 * Localizers: one process for each launch that wants files a caller has named. The loop starts it, waits for its end
 * without waiting, and after a time kills it; a process that a file system holds beyond that is left to itself.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "fs/place.h"
#include "cluster/local_priv.h"
#include "cluster/local_tree.h"
#include "cluster/source_text.h"
#include "shim/wire.h"

#define READER_MAGIC OBJ_MAGIC('R', 'E', 'A', 'D')
/* Readers that were killed and do not end: with so many of one owner no further one is started for him. */
#define STUCK_MAX 4
/* Checks under way at a time: each is a process, and a caller makes as many as he likes. */
#define CHECKS_MAX 64
/* Of an answer; what is behind are faults of a check that names the first ones. */
#define ANSWER_MAX (1 << 20)

/** A question without a launch behind it. */
struct check {
    struct sources_ask ask;
    char **paths;  /* that were asked for */
    size_t *index; /* of each file of ask among them */
    bool *absent;  /* of all of them */
    size_t n;
    void (*done)(void *arg, const bool *absent, const struct err_info *problem);
    void *arg;
};

struct local_reader {
    struct obj obj;
    TAILQ_ENTRY(local_reader) link;
    struct local *local;
    struct local_job *job; /* who waits: a launch */
    struct check *check;   /* or a check; neither: cancelled */
    char *owner, *user;    /* user: as a person knows it */
    bool is_stopped;       /* the box does not want it any more */
    uv_process_t process;
    struct run_timer *deadline;
    int answer; /* memfd */
};

static const struct sources_ask *ask_of(const struct local_reader *r)
{
    return r->job ? &r->job->ask : &r->check->ask;
}

static void free_check(struct check *k)
{
    sources_ask_fini(&k->ask);
    for (size_t i = 0; i < k->n; i++)
        free(k->paths[i]);
    free(k->paths);
    free(k->index);
    free(k->absent);
    free(k);
}

/** Tell who waits how it went, if anybody does. The reader stays. */
static void report_end(struct local_reader *r, int err, const struct err_info *why)
{
    struct local_job *job = r->job;
    struct check *k = r->check;

    r->job = NULL;
    r->check = NULL;
    if (job) {
        job->err = err;
        job->why = *why;
        local_job_ended(r->local, job);
    } else if (k) {
        k->done(k->arg, err ? NULL : k->absent, why);
        free_check(k);
    }
}

/* ---- what the reader says ---- */

static int describe_fault(const struct local_reader *r, const struct source_fault *f, struct err_info *why)
{
    const struct sources_ask *ask = ask_of(r);
    const struct source *source = &ask->sources[f->source];

    int err = source_fault_why(source, source->n_urls && ask->owner ? ask->owner : r->user, f, why);

    if (r->job && source->form == SOURCE_TREE && err == ERR_INVALID)
        r->job->lacks_source = true;
    return err;
}

/** One line of the answer. @return 0: it says nothing against a check; or ERR_* */
static int judge_line(struct local_reader *r, const char *line, struct err_info *why)
{
    const struct sources_ask *ask = ask_of(r);
    struct source_fault f;

    if (source_fault_read(line, &f) || f.source >= ask->n_sources)
        return err_set(why, ERR_IO, r->local->localizer_path, "container-localizer says: %.200s", line);
    if (r->check && f.problem == SOURCE_ABSENT) {
        r->check->absent[r->check->index[f.source]] = true;
        return 0;
    }
    if (r->job)
        return describe_fault(r, &f, why);
    if (!why->code) {
        describe_fault(r, &f, why);
        snprintf(why->where, sizeof why->where, "%s", r->check->paths[r->check->index[f.source]]);
    }
    return 0;
}

static int judge(struct local_reader *r, int64_t status, int signal, struct err_info *why)
{
    buf_auto struct buf answer = BUF_EMPTY;
    char *save = NULL;
    int err = 0;
    ssize_t n = pread(r->answer, buf_room(&answer, ANSWER_MAX), ANSWER_MAX, 0);

    answer.len = n > 0 ? (size_t)n : 0;
    answer.bytes[answer.len] = '\0';
    for (char *line = strtok_r(answer.bytes, "\n", &save); !err && line; line = strtok_r(NULL, "\n", &save))
        err = judge_line(r, line, why);
    if (!err && (status || signal))
        err = err_set(why, ERR_IO, r->local->localizer_path,
                      "container-localizer ended with %" PRId64 ", signal %d.", status, signal);
    return err;
}

/* ---- its end ---- */

static void on_closed(uv_handle_t *handle)
{
    struct local_reader *r = obj_cast(handle->data, struct local_reader, READER_MAGIC);

    close(r->answer);
    free(r->owner);
    free(r->user);
    obj_fini(&r->obj);
    free(r);
}

/** Take a reader out of the books; its memory goes when libuv has let go of it. */
static void forget(struct local_reader *r)
{
    TAILQ_REMOVE(&r->local->readers, r, link);
    run_timer_free(r->deadline);
    r->deadline = NULL;
    uv_close((uv_handle_t *)&r->process, on_closed);
}

static void on_ended(uv_process_t *process, int64_t status, int signal)
{
    struct local_reader *r = obj_cast(process->data, struct local_reader, READER_MAGIC);
    struct err_info why = {0};
    int err = r->job || r->check ? judge(r, status, signal, &why) : 0;

    if (r->job && r->job->ask.has_cache)
        local_sweep_soon(r->local);
    forget(r);
    report_end(r, err, &why);
}

/** Kill it and wait no longer. */
static void give_up(struct local_reader *r, int err, const struct err_info *why)
{
    uv_process_kill(&r->process, SIGKILL);
    report_end(r, err, why);
}

static int fail_as_stopped(struct err_info *why)
{
    return err_set(why, ERR_CANCELLED, NULL, "it was stopped while its files were read");
}

/** A network and an archive get more time than a file. */
static bool is_long(const struct sources_ask *ask)
{
    bool is = false;

    for (size_t i = 0; !ask->is_check && i < ask->n_sources; i++)
        is = is || ask->sources[i].form == SOURCE_ARCHIVE || ask->sources[i].form == SOURCE_TREE ||
             source_is_url(ask->sources[i].path);
    return is;
}

static void on_deadline(void *arg)
{
    struct local_reader *r = obj_cast(arg, struct local_reader, READER_MAGIC);
    const char *path = ask_of(r)->sources[0].path;
    const struct local *l = r->local;
    bool is_fetch = is_long(ask_of(r));
    struct err_info why = {0};

    if (r->is_stopped) {
        give_up(r, fail_as_stopped(&why), &why);
        return;
    }
    err_set(&why, ERR_TIMEOUT, path,
            "Reading src_file %.140s took longer than yarn.service.local.%s (%" PRId64
            " s): its %s may not answer.",
            path, is_fetch ? "fetch-timeout" : "source-timeout",
            (is_fetch ? l->fetch_timeout_ms : l->source_timeout_ms) / 1000,
            is_fetch ? "server" : "file system");
    log_emit(&ev_sources_hang, LOG_STR("owner", r->owner), LOG_ERR(&why));
    give_up(r, ERR_TIMEOUT, &why);
}

void local_sources_stop(struct local *l, const struct box *b)
{
    struct local_reader *r;

    TAILQ_FOREACH (r, &l->readers, link) {
        if (!r->job || r->job->box != b)
            continue;
        r->is_stopped = true;
        run_timer_start(r->deadline, 0, 0);
    }
}

void local_sources_close(struct local *l)
{
    struct local_reader *r;
    struct err_info why = {0};

    fail_as_stopped(&why);
    while ((r = TAILQ_FIRST(&l->readers))) {
        give_up(r, ERR_CANCELLED, &why);
        forget(r);
    }
}

/* ---- its start ---- */

static size_t n_stuck(const struct local *l, const char *owner)
{
    struct local_reader *r;
    size_t n = 0;

    TAILQ_FOREACH (r, &l->readers, link)
        n += !r->job && !r->check && !strcmp(r->owner, owner);
    return n;
}

static size_t n_checks(const struct local *l)
{
    struct local_reader *r;
    size_t n = 0;

    TAILQ_FOREACH (r, &l->readers, link)
        n += r->check != NULL;
    return n;
}

/** The request as a file in memory. @return descriptor at its begin; -1 with errno. */
static int write_ask(const struct sources_ask *ask)
{
    buf_auto struct buf bytes = BUF_EMPTY;
    int fd = memfd_create("sources", MFD_CLOEXEC);

    sources_ask_write(ask, &bytes);
    if (fd < 0 || (!shim_write_all(fd, bytes.bytes, bytes.len) && !lseek(fd, 0, SEEK_SET)))
        return fd;
    int error = errno;
    close(fd);
    errno = error;
    return -1;
}

/** @param cache  descriptor of the user's cache, or -1 */
static int spawn(struct local_reader *r, const struct sources_ask *ask, const char *cwd, int cache,
                 struct err_info *why)
{
    char *argv[] = {(char *)"container-localizer", NULL};
    char *env[] = {(char *)"PATH=/usr/bin:/bin", NULL};
    int request = write_ask(ask);

    if (request < 0)
        return local_sys_fail(why, "memfd");
    uv_stdio_container_t stdio[] = {{.flags = UV_INHERIT_FD, .data.fd = request},
                                    {.flags = UV_INHERIT_FD, .data.fd = r->answer},
                                    {.flags = UV_INHERIT_FD, .data.fd = r->answer},
                                    {.flags = UV_INHERIT_FD, .data.fd = cache}};
    const uv_process_options_t options = {.exit_cb = on_ended,
                                          .file = r->local->localizer_path,
                                          .args = argv,
                                          .env = env,
                                          .cwd = cwd,
                                          .stdio_count = (int)ARRAY_LEN(stdio) - (cache < 0),
                                          .stdio = stdio};
    int err = run_spawn(r->local->loop, &r->process, &options);
    close(request);
    return err ? err_set(why, shortage_code(-err), r->local->localizer_path,
                         "container-localizer does not start: %s", uv_strerror(err))
               : 0;
}

/** Make and start a reader; who waits is filled in afterwards. @return NULL: *why says why, no callback comes. */
static struct local_reader *start(struct local *l, const struct sources_ask *ask, const char *owner,
                                  const char *cwd, int cache, struct err_info *why)
{
    int answer = memfd_create("answer", MFD_CLOEXEC);

    if (answer < 0) {
        local_sys_fail(why, "memfd");
        return NULL;
    }
    struct local_reader *r = mem_new(struct local_reader);
    obj_init(&r->obj, READER_MAGIC);
    r->local = l;
    r->owner = mem_str(owner);
    /* A user of the range has no name. */
    r->user = l->users ? mem_fmt("%u of %.24s", (unsigned)ask->user.uid, owner) : mem_str(l->run_user);
    r->answer = answer;
    r->process.data = r;
    r->deadline = run_timer_new(l->loop, on_deadline, r);
    TAILQ_INSERT_TAIL(&l->readers, r, link);
    if (spawn(r, ask, cwd, cache, why)) {
        forget(r); /* run_spawn has initialised the handle even when it fails. */
        return NULL;
    }
    run_timer_start(r->deadline, (uint64_t)(is_long(ask) ? l->fetch_timeout_ms : l->source_timeout_ms), 0);
    return r;
}

/** As start, unless too many of this owner hang. */
static struct local_reader *try_start(struct local *l, const struct sources_ask *ask, const char *owner,
                                      const char *cwd, int cache, struct err_info *why)
{
    if (n_stuck(l, owner) < STUCK_MAX)
        return start(l, ask, owner, cwd, cache, why);
    err_set(why, ERR_LIMIT, ask->sources[0].path,
            "%d earlier readers of src_file of %.64s hang in a file system that does not answer.", STUCK_MAX,
            owner);
    return NULL;
}

void local_sources_read(struct local *l, struct local_job *job, void (*done)(struct local_job *job))
{
    mem_auto char *cwd = mem_fmt("%s/" LOCAL_SOURCES_DIR, job->dir);
    struct local_reader *r = try_start(l, &job->ask, job->owner, cwd, job->cache_fd, &job->why);

    local_job_begun(l, job, done);
    if (r) {
        r->job = job;
        return;
    }
    job->err = job->why.code;
    local_job_ended(l, job);
}

int local_sources_add(const struct local *l, struct sources_ask *ask, enum source_form form, const char *uri,
                      int64_t max_bytes, struct err_info *why)
{
    struct fs_place place;
    int err = fs_place_read(&l->fs, uri, ask->owner ? ask->owner : "", &place, why);

    if (err)
        return err;
    sources_ask_file(ask, form, place.path, max_bytes);
    for (size_t i = 0; i < place.n_urls; i++)
        sources_ask_url(ask, place.urls[i]);
    ask->has_cache = ask->has_cache || (place.kind != FS_FILE && !ask->is_check);
    fs_place_fini(&place);
    return 0;
}

/** An owner who has no uid yet looks as the one user of all: both have the rights of others. */
static struct shim_user looker(struct local *l, const char *owner)
{
    struct shim_user user = l->user;
    uid_t uid;

    if (l->users && local_users_peek(l->users, owner, &uid))
        user = (struct shim_user){.is_set = true, .uid = uid, .gid = uid};
    return user;
}

void local_sources_look(struct cluster *c, const char *owner, const char *const *paths, size_t n,
                        void (*done)(void *arg, const bool *absent, const struct err_info *problem),
                        void *arg)
{
    struct local *l = local_of(c);
    struct check *k = mem_new(struct check);
    struct err_info why = {0}, problem = {0};

    *k = (struct check){.done = done, .arg = arg, .n = n};
    k->paths = mem_array(n + 1, sizeof *k->paths);
    k->index = mem_array(n + 1, sizeof *k->index);
    k->absent = mem_array(n + 1, sizeof *k->absent);
    k->ask.is_check = true;
    k->ask.user = looker(l, owner);
    k->ask.max_bytes = INT64_MAX;
    k->ask.owner = mem_str(owner);
    for (size_t i = 0; l->source_dirs[i]; i++)
        sources_ask_dir(&k->ask, l->source_dirs[i]);
    for (size_t i = 0; i < n; i++) {
        k->paths[i] = mem_str(paths[i]);
        k->index[k->ask.n_sources] = i;
        int err = local_sources_add(l, &k->ask, SOURCE_FILE, paths[i], l->source_max_bytes, &problem);
        k->absent[i] = err == ERR_INVALID;
        if (err == ERR_CONFIG && !why.code)
            err_set(&why, ERR_INVALID, paths[i], "%s", problem.text);
    }
    if (k->ask.n_sources && n_checks(l) >= CHECKS_MAX)
        err_set(&why, ERR_UNAVAILABLE, NULL, "src_file of %d services is looked for now; try again later.",
                CHECKS_MAX);
    struct local_reader *r =
        k->ask.n_sources && !why.code ? try_start(l, &k->ask, owner, "/", -1, &why) : NULL;
    if (r) {
        r->check = k;
        return;
    }
    done(arg, why.code ? NULL : k->absent, &why);
    free_check(k);
}
