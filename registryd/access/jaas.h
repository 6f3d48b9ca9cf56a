/**
 * What a JAAS file says of a Kerberos login, so that a cluster's own file serves registryd too:
 *
 *     Client {
 *         com.sun.security.auth.module.Krb5LoginModule required
 *         useKeyTab=true keyTab="/etc/security/keytabs/rm.service.keytab" principal="rm/host@REALM";
 *     };
 *
 * Pure but for reading the file. Thread: any.   Source: Java's javax.security.auth.login.Configuration.
 */
#ifndef ACCESS_JAAS_H
#define ACCESS_JAAS_H

#include "bobbin/error.h"

/** `{0}` is empty. A member is NULL where the entry does not say. */
struct jaas_entry {
    char *principal;
    char *keytab; /* only with useKeyTab=true */
    char *cache;  /* only with useTicketCache=true */
};

/**
 * Read the Krb5LoginModule of one entry.
 *
 * @param text   what the file holds                                             [borrowed]
 * @param file   its name, for errors                                            [borrowed]
 * @param entry  name of the entry, as "Client"                                  [borrowed]
 * @param out    jaas_fini                                                       [out]
 * @return 0; ERR_CONFIG: malformed, no such entry, or no Kerberos in it; *why says where: out is empty.
 */
int jaas_parse(const char *text, const char *file, const char *entry, struct jaas_entry *out,
               struct err_info *why);
/** The same from a file. ERR_CONFIG also when it cannot be read. */
int jaas_read(const char *file, const char *entry, struct jaas_entry *out, struct err_info *why);
/** Release; it is empty afterwards. */
void jaas_fini(struct jaas_entry *entry);

#endif
