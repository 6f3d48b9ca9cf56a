/**
 * Our Kerberos identity towards ZooKeeper: a principal whose key is in a keytab, or the tickets of a credential cache. With
 * a keytab a ticket is fetched from the KDC, held in memory only, and renewed when 4/5 of its life are over; a KDC that is
 * unreachable does no harm as long as the old ticket is valid. A cache is renewed by others (kinit): it is read each time.
 *
 * Thread: any that may wait (files, the KDC), one at a time for each login.   Source: Hadoop UserGroupInformation; RFC 4120.
 */
#ifndef STORE_ZK_LOGIN_H
#define STORE_ZK_LOGIN_H

#include <gssapi/gssapi.h>
#include <stdint.h>

#include "store/store.h"

struct zkl;

/** A copy, or NULL of NULL; free with zkl_kerberos_free, for which NULL is fine. Thread: any. */
struct store_kerberos *zkl_kerberos_copy(const struct store_kerberos *kerberos);
void zkl_kerberos_free(struct store_kerberos *kerberos);

/** @param kerberos copied. Free with zkl_free. Thread: any. */
struct zkl *zkl_new(const struct store_kerberos *kerberos);
/** NULL is fine. Thread: any, when nothing of it is used elsewhere. */
void zkl_free(struct zkl *l);

/**
 * Make sure that there is a ticket: the present one, or a new one when there is none or it is due for renewal.
 *
 * @return 0; ERR_CONFIG: the keytab or cache is not there, or holds no such principal; ERR_AUTH: the KDC refuses us;
 *         ERR_UNAVAILABLE: no KDC; *why names file, principal and remedy. There is no ticket then.
 * Source: krb5_get_init_creds_keytab.
 */
int zkl_refresh(struct zkl *l, struct err_info *why);
/** The credentials to begin a security context with; after a zkl_refresh that succeeded. Borrowed until the next one. */
gss_cred_id_t zkl_credentials(const struct zkl *l);
/** Milliseconds until the ticket should be renewed; -1: never, it is of a cache. */
int64_t zkl_renew_in_ms(const struct zkl *l);
/** "name[/host]@REALM" of the ticket; NULL before there is one. Borrowed. */
const char *zkl_principal(const struct zkl *l);

/**
 * Find the principal that we will authenticate as, from the files alone.
 *
 * @param principal  "name[/host]@REALM"; free()                                 [out]
 * @return 0; or ERR_CONFIG with *why filled: *principal unchanged.   Source: ours.
 */
int zkl_identity(const struct store_kerberos *kerberos, char **principal, struct err_info *why);

/**
 * Explain a failure of Kerberos, with its remedy.
 *
 * @param status  error code of krb5 or minor status of GSSAPI
 * @param text    the library's message                                          [borrowed]
 * @param about   principal, or file, that it is about; goes to where            [borrowed]
 * @return ERR_CONFIG, ERR_AUTH, ERR_UNAVAILABLE, or ERR_IO for what has no remedy here; *why filled.
 * Thread: any.   Source: krb5's error tables.
 */
int zkl_explain(int32_t status, const char *text, const char *about, struct err_info *why);

#endif
