/**
 * The records of a node's children over REST: names page by page, then each child on its own. See registry.h.
 *
 *     page ──► its children, FLYING_MAX at a time ──cursor──► page … ──► done
 *                   └── an error that is not passed over: the others are cancelled ──► done
 *
 * Every name of the page that is being read has a slot at the end of `found`, so that the order is that of the names whichever
 * answer comes first; slots that got no record are dropped when the page is over. A page or a child is under way at any
 * time, so that reg_close ends this as it ends them.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "registry/client_priv.h"

#define RECORDS_MAGIC OBJ_MAGIC('R', 'E', 'C', 'S')
#define CHILD_MAGIC   OBJ_MAGIC('R', 'E', 'C', 'C')
#define FLYING_MAX    16

/** A child that is being read. */
struct child {
    struct obj obj;
    struct records *records;
    struct request *request;
    size_t at; /* its slot */
    TAILQ_ENTRY(child) link;
};

struct records {
    struct obj obj;
    struct reg *reg;
    char *path; /* as the caller wrote it */
    REG_DONE;
    void *arg;
    struct request *page; /* the last one asked for */
    char *cursor;         /* where the page after it begins; NULL: there is none */
    struct reg_found *found;
    size_t n_found;
    size_t page_at, next; /* first slot of the page; first one that was not asked for */
    TAILQ_HEAD(, child) flying;
    size_t n_flying;
    bool has_failed;
    char revision[REG_REVISION_MAX]; /* of the first page */
};

static void records_finish(struct records *l, int err, const struct err_info *why)
{
    struct reg_result result = {0};

    if (!err) {
        result.found = l->found;
        result.n_found = l->n_found;
        memcpy(result.revision, l->revision, sizeof result.revision);
    }
    l->done(l->arg, err, &result, why);
    reg_found_free(l->found, l->n_found);
    free(l->path);
    free(l->cursor);
    obj_fini(&l->obj);
    free(l);
}

static void records_fail(struct records *l, int err, const struct err_info *why)
{
    l->has_failed = true;
    while (!TAILQ_EMPTY(&l->flying))
        client_cancel(TAILQ_FIRST(&l->flying)->request);
    records_finish(l, err, why);
}

/* ---- children ---- */

static void child_free(struct child *c)
{
    TAILQ_REMOVE(&c->records->flying, c, link);
    c->records->n_flying--;
    obj_fini(&c->obj);
    free(c);
}

static void take_child(struct reg_found *slot, const struct reg_result *r)
{
    slot->record = reg_record_copy(r->record);
    slot->status = r->status;
    slot->status.path = mem_str(r->status.path);
}

static void records_go_on(struct records *l);

static void on_child(void *arg, int err, const struct reg_result *r, const struct err_info *why)
{
    struct child *c = obj_cast(arg, struct child, CHILD_MAGIC);
    struct records *l = c->records;
    bool is_passed_over = err == ERR_NOTFOUND || err == ERR_NORECORD || err == ERR_RECORD;

    if (!err)
        take_child(&l->found[c->at], r);
    child_free(c);
    if (l->has_failed)
        return; /* cancelled by records_fail, which goes on */
    if (err && !is_passed_over)
        records_fail(l, err, why);
    else
        records_go_on(l);
}

static void ask_child(struct records *l)
{
    struct child *c = mem_new(struct child);

    obj_init(&c->obj, CHILD_MAGIC);
    c->records = l;
    c->at = l->next++;
    TAILQ_INSERT_TAIL(&l->flying, c, link);
    l->n_flying++;
    c->request = client_request(l->reg, REQUEST_RESOLVE, l->found[c->at].path, on_child, c);
    client_start(c->request, mem_str("limit=1"));
}

/* ---- pages ---- */

/** A slot for each name. */
static void take_page(struct records *l, const struct reg_result *r)
{
    l->page_at = l->next = l->n_found;
    l->found = mem_resize(l->found, l->n_found + r->n_list + 1, sizeof *l->found);
    for (size_t i = 0; i < r->n_list; i++)
        l->found[l->n_found++] = (struct reg_found){.path = reg_path_join(l->page->path, r->list[i].path)};
    free(l->cursor);
    l->cursor = mem_str(l->page->node.cursor);
    if (!l->revision[0])
        memcpy(l->revision, r->revision, sizeof l->revision);
}

static void on_page(void *arg, int err, const struct reg_result *r, const struct err_info *why)
{
    struct records *l = obj_cast(arg, struct records, RECORDS_MAGIC);

    if (err) {
        records_finish(l, err, why);
        return;
    }
    take_page(l, r);
    records_go_on(l);
}

static void ask_page(struct records *l)
{
    struct buf query = BUF_EMPTY;

    if (l->cursor) {
        buf_add_str(&query, "cursor=");
        client_percent(l->cursor, "", &query);
    }
    l->page = client_request(l->reg, REQUEST_PAGE, l->path, on_page, l);
    client_start(l->page, buf_take(&query));
}

/** The page is over: keep the slots that got a record. */
static void drop_empty_slots(struct records *l)
{
    size_t n_kept = l->page_at;

    for (size_t i = l->page_at; i < l->n_found; i++) {
        if (l->found[i].record)
            l->found[n_kept++] = l->found[i];
        else
            free(l->found[i].path);
    }
    l->n_found = n_kept;
}

static void records_go_on(struct records *l)
{
    static const struct err_info none = {0};

    while (l->next < l->n_found && l->n_flying < FLYING_MAX)
        ask_child(l);
    if (l->n_flying)
        return;
    drop_empty_slots(l);
    if (l->cursor)
        ask_page(l);
    else
        records_finish(l, 0, &none);
}

void reg_list_records(struct reg *r, const char *path, REG_DONE, void *arg)
{
    struct records *l = mem_new(struct records);

    obj_init(&l->obj, RECORDS_MAGIC);
    l->reg = r;
    l->path = mem_str(path);
    l->done = done;
    l->arg = arg;
    TAILQ_INIT(&l->flying);
    ask_page(l);
}
