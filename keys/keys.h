/**
 * Every key that a configuration of Bobbin may have below hadoop.registry., bobbin. and yarn.service.: those of the tables of
 * options of all daemons, of which bobbin's are a part; the properties of services that the site files may have; and those that Hadoop's own programs have and
 * Bobbin does not use. Each file of this folder has the list of one table.
 *
 * Thread: any.   Source: ours.
 */
#ifndef KEYS_KEYS_H
#define KEYS_KEYS_H

#include "run/known.h"

/** The lists, ended by NULL: for known_check. */
extern const struct known_keys *const keys_known[];

extern const struct known_keys keys_registryd, keys_dnsd, keys_svcmgr, keys_services, keys_hadoop;

/** The key of a row of a table of options. */
#define KEYS_NAME(id, key, ...) key,
#define KEYS_NONE               ((const char *const[]){NULL})

#endif
