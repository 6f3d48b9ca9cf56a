#include "http/proxy_users.h"

#include <grp.h>
#include <netdb.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/network.h"
#include "base/obj.h"
#include "base/str.h"
#include "run/options.h"

#define CHECKING_MAGIC OBJ_MAGIC('P', 'X', 'C', 'K')

/** Groups of a user that are looked at, and bytes of one entry of the user database. */
#define GROUPS_MAX      1024
#define ENTRY_MAX_BYTES 65536

enum verdict { NO, YES, OPEN };

static bool is_wildcard(const char *list)
{
    mem_auto char *text = list ? str_trim(list) : NULL;
    return text && strcmp(text, "*") == 0;
}

/** The next item of a comma list, trimmed. @return free(); NULL: there is none. */
static char *next_item(const char **at)
{
    while (*at && **at) {
        size_t len = strcspn(*at, ",");
        mem_auto char *raw = mem_strn(*at, len);
        char *item = str_trim(raw);
        *at += len + ((*at)[len] == ',');
        if (*item)
            return item;
        free(item);
    }
    return NULL;
}

static bool holds(const char *list, const char *name)
{
    bool is_found = false;
    char *item;
    while (!is_found && (item = next_item(&list))) {
        is_found = strcmp(item, name) == 0;
        free(item);
    }
    return is_found;
}

/* ---- groups ---- */

static bool group_is_listed(gid_t gid, const char *list, char *entry)
{
    struct group group, *found = NULL;
    return getgrgid_r(gid, &group, entry, ENTRY_MAX_BYTES, &found) == 0 && found &&
           holds(list, group.gr_name);
}

/** Whether this host knows the user as a member of a listed group. Waits for the user database. */
static bool is_member(const char *user, const char *list)
{
    mem_auto char *entry = mem_alloc(ENTRY_MAX_BYTES);
    mem_auto gid_t *gids = mem_array(GROUPS_MAX, sizeof *gids);
    struct passwd account, *found = NULL;
    int n = GROUPS_MAX;
    if (getpwnam_r(user, &account, entry, ENTRY_MAX_BYTES, &found) != 0 || !found)
        return false;
    if (getgrouplist(user, account.pw_gid, gids, &n) < 0)
        n = GROUPS_MAX;
    for (int i = 0; i < n; i++) {
        if (group_is_listed(gids[i], list, entry))
            return true;
    }
    return false;
}

static enum verdict judge_target(const struct proxy_ask *ask, bool may_look_up)
{
    if (is_wildcard(ask->users) || is_wildcard(ask->groups) || holds(ask->users, ask->target))
        return YES;
    const char *at = ask->groups;
    mem_auto char *first = next_item(&at);
    if (!first)
        return NO;
    if (!may_look_up)
        return OPEN;
    return is_member(ask->target, ask->groups) ? YES : NO;
}

/* ---- hosts ---- */

static bool name_has(const char *name, const struct addr *from)
{
    static const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *list = NULL;
    bool is_found = false;
    if (getaddrinfo(name, NULL, &hints, &list) != 0)
        return false;
    for (const struct addrinfo *at = list; at && !is_found; at = at->ai_next) {
        struct addr addr;
        uint16_t port;
        is_found = addr_from_sockaddr(at->ai_addr, &addr, &port) == 0 && addr_equal(&addr, from);
    }
    freeaddrinfo(list);
    return is_found;
}

/** A network as MachineList takes it. @return 0; ERR_PARSE: malformed, or of IPv6. */
static int read_cidr(const char *text, struct networks *out)
{
    out->n_items = 1;
    int rc = network_read(text, &out->items[0]);
    return rc == 0 && out->items[0].addr.family != AF_INET ? ERR_PARSE : rc;
}

static enum verdict judge_host(const char *item, const struct addr *from, bool may_look_up)
{
    struct addr addr;
    struct networks networks;
    if (strchr(item, '/'))
        return read_cidr(item, &networks) == 0 && networks_hold(&networks, from) ? YES : NO;
    if (addr_read(item, &addr) == 0)
        return addr_equal(&addr, from) ? YES : NO;
    if (strcmp(item, "*") == 0)
        return NO; /* beside others it is no wildcard */
    if (!may_look_up)
        return OPEN;
    return name_has(item, from) ? YES : NO;
}

static enum verdict judge_address(const struct proxy_ask *ask, bool may_look_up)
{
    enum verdict all = NO;
    struct addr from;
    const char *at = ask->hosts;
    char *item;
    if (is_wildcard(ask->hosts))
        return YES;
    if (addr_read(ask->address, &from) != 0)
        return NO;
    while (all != YES && (item = next_item(&at))) {
        enum verdict one = judge_host(item, &from, may_look_up);
        all = one == NO ? all : one;
        free(item);
    }
    return all;
}

/* ---- both ---- */

void proxy_users_find(const struct options *o, struct proxy_ask *ask)
{
    const struct {
        const char *name;
        const char **value;
    } keys[] = {{"users", &ask->users}, {"groups", &ask->groups}, {"hosts", &ask->hosts}};
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        mem_auto char *key = mem_fmt(PROXY_USERS_FAMILY "%s.%s", ask->caller, keys[i].name);
        *keys[i].value = o ? opt_other(o, key) : NULL;
    }
}

int proxy_users_check(const struct proxy_ask *ask, bool *is_open, struct err_info *why)
{
    enum verdict target = judge_target(ask, !is_open);
    mem_auto char *key =
        mem_fmt(PROXY_USERS_FAMILY "%.100s.%s", ask->caller, target == NO ? "users" : "hosts");
    if (target == NO)
        return err_set(why, ERR_IMPERSONATION, key,
                       "User: %.100s is not allowed to impersonate %.100s (%s and .groups decide)",
                       ask->caller, ask->target, key);
    enum verdict address = judge_address(ask, !is_open);
    if (address == NO && target == YES)
        return err_set(why, ERR_IMPERSONATION, key,
                       "Unauthorized connection for super-user: %.100s from IP %s (%s decides)", ask->caller,
                       ask->address, key);
    if (is_open)
        *is_open = target == OPEN || address == OPEN;
    return 0;
}

/* ---- the check of a configuration ---- */

struct checking {
    struct obj obj;
    const struct options *options;
    struct opt_report *report;
};

static void check_hosts(const struct checking *c, const char *key, const char *hosts)
{
    struct networks networks;
    struct err_info why;
    char *item;
    while ((item = next_item(&hosts))) {
        if (strchr(item, '/') && read_cidr(item, &networks) != 0) {
            err_set(&why, ERR_CONFIG, item,
                    "no IPv4 network, so it matches no host: write 10.0.0.0/8, an address or a name");
            opt_warning(c->options, key, &why, c->report);
        }
        free(item);
    }
}

static void check_key(void *arg, const char *key, const char *text)
{
    const struct checking *c = obj_cast(arg, struct checking, CHECKING_MAGIC);
    struct err_info why;
    if (str_ends(key, ".hosts")) {
        check_hosts(c, key, text);
    } else if (!str_ends(key, ".users") && !str_ends(key, ".groups")) {
        err_set(&why, ERR_CONFIG, key, "no such key: its last part is users, groups or hosts");
        opt_warning(c->options, key, &why, c->report);
    }
}

void proxy_users_report(const struct options *o, struct opt_report *report)
{
    struct checking c = {.options = o, .report = report};
    obj_init(&c.obj, CHECKING_MAGIC);
    opt_each_other(o, PROXY_USERS_FAMILY, check_key, &c);
    obj_fini(&c.obj);
}
