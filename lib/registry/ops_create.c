/**
 * Making a node, and its missing parents if asked. See ops_priv.h.
 *
 *     level n (the node) ──NOTFOUND──► n-1 ──NOTFOUND──► … ──made or EXISTS──► one level down … ──► n
 *
 * Of a parent it does not matter who made it: one that may or may not have been made by us is taken as there, and the level
 * below says NOTFOUND if it is not.
 * With DNS names a level whose element breaks the rule is asked for with stat instead: it may exist, not be made.
 */
#include <string.h>

#include "base/mem.h"
#include "registry/ops_priv.h"

static void create_try(struct op *op);

/** Path of the level: its bytes up to the level-th element. */
static char *level_path(const struct op *op, const char **element)
{
    const char *start = op->path, *end = op->path;

    for (size_t i = 0; i < op->level; i++) {
        start = end + 1;
        end = strchrnul(start, '/');
    }
    *element = op->level ? start : "";
    return op->level ? mem_strn(op->path, (size_t)(end - op->path)) : mem_str("/");
}

/** What became of the node at this level: go on, up or down. */
static void create_outcome(struct op *op, int err, const struct store_result *r)
{
    bool parents = op->flags & REG_CREATE_PARENTS;
    bool is_parent = op->level < op->n_elements;

    if (err == ERR_NOTFOUND && parents && op->level > 0 && op->n_tries < 4 * op->n_elements + 16) {
        op->level--;
        create_try(op);
    } else if (is_parent && (err == 0 || err == ERR_EXISTS || err == ERR_UNKNOWN_OUTCOME)) {
        op->level++;
        create_try(op);
    } else {
        op->created(op, err, r);
    }
}

static void on_level_created(void *arg, int err, const struct store_result *r)
{
    create_outcome(obj_cast(arg, struct op, OP_MAGIC), err, r);
}

static void on_level_checked(void *arg, int err, const struct store_result *r)
{
    struct op *op = obj_cast(arg, struct op, OP_MAGIC);

    if (err == 0) {
        create_outcome(op, ERR_EXISTS, r);
    } else if (err == ERR_NOTFOUND) {
        op->created(op, ERR_PATH, r);
    } else {
        op->created(op, err, r);
    }
}

static void create_try(struct op *op)
{
    const char *element;
    mem_auto char *path = level_path(op, &element);
    mem_auto char *name = mem_strn(element, strcspn(element, "/"));
    bool target = op->level == op->n_elements;
    struct store *s = op->rs->store;

    op->n_tries++;
    op->bad_element = (struct err_info){0};
    if (op->rs->names == REG_NAMES_DNS && op->level > 0 && reg_path_check_element(name, &op->bad_element))
        store_stat(s, path, on_level_checked, op);
    else
        store_create(s, path, target ? op->bytes : "", target ? op->len : 0,
                     target && op->acl.acl.n_entries ? &op->acl.acl : op->rs->acl, on_level_created, op);
}

void op_create(struct op *op, void (*created)(struct op *op, int err, const struct store_result *r))
{
    op->created = created;
    op->n_elements = 0;
    op->n_tries = 0;
    for (const char *at = op->path; *at && op->path[1]; at++)
        op->n_elements += *at == '/';
    op->level = op->n_elements;
    create_try(op);
}
