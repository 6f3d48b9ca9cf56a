#include "store/zk/reads.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define JOB_MAGIC OBJ_MAGIC('Z', 'K', 'J', 'B')

static const enum zkw_opcode opcode_of[] = {
    [ZKREAD_WATCH] = ZKW_ADD_WATCH, [ZKREAD_DATA] = ZKW_GET_DATA,          [ZKREAD_STAT] = ZKW_EXISTS,
    [ZKREAD_HIDDEN] = ZKW_EXISTS,   [ZKREAD_CHILDREN] = ZKW_GET_CHILDREN2, [ZKREAD_MARK] = ZKW_EXISTS,
};

void zkreads_init(struct zkreads *jobs)
{
    *jobs = (struct zkreads){.by_path = MAP_EMPTY};
    TAILQ_INIT(&jobs->queue);
    TAILQ_INIT(&jobs->listings);
}

static void unlink_same(struct zkreads *jobs, struct zkread *job)
{
    struct zkread *first = map_get(&jobs->by_path, job->path);
    if (first == job) {
        if (job->next_same)
            map_set(&jobs->by_path, job->path, job->next_same);
        else
            map_remove(&jobs->by_path, job->path);
        return;
    }
    while (first->next_same != job)
        first = first->next_same;
    first->next_same = job->next_same;
}

/* Free a job that is in no queue and not under way. */
static void job_free(struct zkread *job)
{
    free(job->path);
    obj_fini(&job->obj);
    free(job);
}

/* It is no longer something that is still to come. */
static void forget(struct zkread *job)
{
    unlink_same(job->jobs, job);
    if (job->is_of_full_read)
        job->jobs->n_of_full_read--;
}

static void drop_queued(struct zkread *job)
{
    TAILQ_REMOVE(&job->jobs->queue, job, link);
    job->jobs->n_queued--;
    forget(job);
    job_free(job);
}

/* Its reply will be ignored. */
static void make_void(struct zkread *job)
{
    job->is_void = true;
    if (job->is_of_full_read)
        job->jobs->n_of_full_read--;
    job->is_of_full_read = false;
}

static void drop_listing(struct zkreads *jobs, struct zkreads_listing *listing)
{
    TAILQ_REMOVE(&jobs->listings, listing, link);
    free(listing->path);
    free(listing->bytes);
    free(listing);
}

void zkreads_clear(struct zkreads *jobs)
{
    struct zkread *job;
    while ((job = TAILQ_FIRST(&jobs->queue)))
        drop_queued(job);
    struct zkreads_listing *listing;
    while ((listing = TAILQ_FIRST(&jobs->listings)))
        drop_listing(jobs, listing);
    for (MAP_EACH (&jobs->by_path, slot))
        for (job = slot->value; job; job = job->next_same)
            make_void(job);
}

void zkreads_fini(struct zkreads *jobs)
{
    zkreads_clear(jobs);
    BUG_IF(jobs->n_sent != 0);
    map_fini(&jobs->by_path, NULL);
}

static void on_done(void *arg, const struct zks_reply *reply)
{
    struct zkread *job = obj_cast(arg, struct zkread, JOB_MAGIC);
    struct zkreads *jobs = job->jobs;
    jobs->n_sent--;
    forget(job);
    if (!job->is_void && reply->err != ZKW_CONNECTION_LOSS)
        jobs->done(jobs->arg, job, reply);
    job_free(job);
}

static struct zkread *job_new(struct zkreads *jobs, enum zkread_kind kind, char *take_path,
                              bool is_of_full_read)
{
    struct zkread *job = mem_new(struct zkread);
    obj_init(&job->obj, JOB_MAGIC);
    job->jobs = jobs;
    job->kind = kind;
    job->path = take_path;
    job->is_of_full_read = is_of_full_read;
    job->request.done = on_done;
    job->request.arg = job;
    job->next_same = map_set(&jobs->by_path, take_path, job);
    if (is_of_full_read)
        jobs->n_of_full_read++;
    return job;
}

void zkreads_add(struct zkreads *jobs, enum zkread_kind kind, const char *path, bool is_of_full_read)
{
    struct zkread *job = job_new(jobs, kind, mem_str(path), is_of_full_read);
    TAILQ_INSERT_TAIL(&jobs->queue, job, link);
    jobs->n_queued++;
}

void zkreads_add_listing(struct zkreads *jobs, const char *path, struct zkw_in names, int32_t n)
{
    if (n <= 0)
        return;
    struct zkreads_listing *listing = mem_new(struct zkreads_listing);
    size_t len = (size_t)(names.end - names.at);
    listing->path = mem_str(path);
    listing->bytes = mem_copy(names.at, len);
    listing->names = zkw_in_make(listing->bytes, len);
    listing->n_left = n;
    TAILQ_INSERT_TAIL(&jobs->listings, listing, link);
}

void zkreads_void(struct zkreads *jobs, const char *path)
{
    struct zkread *next;
    for (struct zkread *job = map_get(&jobs->by_path, path); job; job = next) {
        next = job->next_same;
        if (job->is_sent)
            make_void(job);
        else
            drop_queued(job);
    }
    struct zkreads_listing *other;
    for (struct zkreads_listing *listing = TAILQ_FIRST(&jobs->listings); listing; listing = other) {
        other = TAILQ_NEXT(listing, link);
        if (strcmp(listing->path, path) == 0)
            drop_listing(jobs, listing);
    }
}

bool zkreads_is_queued(const struct zkreads *jobs, const char *path, enum zkread_kind kind)
{
    for (const struct zkread *job = map_get(&jobs->by_path, path); job; job = job->next_same)
        if (job->kind == kind && !job->is_sent)
            return true;
    return false;
}

bool zkreads_awaits_data(const struct zkreads *jobs, const char *path)
{
    for (const struct zkread *job = map_get(&jobs->by_path, path); job; job = job->next_same)
        if (job->kind == ZKREAD_DATA && !job->is_void)
            return true;
    return false;
}

bool zkreads_is_reading(const struct zkreads *jobs)
{
    return jobs->n_of_full_read > 0 || !TAILQ_EMPTY(&jobs->listings);
}

bool zkreads_is_idle(const struct zkreads *jobs)
{
    return jobs->n_queued == 0 && jobs->n_sent == 0 && TAILQ_EMPTY(&jobs->listings);
}

static void send_job(struct zkreads *jobs, struct zkread *job)
{
    mem_auto char *full = strcmp(job->path, "/") == 0 ? mem_str(jobs->root[0] ? jobs->root : "/")
                                                      : mem_fmt("%s%s", jobs->root, job->path);
    job->is_sent = true;
    jobs->n_sent++;
    zks_send(jobs->session, &job->request, opcode_of[job->kind], full);
}

/* A job for the next name that was listed, or NULL. */
static struct zkread *next_listed(struct zkreads *jobs)
{
    struct zkreads_listing *listing = TAILQ_FIRST(&jobs->listings);
    if (!listing)
        return NULL;
    struct zkw_bytes name = zkw_get_bytes(&listing->names);
    const char *parent = strcmp(listing->path, "/") == 0 ? "" : listing->path;
    struct zkread *job =
        job_new(jobs, ZKREAD_DATA, mem_fmt("%s/%.*s", parent, (int)name.len, name.at ? name.at : ""), true);
    if (--listing->n_left == 0)
        drop_listing(jobs, listing);
    return job;
}

void zkreads_pump(struct zkreads *jobs)
{
    /* Listed names leave in batches of half a window: a packet a name costs both sides a multiple. */
    bool may_refill = jobs->n_sent <= ZKREADS_WINDOW / 2;
    while (jobs->n_sent < ZKREADS_WINDOW && zks_is_up(jobs->session)) {
        struct zkread *job = TAILQ_FIRST(&jobs->queue);
        if (job) {
            TAILQ_REMOVE(&jobs->queue, job, link);
            jobs->n_queued--;
        } else if (may_refill) {
            job = next_listed(jobs);
        }
        if (!job)
            return;
        send_job(jobs, job);
    }
}
