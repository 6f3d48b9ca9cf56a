/**
 * What of Java shows in the bytes of a record: the order of its hash maps, the text of a double, the text of lists and
 * maps. Pure. Thread: any.   Source: contract of Hadoop's ServiceRecord as Jackson reads and writes it.
 */
#ifndef REGISTRY_RECORD_JAVA_H
#define REGISTRY_RECORD_JAVA_H

#include <stddef.h>

#include "base/buf.h"
#include "bobbin/record.h"
#include "json/scan.h"

/**
 * The order in which a Java hash map gives its keys back.
 *
 * @param pairs    n of them, in the order in which they were put                   [borrowed]
 * @param n_start  number of buckets at first, a power of two (4: attributes, 1: address of a builder)
 * @return n indexes into pairs, in map order; free().   Thread: any.   Source: java.util.concurrent.ConcurrentHashMap.
 */
size_t *java_map_order(const struct reg_pair *pairs, size_t n, size_t n_start);

/**
 * Append the text of the double that a JSON number stands for, as Java prints it: `1.50` gives `1.5`, `1e3` `1000.0`.
 *
 * @param number  JSON number, NUL-terminated                                       [borrowed]
 * Thread: any; the program's locale does not matter.   Source: Double.toString (JDK 19: shortest that reads back).
 */
void java_double_text(const char *number, struct buf *out);

/**
 * Read the rest of a list or map whose opening token was just read and append its Java text: `[1, a, null]`, `{k=v}`.
 *
 * @param opening  JS_OBJECT or JS_ARRAY
 * @return 0; or ERR_JSON, s->why filled, out unchanged.   Thread: any.   Source: AbstractCollection, AbstractMap.
 */
int java_value_text(struct js *s, enum js_token opening, struct buf *out);

#endif
