/**
 * ACL lists that own their entries, and how Hadoop's configuration writes accounts.
 * Pure. Thread: any.   Source: Hadoop RegistrySecurity.
 */
#ifndef REGISTRY_ACL_H
#define REGISTRY_ACL_H

#include "store/store.h"

/** `{0}` is an empty list. `acl` is what store.h takes; its entries are owned here. */
struct acl_list {
    struct store_acl acl;
};

/** Append an entry. @param perms STORE_READ | …; scheme, id [copied] */
void acl_add(struct acl_list *list, uint32_t perms, const char *scheme, const char *id);
/** Append copies of all entries of another list. @param more NULL is fine [borrowed] */
void acl_add_all(struct acl_list *list, const struct store_acl *more);
/** Release; the list is empty afterwards. */
void acl_fini(struct acl_list *list);
/** acl_fini for the cleanup attribute. */
#define acl_auto __attribute__((cleanup(acl_fini)))

/**
 * Accounts as Hadoop splits them: blanks trimmed, empty items dropped, a `sasl` id that ends in `@` completed with the realm.
 *
 * @param text   accounts, comma-separated; NULL: none                             [borrowed]
 * @param realm  "" or NULL: none, then an `@` stays                               [borrowed]
 * @return the items, with commas between; free().
 */
char *acl_split_accounts(const char *text, const char *realm);
/**
 * Append accounts with all permissions: comma-separated `scheme:id`, blanks trimmed, empty items dropped. An id that ends in
 * `@` gets the realm.
 *
 * @param text   accounts; NULL: none                                              [borrowed]
 * @param realm  "" or NULL: none                                                  [borrowed]
 * @param why    where: the item                                                   [out]
 * @return 0; ERR_INVALID: not exactly one colon, or `@` without a realm; those before it were added.
 */
int acl_add_accounts(struct acl_list *list, const char *text, const char *realm, struct err_info *why);
/** The id of a principal in ACLs: as it is when it has a realm or none is wanted (NULL or ""), else `name@realm`. free(). */
char *acl_principal(const char *name, const char *realm);

#endif
