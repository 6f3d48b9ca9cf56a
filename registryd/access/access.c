#include "access/access.h"
#include "store/mirror/walk.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/obj.h"
#include "base/path.h"
#include "base/str.h"
#include "bobbin/path.h"
#include "run/task.h"

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#define ACCESS_MAGIC OBJ_MAGIC('A', 'C', 'C', 'S')
#define ASKING_MAGIC OBJ_MAGIC('A', 'S', 'K', 'G')

/** Nodes below a tree that a step looks at: some tens of microseconds. */
#define STEP_NODES 32

struct access {
    struct obj obj;
    struct access_def def;
    char **system;                /* ids of the system accounts, ended by NULL */
    TAILQ_HEAD(, asking) walking; /* those that look for the next node below */
    struct run_task *walk;
};

/*
 *     NODE ──is not there──► ABOVE (its parent, and so on up) ──► end      make: CREATE there
 *      ├──is there──► end                                                  overwrite: WRITE here
 *      └──is there, delete──► (recursive: BELOW, node after node) ──► PARENT ──► end     DELETE each time
 */
enum asking_step { ASKING_NODE, ASKING_ABOVE, ASKING_BELOW, ASKING_PARENT };

struct asking {
    struct obj obj;
    struct access *access;
    TAILQ_ENTRY(asking) link; /* among the walking */
    enum access_kind kind;
    enum asking_step step;
    char *path, *user, *digest;
    char *at; /* whose ACL is asked for */
    struct access_answer answer;
    void (*done)(void *arg, int err, const struct access_answer *answer);
    void *arg;
};

static bool walk_step(void *arg);

/* The ids of "sasl:yarn@, sasl:mapred@", ended by NULL; other schemes name no account. */
static char **account_ids(const char *accounts)
{
    const char *text = accounts ? accounts : "";
    char **ids = mem_array(strlen(text) / 2 + 2, sizeof *ids);
    size_t n = 0;
    char *item;
    for (size_t i = 0; (item = str_field(text, ',', i)); i++) {
        if (str_starts(item, "sasl:"))
            ids[n++] = mem_str(item + strlen("sasl:"));
        free(item);
    }
    return ids;
}

struct access *access_new(const struct access_def *def)
{
    struct access *a = mem_new(struct access);
    obj_init(&a->obj, ACCESS_MAGIC);
    a->def = *def;
    a->system = account_ids(def->system_accounts);
    a->def.system_accounts = NULL;
    TAILQ_INIT(&a->walking);
    a->walk = run_task_new(def->loop, walk_step, a);
    return a;
}

bool access_is_secure(const struct access *a)
{
    return a->def.is_secure;
}

/* ---- without asking ---- */

/* The account of an id such as "yarn/host@REALM" is "yarn". */
static bool is_account(const char *id, const char *user)
{
    size_t n = strcspn(id, "/@");
    return user && n && strlen(user) == n && strncmp(id, user, n) == 0;
}

static bool is_system(const struct access *a, const char *user)
{
    for (size_t i = 0; a->system[i]; i++)
        if (is_account(a->system[i], user))
            return true;
    return false;
}

/* The user of a path at or below /users/NAME; NULL: it is nobody's. free(). is_home: it is the home itself. */
static char *owner_of(const char *path, bool *is_home)
{
    if (!str_starts(path, "/users/"))
        return NULL;
    const char *name = path + strlen("/users/");
    size_t n = strcspn(name, "/");
    *is_home = name[n] == 0;
    return n ? mem_strn(name, n) : NULL;
}

static bool is_owner(const struct access_question *q)
{
    bool is_home = false;
    mem_auto char *owner = owner_of(q->path, &is_home);
    if (!owner || !q->user || !*q->user)
        return false;
    if (is_home && (q->kind == ACCESS_DELETE || q->kind == ACCESS_DELETE_ALL))
        return false;
    mem_auto char *name = NULL;
    return strcmp(owner, q->user) == 0 ||
           (reg_user(q->user, &name, NULL) == 0 && *name && strcmp(owner, name) == 0);
}

bool access_is_free(const struct access *a, const struct access_question *q)
{
    return !a->def.is_secure || is_system(a, q->user) || is_owner(q);
}

/* ---- by ACL ---- */

static bool is_met(const struct asking *k, const struct store_acl_entry *e)
{
    if (strcmp(e->scheme, "world") == 0)
        return strcmp(e->id, "anyone") == 0;
    if (strcmp(e->scheme, "digest") == 0)
        return k->digest && strcmp(e->id, k->digest) == 0;
    return strcmp(e->scheme, "sasl") == 0 && is_account(e->id, k->user);
}

/* An entry of the caller's accessor, or of one of the same name: ZooKeeper shows "name:x" to whom it does not show digests. */
static bool may_be_met(const struct asking *k, const struct store_acl_entry *e)
{
    size_t n = k->digest ? strcspn(k->digest, ":") : 0;
    return n && strcmp(e->scheme, "digest") == 0 && strncmp(e->id, k->digest, n) == 0 &&
           strcmp(e->id + n, ":x") == 0;
}

/* acl NULL: registryd may not see it. */
static bool is_let(struct asking *k, const struct store_acl *acl, uint32_t perm)
{
    bool may_be_let = !acl;
    for (size_t i = 0; acl && i < acl->n_entries; i++) {
        if (!(acl->entries[i].perms & perm))
            continue;
        if (is_met(k, &acl->entries[i]))
            return true;
        may_be_let = may_be_let || may_be_met(k, &acl->entries[i]);
    }
    k->answer.as_accessor = k->answer.as_accessor || may_be_let;
    return may_be_let;
}

static void finish(struct asking *k, int err, const struct err_info *why)
{
    if (why)
        k->answer.why = *why;
    k->done(k->arg, err, &k->answer);
    free(k->path);
    free(k->user);
    free(k->digest);
    free(k->at);
    obj_fini(&k->obj);
    free(k);
}

/* Whom an ACL lets; of a digest only the id. */
static void add_let(struct buf *out, const struct store_acl *acl, uint32_t perm)
{
    const char *between = "";
    for (size_t i = 0; i < acl->n_entries; i++) {
        const struct store_acl_entry *e = &acl->entries[i];
        int n = (int)(strcmp(e->scheme, "digest") == 0 ? strcspn(e->id, ":") : strlen(e->id));
        if (!(e->perms & perm))
            continue;
        buf_addf(out, "%s%s:%.*s", between, e->scheme, n, e->id);
        between = ", ";
    }
    if (!*between)
        buf_add_str(out, "nobody");
}

static void refuse(struct asking *k, const struct store_acl *acl, uint32_t perm)
{
    static const char *const verbs[] = {[ACCESS_MAKE] = "make",
                                        [ACCESS_OVERWRITE] = "write",
                                        [ACCESS_DELETE] = "delete",
                                        [ACCESS_DELETE_ALL] = "delete"};
    struct err_info why = {0};
    bool is_home = false;
    mem_auto char *owner = owner_of(k->path, &is_home);
    buf_auto struct buf let = BUF_EMPTY;
    buf_auto struct buf who = BUF_EMPTY;
    add_let(&let, acl, perm);
    buf_add_str(&who, k->user ? k->user : "nobody");
    if (k->digest)
        buf_addf(&who, " with accessor %.*s", (int)strcspn(k->digest, ":"), k->digest);
    bool is_kept_home = owner && is_home && (k->kind == ACCESS_DELETE || k->kind == ACCESS_DELETE_ALL);
    err_set(&why, ERR_PERMISSION, k->path, "%s may not %s this: it is %s's%s; the ACL of %s lets %s",
            buf_cstr(&who), verbs[k->kind], owner ? owner : "the system",
            is_kept_home ? " home, which is not its user's to delete" : "", k->at, buf_cstr(&let));
    finish(k, ERR_PERMISSION, &why);
}

void access_refused_by_store(const char *path, const char *digest, struct err_info *why)
{
    bool is_home = false;
    mem_auto char *owner = owner_of(path, &is_home);
    if (digest) {
        err_set(why, ERR_PERMISSION, path, "ZooKeeper refuses this to accessor %.*s: it is %s's",
                (int)strcspn(digest, ":"), digest, owner ? owner : "the system");
        return;
    }
    err_set(why, ERR_PERMISSION, path,
            "ZooKeeper refuses this to registryd itself: it is %s's, and its ACL lacks the id that "
            "hadoop.registry.client.auth gives registryd",
            owner ? owner : "the system");
}

static void refuse_unseen(struct asking *k)
{
    struct err_info why = {0};
    access_refused_by_store(k->path, NULL, &why);
    finish(k, ERR_PERMISSION, &why);
}

static void on_acl(void *arg, int err, const struct store_result *r);

static void ask(struct asking *k, enum asking_step step, char *take_at)
{
    free(k->at);
    k->at = take_at;
    k->step = step;
    store_get_acl(k->access->def.store, k->at, on_acl, k);
}

/* Look for the next node below that has children, and ask about it; leaves hold nothing that could be deleted from them.
 * @return whether it has asked. */
static bool walk_some(struct asking *k)
{
    const struct mirror *m = k->access->def.mirror;
    for (int i = 0; i < STEP_NODES; i++) {
        const struct mirror_node *node = walk_next(m, k->path, k->at);
        if (!node) {
            ask(k, ASKING_PARENT, path_parent(k->path));
            return true;
        }
        struct buf path = BUF_EMPTY;
        mirror_path(node, &path);
        if (node->stat.n_children > 0) {
            ask(k, ASKING_BELOW, buf_take(&path));
            return true;
        }
        free(k->at);
        k->at = buf_take(&path);
    }
    return false;
}

static bool walk_step(void *arg)
{
    struct access *a = obj_cast(arg, struct access, ACCESS_MAGIC);
    struct asking *k = TAILQ_FIRST(&a->walking);
    TAILQ_REMOVE(&a->walking, k, link);
    if (!walk_some(k))
        TAILQ_INSERT_TAIL(&a->walking, k, link);
    return !TAILQ_EMPTY(&a->walking);
}

static void ask_below(struct asking *k)
{
    TAILQ_INSERT_TAIL(&k->access->walking, k, link);
    run_task_now(k->access->walk);
}

static void node_is_there(struct asking *k, const struct store_acl *acl)
{
    /* What is above the root is not ours to ask: its own ACL decides. */
    bool is_bare_root = k->kind == ACCESS_DELETE && strcmp(k->path, "/") == 0;
    k->answer.exists = true;
    if (k->kind == ACCESS_OVERWRITE && !is_let(k, acl, STORE_WRITE))
        refuse(k, acl, STORE_WRITE);
    else if ((k->kind == ACCESS_DELETE_ALL || is_bare_root) && !is_let(k, acl, STORE_DELETE))
        refuse(k, acl, STORE_DELETE);
    else if (k->kind == ACCESS_DELETE_ALL)
        ask_below(k);
    else if (k->kind == ACCESS_DELETE && !is_bare_root)
        ask(k, ASKING_PARENT, path_parent(k->path));
    else
        finish(k, 0, NULL);
}

static void node_is_missing(struct asking *k, const struct err_info *why)
{
    bool makes = k->kind == ACCESS_MAKE || k->kind == ACCESS_OVERWRITE;
    if (makes && strcmp(k->at, "/") == 0)
        finish(k, ERR_NOTFOUND, why);
    else if (makes)
        ask(k, ASKING_ABOVE, path_parent(k->at));
    else if (k->step == ASKING_BELOW)
        ask_below(k); /* it has gone meanwhile */
    else
        finish(k, 0, NULL); /* nothing to delete */
}

static void on_acl(void *arg, int err, const struct store_result *r)
{
    struct asking *k = obj_cast(arg, struct asking, ASKING_MAGIC);
    static const uint32_t wanted[] = {
        [ASKING_ABOVE] = STORE_CREATE, [ASKING_BELOW] = STORE_DELETE, [ASKING_PARENT] = STORE_DELETE};
    const struct store_acl *acl = err ? NULL : r->acl;
    bool is_hidden = err == ERR_PERMISSION && k->digest;
    if (err == ERR_NOTFOUND)
        node_is_missing(k, &r->why);
    else if (err == ERR_PERMISSION && !is_hidden)
        refuse_unseen(k);
    else if (err && !is_hidden)
        finish(k, err, &r->why);
    else if (k->step == ASKING_NODE)
        node_is_there(k, acl);
    else if (!is_let(k, acl, wanted[k->step]))
        refuse(k, acl, wanted[k->step]);
    else if (k->step == ASKING_BELOW)
        ask_below(k);
    else
        finish(k, 0, NULL);
}

void access_ask(struct access *a, const struct access_question *q,
                void (*done)(void *arg, int err, const struct access_answer *answer), void *arg)
{
    struct asking *k = mem_new(struct asking);
    obj_init(&k->obj, ASKING_MAGIC);
    k->access = a;
    k->kind = q->kind;
    k->path = mem_str(q->path);
    k->user = mem_str(q->user);
    k->digest = mem_str(q->digest);
    k->done = done;
    k->arg = arg;
    ask(k, ASKING_NODE, mem_str(q->path));
}

void access_free(struct access *a)
{
    if (!a)
        return;
    struct err_info why;
    struct asking *k;
    err_set(&why, ERR_CANCELLED, "", "registryd is stopping");
    while ((k = TAILQ_FIRST(&a->walking))) {
        TAILQ_REMOVE(&a->walking, k, link);
        finish(k, ERR_CANCELLED, &why);
    }
    run_task_free(a->walk);
    for (size_t i = 0; a->system[i]; i++)
        free(a->system[i]);
    free(a->system);
    obj_fini(&a->obj);
    free(a);
}
