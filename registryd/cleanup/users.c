#include "cleanup/users.h"
#include "access/access.h"
#include "base/mem.h"
#include "base/obj.h"
#include "base/path.h"

#include <stdlib.h>
#include <string.h>

#define HOMES_MAGIC OBJ_MAGIC('H', 'O', 'M', 'E')

/* Homes being made, side by side: nothing is asked of the store once the first answer has come. */
struct homes {
    struct obj obj;
    char *paths[USERS_MAX_HOMES];
    size_t n_open;
    int err;
    struct users_result result;
    USERS_DONE;
    void *arg;
};

/* Take a path into homes unless it is there, or is no name that may be made: then *why says so. */
static void keep(char *take_path, enum reg_names names, char *homes[USERS_MAX_HOMES], size_t *n,
                 struct err_info *why)
{
    mem_auto char *path = NULL;
    int err = reg_path_normal(take_path, &path, why);
    free(take_path);
    const char *name = path ? path_name(path) : "";
    if (!err && names == REG_NAMES_DNS)
        err = reg_path_check_element(name, why);
    if (err || (*n && strcmp(homes[0], path) == 0))
        return;
    homes[(*n)++] = path;
    path = NULL;
}

int users_homes(const char *user, enum reg_names names, char *homes[USERS_MAX_HOMES], size_t *n,
                struct err_info *why)
{
    char *home = NULL, *own = NULL;
    struct err_info bad_name = {0};
    int err = reg_home_path(user, &home, why);
    err = err ? err : reg_user(user, &own, why);
    if (err) {
        free(home);
        return err;
    }
    *n = 0;
    keep(home, names, homes, n, &bad_name);
    if (*own)
        keep(reg_path_join("/users", own), names, homes, n, &bad_name);
    free(own);
    if (*n)
        return 0;
    *why = bad_name;
    return bad_name.code;
}

static void finish(void *arg)
{
    struct homes *h = obj_cast(arg, struct homes, HOMES_MAGIC);
    h->done(h->arg, h->err, &h->result);
    for (size_t i = 0; i < h->result.n_homes; i++)
        free(h->paths[i]);
    obj_fini(&h->obj);
    free(h);
}

static void on_made(void *arg, int err, const struct reg_store_result *r)
{
    struct homes *h = obj_cast(arg, struct homes, HOMES_MAGIC);
    if (err && !h->err) {
        h->err = err;
        h->result.why = r->why;
        if (err == ERR_PERMISSION)
            access_refused_by_store(h->paths[0], NULL, &h->result.why);
    }
    h->result.made = h->result.made || (!err && r->changed);
    h->result.zxid = r->zxid > h->result.zxid ? r->zxid : h->result.zxid;
    if (--h->n_open == 0)
        finish(h);
}

void users_make(struct run_loop *loop, struct reg_store *ops, enum reg_names names, const char *user,
                USERS_DONE, void *arg)
{
    struct homes *h = mem_new(struct homes);
    obj_init(&h->obj, HOMES_MAGIC);
    h->done = done;
    h->arg = arg;
    h->err = users_homes(user, names, h->paths, &h->result.n_homes, &h->result.why);
    if (h->err) {
        h->result.n_homes = 0;
        run_post(loop, finish, h);
        return;
    }
    h->n_open = h->result.n_homes;
    for (size_t i = 0; i < h->result.n_homes; i++) {
        h->result.homes[i] = h->paths[i];
        reg_store_make_home(ops, h->paths[i], user, on_made, h);
    }
}
