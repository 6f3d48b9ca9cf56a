/**
 * Making a node, and its missing parents if asked. See ops_priv.h.
 *
 *     level n (the node) ──NOTFOUND──► n-1 ──NOTFOUND──► … ──made or EXISTS──► one level down … ──► n
 *
 * Of a parent it does not matter who made it: one that may or may not have been made by us is taken as there, and the level
 * below says NOTFOUND if it is not.
 * Where not all nodes are open, a home gets its user into its ACL, whoever makes it and on the way to whatever.
 * With DNS names a level whose element breaks the rule is asked for with stat instead: it may exist, not be made.
 */
#include <string.h>

#include "base/mem.h"
#include "registry/ops_priv.h"

static void create_try(struct operation *o);

/** Path of the level: its bytes up to the level-th element. */
static char *level_path(const struct operation *o, const char **element)
{
    const char *start = o->path, *end = o->path;

    for (size_t i = 0; i < o->level; i++) {
        start = end + 1;
        end = strchrnul(start, '/');
    }
    *element = o->level ? start : "";
    return o->level ? mem_strn(o->path, (size_t)(end - o->path)) : mem_str("/");
}

/** What became of the node at this level: go on, up or down. */
static void create_outcome(struct operation *o, int err, const struct store_result *r)
{
    bool parents = o->flags & REG_CREATE_PARENTS;
    bool is_parent = o->level < o->n_elements;

    if (err == ERR_NOTFOUND && parents && o->level > 0 && o->n_tries < 4 * o->n_elements + 16) {
        o->level--;
        create_try(o);
    } else if (is_parent && (err == 0 || err == ERR_EXISTS || err == ERR_UNKNOWN_OUTCOME)) {
        o->level++;
        create_try(o);
    } else {
        o->created(o, err, r);
    }
}

static void on_level_created(void *arg, int err, const struct store_result *r)
{
    create_outcome(obj_cast(arg, struct operation, OPERATION_MAGIC), err, r);
}

static void on_level_checked(void *arg, int err, const struct store_result *r)
{
    struct operation *o = obj_cast(arg, struct operation, OPERATION_MAGIC);

    if (err == 0) {
        create_outcome(o, ERR_EXISTS, r);
    } else if (err == ERR_NOTFOUND) {
        o->created(o, ERR_PATH, r);
    } else {
        o->created(o, err, r);
    }
}

/** User of the home that this level is; NULL: it is none. */
static const char *home_user(const struct operation *o, const char *name)
{
    static const char users[] = "/users/";

    return o->level == 2 && strncmp(o->path, users, strlen(users)) == 0 ? name : NULL;
}

/** ACL of the level's node; it lives as long as the operation. @param user  of the home that it is; NULL: none */
static const struct store_acl *level_acl(struct operation *o, const char *user)
{
    bool is_target = o->level == o->n_elements;
    const struct store_acl *acl = is_target && o->acl.acl.n_entries ? &o->acl.acl : o->rs->acl;

    if (!user || !acl || (is_target && o->names_user))
        return acl;
    acl_fini(&o->home_acl);
    acl_add_all(&o->home_acl, acl);
    operation_add_home_user(o, user, &o->home_acl);
    return &o->home_acl.acl;
}

static void create_try(struct operation *o)
{
    const char *element;
    mem_auto char *path = level_path(o, &element);
    mem_auto char *name = mem_strn(element, strcspn(element, "/"));
    bool target = o->level == o->n_elements;
    struct store *s = o->rs->store;

    o->n_tries++;
    o->bad_element = (struct err_info){0};
    if (o->rs->names == REG_NAMES_DNS && o->level > 0 && reg_path_check_element(name, &o->bad_element))
        store_stat(s, path, on_level_checked, o);
    else if (target)
        operation_write(o, STORE_OP_CREATE, level_acl(o, home_user(o, name)), on_level_created, o);
    else
        store_create(s, path, "", 0, level_acl(o, home_user(o, name)), on_level_created, o);
}

void operation_create(struct operation *o,
                      void (*created)(struct operation *o, int err, const struct store_result *r))
{
    o->created = created;
    o->n_elements = 0;
    o->n_tries = 0;
    for (const char *at = o->path; *at && o->path[1]; at++)
        o->n_elements += *at == '/';
    o->level = o->n_elements;
    create_try(o);
}
