/**
 * Home directories: /users/NAME for the user of a new application.
 * Thread: owner.   Source: Hadoop RegistryAdminService.initUserRegistry.
 */
#ifndef CLEANUP_USERS_H
#define CLEANUP_USERS_H

#include <stdbool.h>
#include <stddef.h>

#include "bobbin/path.h"
#include "registry/ops_store.h"
#include "run/loop.h"

/** Most homes of one user. */
#define USERS_MAX_HOMES 2

/** What a completion gets; borrowed, valid inside it. */
struct users_result {
    const char *homes[USERS_MAX_HOMES]; /* that exist now */
    size_t n_homes;
    bool made; /* one of them did not exist before */
    int64_t zxid;
    struct err_info why;
};
#define USERS_DONE void (*done)(void *arg, int err, const struct users_result *r)

/**
 * Paths that are homes of a user: Hadoop's home directory, and beside it the one under which clients publish that name
 * themselves by registryUser, where the two differ ("a_b": /users/a_b and /users/a-b). With REG_NAMES_DNS only those of
 * them that are RFC 1123 names.
 * @param homes  n of them, each to be free()d                                       [out]
 * @return 0; ERR_INVALID (cannot be encoded); ERR_PATH (none left).
 */
int users_homes(const char *user, enum reg_names names, char *homes[USERS_MAX_HOMES], size_t *n,
                struct err_info *why);

/**
 * Make the homes of a user that are missing; what exists is left as it is. Parents are not made.
 * Completion, later on the loop, exactly once: 0; errors of users_homes; ERR_NOTFOUND (no /users); errors of the store.
 */
void users_make(struct run_loop *loop, struct reg_store *ops, enum reg_names names, const char *user,
                USERS_DONE, void *arg);

#endif
