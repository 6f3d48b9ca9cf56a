/**
 * What a request's JSON object may hold: a member that nobody knows is an error, not nothing. "dryrun" would purge.
 * Pure.   Source: docs/registry-rest.md.
 */
#ifndef JSON_MEMBERS_H
#define JSON_MEMBERS_H

#include <jansson.h>

#include "bobbin/error.h"

/**
 * Check that an object has no other members than these.
 *
 * @param object  anything; what is no object passes                                [borrowed]
 * @param names   NULL-terminated                                                   [borrowed]
 * @param why     where: JSON pointer of the member; text: the names                [out]
 * @return 0; ERR_INVALID.   Thread: any.   Source: ours.
 */
int members_check(const json_t *object, const char *const *names, struct err_info *why);

#endif
