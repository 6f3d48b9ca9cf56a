/**
 * Members that a request's JSON object may have: an unknown one is an error, since ignoring "dryrun" would purge.
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
