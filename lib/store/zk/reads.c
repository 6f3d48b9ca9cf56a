#include "store/zk/reads.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define READ_MAGIC OBJ_MAGIC('Z', 'K', 'R', 'D')

static const enum zkw_opcode opcode_of[] = {
    [ZKREAD_WATCH] = ZKW_ADD_WATCH, [ZKREAD_DATA] = ZKW_GET_DATA,          [ZKREAD_STAT] = ZKW_EXISTS,
    [ZKREAD_HIDDEN] = ZKW_EXISTS,   [ZKREAD_CHILDREN] = ZKW_GET_CHILDREN2, [ZKREAD_MARK] = ZKW_EXISTS,
};

void zkreads_init(struct zkreads *reads)
{
    *reads = (struct zkreads){.by_path = MAP_EMPTY};
    TAILQ_INIT(&reads->queue);
    TAILQ_INIT(&reads->listings);
}

static void unlink_same(struct zkreads *reads, struct zkread *read)
{
    struct zkread *first = map_get(&reads->by_path, read->path);
    if (first == read) {
        if (read->next_same)
            map_set(&reads->by_path, read->path, read->next_same);
        else
            map_remove(&reads->by_path, read->path);
        return;
    }
    while (first->next_same != read)
        first = first->next_same;
    first->next_same = read->next_same;
}

/* Free a read that is in no queue and not under way. */
static void read_free(struct zkread *read)
{
    free(read->path);
    obj_fini(&read->obj);
    free(read);
}

/* It is no longer something that is still to come. */
static void forget(struct zkread *read)
{
    unlink_same(read->owner, read);
    if (read->is_of_full_read)
        read->owner->n_of_full_read--;
}

static void drop_queued(struct zkread *read)
{
    TAILQ_REMOVE(&read->owner->queue, read, link);
    read->owner->n_queued--;
    forget(read);
    read_free(read);
}

/* Its reply will be ignored. */
static void make_void(struct zkread *read)
{
    read->is_void = true;
    if (read->is_of_full_read)
        read->owner->n_of_full_read--;
    read->is_of_full_read = false;
}

static void drop_listing(struct zkreads *reads, struct zkreads_listing *listing)
{
    TAILQ_REMOVE(&reads->listings, listing, link);
    free(listing->path);
    free(listing->bytes);
    free(listing);
}

void zkreads_clear(struct zkreads *reads)
{
    struct zkread *read;
    while ((read = TAILQ_FIRST(&reads->queue)))
        drop_queued(read);
    struct zkreads_listing *listing;
    while ((listing = TAILQ_FIRST(&reads->listings)))
        drop_listing(reads, listing);
    for (MAP_EACH (&reads->by_path, slot))
        for (read = slot->value; read; read = read->next_same)
            make_void(read);
}

void zkreads_fini(struct zkreads *reads)
{
    zkreads_clear(reads);
    BUG_IF(reads->n_sent != 0);
    map_fini(&reads->by_path, NULL);
}

static void on_done(void *arg, const struct zks_reply *reply)
{
    struct zkread *read = obj_cast(arg, struct zkread, READ_MAGIC);
    struct zkreads *reads = read->owner;
    reads->n_sent--;
    forget(read);
    if (!read->is_void && reply->err != ZKW_CONNECTION_LOSS)
        reads->done(reads->arg, read, reply);
    read_free(read);
}

static struct zkread *read_new(struct zkreads *reads, enum zkread_kind kind, char *take_path,
                               bool is_of_full_read)
{
    struct zkread *read = mem_new(struct zkread);
    obj_init(&read->obj, READ_MAGIC);
    read->owner = reads;
    read->kind = kind;
    read->path = take_path;
    read->is_of_full_read = is_of_full_read;
    read->request.done = on_done;
    read->request.arg = read;
    read->next_same = map_set(&reads->by_path, take_path, read);
    if (is_of_full_read)
        reads->n_of_full_read++;
    return read;
}

void zkreads_add(struct zkreads *reads, enum zkread_kind kind, const char *path, bool is_of_full_read)
{
    struct zkread *read = read_new(reads, kind, mem_str(path), is_of_full_read);
    TAILQ_INSERT_TAIL(&reads->queue, read, link);
    reads->n_queued++;
}

void zkreads_add_listing(struct zkreads *reads, const char *path, struct zkw_in names, int32_t n)
{
    if (n <= 0)
        return;
    struct zkreads_listing *listing = mem_new(struct zkreads_listing);
    size_t len = (size_t)(names.end - names.at);
    listing->path = mem_str(path);
    listing->bytes = mem_copy(names.at, len);
    listing->names = zkw_in_make(listing->bytes, len);
    listing->n_left = n;
    TAILQ_INSERT_TAIL(&reads->listings, listing, link);
}

void zkreads_void(struct zkreads *reads, const char *path)
{
    struct zkread *next;
    for (struct zkread *read = map_get(&reads->by_path, path); read; read = next) {
        next = read->next_same;
        if (read->is_sent)
            make_void(read);
        else
            drop_queued(read);
    }
    struct zkreads_listing *other;
    for (struct zkreads_listing *listing = TAILQ_FIRST(&reads->listings); listing; listing = other) {
        other = TAILQ_NEXT(listing, link);
        if (strcmp(listing->path, path) == 0)
            drop_listing(reads, listing);
    }
}

bool zkreads_is_queued(const struct zkreads *reads, const char *path, enum zkread_kind kind)
{
    for (const struct zkread *read = map_get(&reads->by_path, path); read; read = read->next_same)
        if (read->kind == kind && !read->is_sent)
            return true;
    return false;
}

bool zkreads_awaits_data(const struct zkreads *reads, const char *path)
{
    for (const struct zkread *read = map_get(&reads->by_path, path); read; read = read->next_same)
        if (read->kind == ZKREAD_DATA && !read->is_void)
            return true;
    return false;
}

bool zkreads_is_reading(const struct zkreads *reads)
{
    return reads->n_of_full_read > 0 || !TAILQ_EMPTY(&reads->listings);
}

bool zkreads_is_idle(const struct zkreads *reads)
{
    return reads->n_queued == 0 && reads->n_sent == 0 && TAILQ_EMPTY(&reads->listings);
}

static void send_read(struct zkreads *reads, struct zkread *read)
{
    mem_auto char *full = strcmp(read->path, "/") == 0 ? mem_str(reads->root[0] ? reads->root : "/")
                                                       : mem_fmt("%s%s", reads->root, read->path);
    read->is_sent = true;
    reads->n_sent++;
    zks_send(reads->session, &read->request, opcode_of[read->kind], full);
}

/* A read for the next name that was listed, or NULL. */
static struct zkread *next_listed(struct zkreads *reads)
{
    struct zkreads_listing *listing = TAILQ_FIRST(&reads->listings);
    if (!listing)
        return NULL;
    struct zkw_bytes name = zkw_get_bytes(&listing->names);
    const char *parent = strcmp(listing->path, "/") == 0 ? "" : listing->path;
    struct zkread *read =
        read_new(reads, ZKREAD_DATA, mem_fmt("%s/%.*s", parent, (int)name.len, name.at ? name.at : ""), true);
    if (--listing->n_left == 0)
        drop_listing(reads, listing);
    return read;
}

void zkreads_pump(struct zkreads *reads)
{
    /* Listed names leave in batches of half a window: a packet a name costs both sides a multiple. */
    bool may_refill = reads->n_sent <= ZKREADS_WINDOW / 2;
    while (reads->n_sent < ZKREADS_WINDOW && zks_is_up(reads->session)) {
        struct zkread *read = TAILQ_FIRST(&reads->queue);
        if (read) {
            TAILQ_REMOVE(&reads->queue, read, link);
            reads->n_queued--;
        } else if (may_refill) {
            read = next_listed(reads);
        }
        if (!read)
            return;
        send_read(reads, read);
    }
}
