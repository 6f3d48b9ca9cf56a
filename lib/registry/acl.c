#include "registry/acl.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"

void acl_add(struct acl_list *list, uint32_t perms, const char *scheme, const char *id)
{
    struct store_acl *acl = &list->acl;
    struct store_acl_entry *grown = mem_array(acl->n_entries + 1, sizeof *grown);

    if (acl->n_entries)
        memcpy(grown, acl->entries, acl->n_entries * sizeof *grown);
    grown[acl->n_entries] = (struct store_acl_entry){perms, mem_str(scheme), mem_str(id)};
    free((void *)(uintptr_t)acl->entries);
    acl->entries = grown;
    acl->n_entries++;
}

void acl_add_all(struct acl_list *list, const struct store_acl *more)
{
    for (size_t i = 0; more && i < more->n_entries; i++)
        acl_add(list, more->entries[i].perms, more->entries[i].scheme, more->entries[i].id);
}

void acl_fini(struct acl_list *list)
{
    for (size_t i = 0; i < list->acl.n_entries; i++) {
        free((void *)(uintptr_t)list->acl.entries[i].scheme);
        free((void *)(uintptr_t)list->acl.entries[i].id);
    }
    free((void *)(uintptr_t)list->acl.entries);
    *list = (struct acl_list){{NULL, 0}};
}

static int add_account(struct acl_list *list, const char *item, const char *realm, struct err_info *why)
{
    const char *colon = strchr(item, ':');

    if (!colon || colon == item || !colon[1] || strchr(colon + 1, ':'))
        return err_set(why, ERR_INVALID, item, "an account is scheme:id, with exactly one colon");
    mem_auto char *scheme = mem_strn(item, (size_t)(colon - item));
    bool wants_realm = str_ends(item, "@");
    if (wants_realm && !(realm && *realm))
        return err_set(why, ERR_INVALID, item,
                       "@ suffixed account but no realm %s: set hadoop.registry.kerberos.realm", item);
    mem_auto char *id = mem_fmt("%s%s", colon + 1, wants_realm ? realm : "");
    acl_add(list, STORE_ALL, scheme, id);
    return 0;
}

/* The next item of a comma-separated text, trimmed; *at is behind it. free() */
static char *next_item(const char **at)
{
    size_t n = strcspn(*at, ",");
    mem_auto char *field = mem_strn(*at, n);

    *at += n + ((*at)[n] == ',');
    return str_trim(field);
}

char *acl_split_accounts(const char *text, const char *realm)
{
    struct buf out = BUF_EMPTY;

    buf_add_str(&out, "");
    for (const char *at = text ? text : ""; *at;) {
        mem_auto char *item = next_item(&at);
        bool gets_realm = str_starts(item, "sasl:") && str_ends(item, "@");

        if (*item)
            buf_addf(&out, "%s%s%s", out.len ? "," : "", item, gets_realm && realm ? realm : "");
    }
    return buf_take(&out);
}

int acl_add_accounts(struct acl_list *list, const char *text, const char *realm, struct err_info *why)
{
    mem_auto char *items = acl_split_accounts(text, realm);
    int err = 0;

    for (const char *at = items; !err && *at;) {
        mem_auto char *item = next_item(&at);
        err = add_account(list, item, realm, why);
    }
    return err;
}

char *acl_principal(const char *name, const char *realm)
{
    return realm && *realm && !strchr(name, '@') ? mem_fmt("%s@%s", name, realm) : mem_str(name);
}
