/**
 * Documents of the engine: JSON objects by key. An element of a key is percent-encoded beyond [a-z0-9.-].
 *
 *     engine                                    names given out so far
 *     launcher/<word>                           a document of the cluster, see ENG_CLUSTER_DOCUMENTS
 *     definitions/services/<user>/<name>        what is wanted of a service: written by who takes requests
 *     services/<user>/<name>                    what it is: written by who runs it
 *     services/<user>/<name>/runs               what its application master has made of what is wanted, when it has changed that (away.c)
 *     services/<user>/<name>/<component>-<n>    one of its instances
 *     services/<user>/<name>/gone/<id>          a container or an application that has ended, until the registry has confirmed it
 *     services/<user>/<name>/history/<n>        some of what happened to it (history.h)
 *     services/<user>/<name>/nodes/<host>       what it has met on a node
 *
 * The first element of a service's key is the kind's: services, sliders, frameworks. In the order of keys, parents first, a
 * document comes after those it builds on.
 *
 * Each has a member "format". One of the format before is read, and written in the present one when it changes next; a newer one is
 * refused, as what it means is not known.
 *
 *     1 (no member)    services/<user>/<name> has both what is wanted and what is, and lists of what is gone
 *     2                as above
 *
 * Thread: the engine's.   Source: ours.
 */
#ifndef ENGINE_DOCUMENT_H
#define ENGINE_DOCUMENT_H

#include "base/buf.h"
#include "spec/codec.h"

#define DOCUMENT_FORMAT 2
/** First element of the keys of the cluster's documents. */
#define CLUSTER_DOCUMENTS "launcher"
/** First element of the keys of what is wanted. */
#define DEFINITIONS "definitions"
/** Last element of the key of what an application master runs. */
#define RUNS "runs"

/** Append an object as a document of the present format. */
void document_write(const struct fld_type *type, const void *object, struct buf *out);
/** Append a document of the present format whose member "value" is that. */
void document_write_value(const json_t *value, struct buf *out);
/**
 * Read a document's text.
 *
 * @param key     for messages                                                          [borrowed]
 * @param out     the object, json_decref                                               [out]
 * @param format  1 … DOCUMENT_FORMAT                                                   [out]
 * @return 0; ERR_JSON: not an object, or no format; ERR_UNSUPPORTED: a newer format; nothing is set.
 */
int document_read(const char *key, const char *bytes, size_t len, json_t **out, int *format,
                  struct err_info *why);
/** The same of a text of any format that is read. */
int document_of_text(const char *key, const char *text, json_t **out, struct err_info *why);
/**
 * Read a document of the present format as document_write has written it, in a fraction of the time of document_read and fld_read.
 *
 * @return new object of the type, fld_free; NULL: another text, which those may take.
 */
void *document_read_plain(const struct fld_type *type, const char *bytes, size_t len);

#endif
