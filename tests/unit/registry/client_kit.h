/**
 * A registry over REST on a scripted registryd, and what its last call returned.
 */
#ifndef CLIENT_KIT_H
#define CLIENT_KIT_H

#include "bobbin/registry.h"
#include "script_server.h"

/** What a completion got; all of it is copied. */
struct got {
    int n_calls, err;
    bool changed, applied;
    char text
        [256]; /* "path=description," of each found; else description of a record, or name of a status; and names of a list */
    int64_t time_ms, size, n_purged;
    int32_t children;
    char revision[REG_REVISION_MAX];
    struct err_info why;
};

struct fixture {
    struct run_loop *loop;
    struct script_server server;
    struct reg *reg;
    struct got got;
};

/** Start a server that plays these steps, and a registry of this user on it. */
void client_begin(struct fixture *f, const char *user, const struct step *steps, size_t n_steps);
/** Open a registry of this user at this URL (timeout_ms 0: the default). */
void client_open(struct fixture *f, const char *user, const char *url, int64_t timeout_ms);
/** Close both and release. */
void client_end(struct fixture *f);
/** Completion of every call; arg is the struct got. */
void client_done(void *arg, int err, const struct reg_result *r, const struct err_info *why);
/** Await the one call that is open; it must not have been completed yet. @return its error. */
int client_await(struct fixture *f);

#endif
