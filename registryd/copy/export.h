/**
 * The lossless form of nodes, and the stream that writes a subtree in it: one JSON object a line, parents before children.
 *
 *     {"path":"/users","acl":[{"perms":31,"scheme":"world","id":"anyone"}]}
 *     {"path":"/users/alice/one","record":"{\"type\":\"JSONServiceRecord\",…}","acl":[…]}
 *     {"path":"/users/alice/two","base64":"AAEC","acl":[…]}
 *     {"end":true,"count":3}                                        or {"error":"urn:bobbin:error:…","detail":"…"}
 *
 * `record` holds the stored bytes of a record as text, `base64` those of anything else; neither: no bytes. `ephemeral`
 * is there and true for a node that goes with its maker's session, `aclMasked` where the store did not show the whole ACL.
 * Thread: owner.   Source: docs/registry-rest.md.
 */
#ifndef COPY_EXPORT_H
#define COPY_EXPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "http/server.h"
#include "store/mirror/mirror.h"

/** Answer req with everything at `path` and below: data of the mirror, ACLs of the store. path is copied. */
void export_reply(struct http_req *req, struct mirror *mirror, struct store *store, const char *path);
/** The bytes are a record and text, written as `record`. Pure. Thread: any. */
bool export_is_record(const char *bytes, size_t len);

#endif
