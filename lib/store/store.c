/* store.h: checks that all backends need, then the call of the backend that the URL names. */
#include "store/store_backend.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

#define REFUSAL_MAGIC OBJ_MAGIC('R', 'E', 'F', 'U')

/** A call that needs no backend, usually one that is refused; its completion is posted. */
struct refusal {
    struct obj obj;
    struct store *store;
    struct store_call call;
    size_t failed_op;
    struct err_info why;
};

/* ---- paths ---- */

/** ZooKeeper compares UTF-16 units: everything beyond the basic plane is a surrogate, which it refuses. */
static bool code_point_is_refused(uint32_t cp)
{
    return cp <= 0x1f || (cp >= 0x7f && cp <= 0x9f) || (cp >= 0xd800 && cp <= 0xf8ff) || cp >= 0xfff0;
}

static int element_check(const char *path, const char *element, size_t len, struct err_info *why)
{
    if (len == 0)
        return err_set(why, ERR_PATH, path, "empty path element");
    if (len > STORE_NAME_MAX)
        return err_set(why, ERR_PATH, path, "path element of %zu bytes, at most %d are allowed", len,
                       STORE_NAME_MAX);
    if ((len == 1 && element[0] == '.') || (len == 2 && element[0] == '.' && element[1] == '.'))
        return err_set(why, ERR_PATH, path, "relative path element");
    for (size_t i = 0; i < len;) {
        uint32_t cp = 0;
        size_t n = utf8_next(element + i, len - i, &cp);
        if (n == 0)
            return err_set(why, ERR_PATH, path, "path is not UTF-8");
        if (code_point_is_refused(cp))
            return err_set(why, ERR_PATH, path, "character U+%04" PRIX32 " is not allowed in a path", cp);
        i += n;
    }
    return 0;
}

bool store_is_aside(const char *path)
{
    return str_starts(path, STORE_ASIDE) && (!path[2] || path[2] == '/');
}

int store_path_check(const char *path, struct err_info *why)
{
    if (store_is_aside(path))
        return path[2] ? store_path_check(path + 2, why) : 0;
    if (path[0] != '/')
        return err_set(why, ERR_PATH, path, "path does not begin with a slash");
    if (!path[1])
        return 0;
    const char *element = path + 1;
    for (;;) {
        size_t len = strcspn(element, "/");
        int err = element_check(path, element, len, why);
        if (err || !element[len])
            return err;
        element += len + 1;
    }
}

const struct store_acl *store_acl_or_open(const struct store_acl *acl)
{
    static const struct store_acl_entry anyone = {STORE_ALL, "world", "anyone"};
    static const struct store_acl open_acl = {&anyone, 1};
    return acl && acl->n_entries ? acl : &open_acl;
}

/* ---- refusing ---- */

void store_call_fail(struct store_call call, int err, const char *path, const char *fmt, ...)
{
    struct store_result r = {0};
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(r.why.text, sizeof r.why.text, fmt, ap);
    va_end(ap);
    r.why.code = err;
    if (path)
        snprintf(r.why.where, sizeof r.why.where, "%s", path);
    call.done(call.arg, err, &r);
}

static void refusal_deliver(void *arg)
{
    struct refusal *refusal = obj_cast(arg, struct refusal, REFUSAL_MAGIC);
    struct store_result r = {.failed_op = refusal->failed_op, .why = refusal->why};
    refusal->call.done(refusal->call.arg, r.why.code, &r);
    refusal->store->n_refused--;
    obj_fini(&refusal->obj);
    free(refusal);
}

static void answer_later(struct store *s, struct store_call call, size_t failed_op,
                         const struct err_info *why)
{
    struct refusal *refusal = mem_new(struct refusal);
    obj_init(&refusal->obj, REFUSAL_MAGIC);
    refusal->store = s;
    refusal->call = call;
    refusal->failed_op = failed_op;
    refusal->why = *why;
    s->n_refused++;
    run_post(s->loop, refusal_deliver, refusal);
}

static size_t op_size(const struct store_op *op)
{
    size_t size = 64 + strlen(op->path) + op->len;
    for (size_t i = 0; op->acl && i < op->acl->n_entries; i++)
        size += 16 + strlen(op->acl->entries[i].scheme) + strlen(op->acl->entries[i].id);
    return size;
}

/** @return 0; or the error of the first op that cannot be sent, its index in *failed_op. */
static int ops_check(const struct store *s, const struct store_op *ops, size_t n_ops, size_t *failed_op,
                     struct err_info *why)
{
    size_t size = 0;
    *failed_op = 0;
    if (s->is_closing)
        return err_set(why, ERR_CANCELLED, ops[0].path, "the store is being closed");
    for (size_t i = 0; i < n_ops; i++) {
        *failed_op = i;
        int err = store_path_check(ops[i].path, why);
        if (err)
            return err;
        size += op_size(&ops[i]);
        if (ops[i].len > STORE_REQUEST_MAX || size > STORE_REQUEST_MAX)
            return err_set(why, ERR_TOOBIG, ops[i].path, "request of more than %d bytes", STORE_REQUEST_MAX);
    }
    *failed_op = 0;
    return 0;
}

/** Whether the ops may go to the backend; else the call is refused. */
static bool admit(struct store *s, const struct store_op *ops, size_t n_ops, struct store_call call)
{
    struct err_info why = {0};
    size_t failed_op = 0;
    int err = ops_check(s, ops, n_ops, &failed_op, &why);
    if (err)
        answer_later(s, call, failed_op, &why);
    return !err;
}

/* ---- life ---- */

void store_base_init(struct store *s, const struct store_backend_ops *ops, struct run_loop *loop,
                     const char *url)
{
    obj_init(&s->obj, STORE_MAGIC);
    s->ops = ops;
    s->loop = loop;
    s->url = mem_str(url);
}

static void base_release(void *arg)
{
    struct store *s = obj_cast(arg, struct store, STORE_MAGIC);
    if (s->n_refused) {
        run_post(s->loop, base_release, s);
        return;
    }
    void (*closed)(void *) = s->closed;
    void *closed_arg = s->closed_arg;
    free(s->url);
    obj_fini(&s->obj);
    s->ops->free(s);
    if (closed)
        closed(closed_arg);
}

void store_base_closed(struct store *s)
{
    run_post(s->loop, base_release, s);
}

int store_check(const char *url, const struct store_options *options, struct err_info *why)
{
    static const struct store_options defaults;
    if (str_starts(url, "zk://"))
        return store_zk_check(url, options ? options : &defaults, why);
    if (str_starts(url, "file:"))
        return url[strlen("file:")] ? 0 : err_set(why, ERR_INVALID, url, "a store in files is file:DIR");
    return err_set(why, ERR_INVALID, url, "a store is zk://HOST:PORT,…/ROOT or file:DIR");
}

int store_open(struct run_loop *loop, const char *url, const struct store_options *options,
               struct store **out, struct err_info *why)
{
    static const struct store_options defaults;
    if (!options)
        options = &defaults;
    int err = store_check(url, options, why);
    if (err)
        return err;
    return str_starts(url, "zk://") ? store_zk_open(loop, url, options, out, why)
                                    : store_lmdb_open(loop, url, options, out, why);
}

void store_close(struct store *s, void (*closed)(void *arg), void *arg)
{
    BUG_IF(s->is_closing);
    s->is_closing = true;
    s->closed = closed;
    s->closed_arg = arg;
    s->ops->close(s);
}

const char *store_kind(const struct store *s)
{
    return s->ops->kind;
}

bool store_has_aside(const struct store *s)
{
    return s->ops->has_aside(s);
}

const char *store_url(const struct store *s)
{
    return s->url;
}

/* ---- calls ---- */

static void read_call(struct store *s, enum store_read_kind kind, const char *path, struct store_call call)
{
    const struct store_op check = {.kind = STORE_OP_CHECK, .path = path};
    if (admit(s, &check, 1, call))
        s->ops->read(s, kind, path, call);
}

void store_get(struct store *s, const char *path, STORE_DONE, void *arg)
{
    read_call(s, STORE_READ_DATA, path, (struct store_call){done, arg});
}

void store_stat(struct store *s, const char *path, STORE_DONE, void *arg)
{
    read_call(s, STORE_READ_STAT, path, (struct store_call){done, arg});
}

void store_children(struct store *s, const char *path, STORE_DONE, void *arg)
{
    read_call(s, STORE_READ_CHILDREN, path, (struct store_call){done, arg});
}

void store_get_acl(struct store *s, const char *path, STORE_DONE, void *arg)
{
    read_call(s, STORE_READ_ACL, path, (struct store_call){done, arg});
}

void store_sync(struct store *s, STORE_DONE, void *arg)
{
    struct store_call call = {done, arg};
    struct err_info why = {0};
    if (s->is_closing)
        err_set(&why, ERR_CANCELLED, "/", "the store is being closed");
    if (why.code || !s->ops->sync)
        answer_later(s, call, 0, &why);
    else
        s->ops->sync(s, call);
}

static void write_call(struct store *s, const struct store_op *op, struct store_call call)
{
    if (admit(s, op, 1, call))
        s->ops->write(s, op, call);
}

void store_create(struct store *s, const char *path, const void *bytes, size_t len,
                  const struct store_acl *acl, STORE_DONE, void *arg)
{
    const struct store_op op = {STORE_OP_CREATE, path, bytes, len, -1, acl, 0, NULL};
    write_call(s, &op, (struct store_call){done, arg});
}

void store_set(struct store *s, const char *path, const void *bytes, size_t len, int32_t version, STORE_DONE,
               void *arg)
{
    const struct store_op op = {STORE_OP_SET, path, bytes, len, version, NULL, 0, NULL};
    write_call(s, &op, (struct store_call){done, arg});
}

void store_set_over(struct store *s, const char *path, const void *bytes, size_t len,
                    const struct store_seen *seen, STORE_DONE, void *arg)
{
    const struct store_op op = {STORE_OP_SET, path, bytes, len, -1, NULL, 0, seen};
    write_call(s, &op, (struct store_call){done, arg});
}

void store_delete(struct store *s, const char *path, int32_t version, STORE_DONE, void *arg)
{
    const struct store_op op = {STORE_OP_DELETE, path, NULL, 0, version, NULL, 0, NULL};
    write_call(s, &op, (struct store_call){done, arg});
}

void store_set_if(struct store *s, const char *path, const void *bytes, size_t len, int64_t mzxid, STORE_DONE,
                  void *arg)
{
    const struct store_op op = {STORE_OP_SET, path, bytes, len, -1, NULL, mzxid, NULL};
    write_call(s, &op, (struct store_call){done, arg});
}

void store_delete_if(struct store *s, const char *path, int64_t mzxid, STORE_DONE, void *arg)
{
    const struct store_op op = {STORE_OP_DELETE, path, NULL, 0, -1, NULL, mzxid, NULL};
    write_call(s, &op, (struct store_call){done, arg});
}

void store_set_acl(struct store *s, const char *path, const struct store_acl *acl, STORE_DONE, void *arg)
{
    const struct store_op check = {STORE_OP_CHECK, path, NULL, 0, -1, acl, 0, NULL};
    struct store_call call = {done, arg};
    if (admit(s, &check, 1, call))
        s->ops->set_acl(s, path, acl, call);
}

void store_multi(struct store *s, const struct store_op *ops, size_t n_ops, STORE_DONE, void *arg)
{
    struct store_call call = {done, arg};
    if (n_ops == 0) {
        struct err_info why = {0};
        err_set(&why, ERR_INVALID, NULL, "a multi needs at least one operation");
        answer_later(s, call, 0, &why);
        return;
    }
    if (admit(s, ops, n_ops, call))
        s->ops->multi(s, ops, n_ops, call);
}

void store_backup(struct store *s, const char *dir, STORE_DONE, void *arg)
{
    struct store_call call = {done, arg};
    struct err_info why = {0};
    if (s->is_closing)
        err_set(&why, ERR_CANCELLED, dir, "the store is being closed");
    else if (!s->ops->backup)
        err_set(&why, ERR_UNSUPPORTED, dir, "records in %s are backed up by its own means", s->ops->kind);
    if (why.code)
        answer_later(s, call, 0, &why);
    else
        s->ops->backup(s, dir, call);
}

void store_follow(struct store *s, const struct store_follow_ops *ops, void *arg)
{
    BUG_IF(s->is_following || s->is_closing);
    s->is_following = true;
    s->ops->follow(s, ops, arg);
}

/* ---- revisions ---- */

const char *store_revision_text(const char *store_id, int64_t n, char out[STORE_REVISION_MAX])
{
    size_t len = strlen(store_id);
    BUG_IF(len + 1 + STR_I64_MAX >= STORE_REVISION_MAX);
    memcpy(out, store_id, len);
    out[len++] = '.';
    len += str_put_i64(out + len, n);
    out[len] = '\0';
    return out;
}

int store_revision_read(const char *text, char *id, int64_t *n)
{
    static const char id_chars[] = "0123456789abcdefABCDEF";
    size_t id_len = strspn(text, id_chars);
    int64_t number = 0;
    if (id_len == 0 || id_len > 20 || text[id_len] != '.' || !text[id_len + 1])
        return ERR_PARSE;
    if (strspn(text + id_len + 1, "0123456789") != strlen(text + id_len + 1))
        return ERR_PARSE;
    if (str_to_i64(text + id_len + 1, 0, INT64_MAX, &number))
        return ERR_PARSE;
    memcpy(id, text, id_len);
    id[id_len] = '\0';
    *n = number;
    return 0;
}
