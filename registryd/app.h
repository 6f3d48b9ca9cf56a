/**
 * registryd's parts, for the files that start and stop them: app.c, app_access.c, app_lease.c, app_repeats.c, app_rm.c, main.c.
 * Thread: owner.   Source: ours.
 */
#ifndef REGISTRYD_APP_H
#define REGISTRYD_APP_H

#include "api/api.h"
#include "base/obj.h"
#include "cleanup/rm_poll.h"
#include "registry/acl.h"
#include "repeats/claims.h"
#include "run/daemon.h"
#include "run/log.h"

#define REGISTRYD_MAGIC OBJ_MAGIC('R', 'E', 'G', 'D')

/** Who may write. */
struct app_accounts {
    struct acl_list acl; /* of every node made in a secure registry */
    char *realm;         /* of accounts that end in @; NULL: none */
};

struct registryd {
    struct obj obj;
    struct api api; /* the parts that handlers use, too */
    struct daemon *daemon;
    struct mark_file *mark; /* NULL: its file cannot be used */
    struct app_accounts accounts;
    struct rm_poll *rm;    /* NULL: no resource manager is followed */
    struct claims *claims; /* writes that other registryds know of; NULL: there are no others */
    struct http_server *http;
    struct run_timer *setup_retry;
    struct log_trouble setup_trouble;
    bool is_writing_lost; /* the store cannot be written */
    bool has_nodes;       /* the standard nodes were seen in the mirror */
    bool is_closing;      /* no completion starts anything new */
    char *static_user;    /* caller of a request that names no user */
};

/** The parts in the order in which they start: app.c. */
extern const struct daemon_step registryd_steps[];
extern const size_t registryd_n_steps;

/** The accounts that may do everything: hadoop.registry.system.accounts, or, where that is not set, the older
 *  hadoop.registry.system.acls. Borrowed from o; may be NULL. Source: ours. */
const char *app_system_accounts(const struct options *o);
/** With what registryd authenticates to ZooKeeper. `{0}`: not at all. */
struct app_credentials {
    char *digest;                    /* "id:password"; NULL: none */
    struct store_kerberos *kerberos; /* zkl_kerberos_free; NULL: none */
    char *principal;                 /* who that is; NULL: nobody */
    bool is_kerberos;                /* Kerberos it is, not only a name for ACLs */
};
/**
 * Read who may write, and who registryd is.
 *
 * @param accounts     `{0}`; app_accounts_fini, also after an error               [out]
 * @param credentials  `{0}`; app_credentials_fini, also after an error            [out]
 * @return 0; ERR_CONFIG with *why filled. app_access.c.   Source: Hadoop RegistrySecurity.
 */
int app_access_read(const struct options *o, struct app_accounts *accounts,
                    struct app_credentials *credentials, struct err_info *why);
/** What app_access_read would refuse, and what it does that may not be meant. */
void app_access_check(const struct options *o, struct opt_report *report);
/** Release; they are empty afterwards. */
void app_accounts_fini(struct app_accounts *a);
/** Release; it is empty afterwards. */
void app_credentials_fini(struct app_credentials *c);

/** Start and stop following the resource manager, if the options ask for it: app_rm.c. */
int app_rm_start(struct daemon *d, void *arg, struct err_info *why);
/** What app_rm_start would refuse. */
void app_rm_check(const struct options *o, struct opt_report *report);
void app_rm_stop(struct daemon *d, void *arg);

/** Start and stop sharing the writes that come again: app_repeats.c. */
int app_repeats_start(struct daemon *d, void *arg, struct err_info *why);
void app_repeats_stop(struct daemon *d, void *arg);

/** Start and stop the leases: app_lease.c. */
int app_lease_start(struct daemon *d, void *arg, struct err_info *why);
void app_lease_stop(struct daemon *d, void *arg);
/** Part of -t and the start: the bounds of TTLs fit. */
void app_lease_check(const struct options *o, struct opt_report *report);
/** The server listens: this registryd may keep leases from now on. */
void app_lease_serve(struct registryd *app);

#endif
