#include "yarn/address.h"
#include "base/addr.h"
#include "base/mem.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define KEY_PREFIX "yarn.resourcemanager."
#define KEY_HA     KEY_PREFIX "ha.enabled"
#define KEY_IDS    KEY_PREFIX "ha.rm-ids"
#define KEY_HOST   KEY_PREFIX "hostname"

static const struct {
    const char *key;
    uint16_t port;
} ports[] = {
    [YARN_RM_CLIENT] = {KEY_PREFIX "address", 8032},
    [YARN_RM_SCHEDULER] = {KEY_PREFIX "scheduler.address", 8030},
    [YARN_RM_WEB] = {KEY_PREFIX "webapp.address", 8088},
    [YARN_RM_WEB_TLS] = {KEY_PREFIX "webapp.https.address", 8090},
};

void yarn_addresses_add(struct yarn_addresses *list, const char *host, uint16_t port)
{
    list->items = mem_resize(list->items, list->n_items + 1, sizeof *list->items);
    list->items[list->n_items++] = (struct yarn_address){mem_str(host), port};
}

void yarn_addresses_fini(struct yarn_addresses *list)
{
    for (size_t i = 0; i < list->n_items; i++)
        free(list->items[i].host);
    free(list->items);
    *list = ADDRESSES_EMPTY;
}

int yarn_addresses_add_node(struct yarn_addresses *list, const Yarn__NodeId *node)
{
    if (!node || !node->host || !addr_is_host(node->host) || !node->has_port || node->port < 1 ||
        node->port > UINT16_MAX)
        return ERR_PARSE;
    yarn_addresses_add(list, node->host, (uint16_t)node->port);
    return 0;
}

/* id NULL: the key itself. Trimmed; NULL: not set, or empty. free() */
static char *text_of(const struct yarn_keys *keys, const char *key, const char *id)
{
    mem_auto char *name = id ? mem_fmt("%s.%s", key, id) : mem_str(key);
    const char *text = keys->text(keys->arg, name);
    char *trimmed = text ? str_trim(text) : NULL;
    if (trimmed && !*trimmed) {
        free(trimmed);
        trimmed = NULL;
    }
    return trimmed;
}

static int add_rm(const struct yarn_keys *keys, enum yarn_rm_port port, const char *id,
                  struct yarn_addresses *out, struct err_info *why)
{
    const char *key = ports[port].key, *dot = id ? "." : "", *suffix = id ? id : "";
    mem_auto char *address = text_of(keys, key, id), *name = text_of(keys, KEY_HOST, id), *host = NULL;
    const char *text = address ? address : name;
    uint16_t number = ports[port].port;
    if (!text)
        return err_set(why, ERR_CONFIG, id ? KEY_IDS : KEY_HOST, "neither %s%s%s nor " KEY_HOST "%s%s is set",
                       key, dot, suffix, dot, suffix);
    if (addr_split_host_port(text, number, &host, &number) != 0 || number == 0 || !addr_is_host(host))
        return err_set(why, ERR_CONFIG, address ? key : KEY_HOST, "\"%.200s\" is no host or host:port", text);
    yarn_addresses_add(out, host, number);
    return 0;
}

static int add_all(const struct yarn_keys *keys, enum yarn_rm_port port, struct yarn_addresses *out,
                   struct err_info *why)
{
    mem_auto char *ids = text_of(keys, KEY_IDS, NULL);
    for (size_t i = 0; ids; i++) {
        mem_auto char *id = str_field(ids, ',', i);
        if (!id)
            break;
        int err = *id ? add_rm(keys, port, id, out, why) : 0;
        if (err != 0)
            return err;
    }
    if (out->n_items == 0)
        return err_set(why, ERR_CONFIG, KEY_IDS, KEY_HA " is set, and no id is given");
    return 0;
}

int yarn_rm_addresses(const struct yarn_keys *keys, enum yarn_rm_port port, struct yarn_addresses *out,
                      struct err_info *why)
{
    bool has_ha = false;
    mem_auto char *ha = text_of(keys, KEY_HA, NULL);
    if (ha && str_to_bool(ha, &has_ha) != 0)
        return err_set(why, ERR_CONFIG, KEY_HA, "\"%.80s\" is not true or false", ha);
    int err = has_ha ? add_all(keys, port, out, why) : add_rm(keys, port, NULL, out, why);
    if (err != 0)
        yarn_addresses_fini(out);
    return err;
}
