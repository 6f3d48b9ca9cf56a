/**
 * Domain names in wire form: a sequence of labels (length octet, 1..63 octets), ended by the root's zero octet; at
 * most 255 octets. Names never hold compression pointers here; `wire/read` and `wire/write` deal with those.
 *
 * A `struct name_key` is what every look-up uses: the name in lower case, where its labels start, and a hash of every
 * suffix, so that "which zone", "which node" and "which ancestor" need no second pass over the octets:
 *
 *     3www 4dev 4test 0          label 0 at 0, label 1 at 4, label 2 at 9; n_labels 3
 *     hash[0] www.dev.test   hash[1] dev.test   hash[2] test   hash[3] root
 *
 * Pure. Thread: any.   Source: RFC 1034 3.1, RFC 1035 2.3.4 and 5.1, RFC 4343.
 */
#ifndef WIRE_NAME_H
#define WIRE_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Longest name in wire form, root octet included. */
#define NAME_MAX_LEN 255
/** Longest label. */
#define NAME_LABEL_MAX 63
/** Most labels a name can have, the root not counted. */
#define NAME_LABELS_MAX 127
/** Room for any name as text: every octet may become \DDD, plus dots and NUL. */
#define NAME_TEXT_MAX 1025

struct name_key {
    uint8_t len; /* octets of lower[], root octet included */
    uint8_t n_labels;
    uint8_t start[NAME_LABELS_MAX + 1]; /* start[i]: offset of label i; start[n_labels]: of the root octet */
    uint8_t lower[NAME_MAX_LEN + 9];    /* octets behind the name mean nothing: it is worked on in words */
    uint64_t hash[NAME_LABELS_MAX + 1]; /* hash[i]: of the suffix that starts at label i */
};

/**
 * Read a name from text (master-file form): dots separate labels, `\X` and `\DDD` escape, one trailing dot is allowed.
 * A name without trailing dot is taken as absolute. "." is the root; an empty text is refused.
 *
 * @param text  n octets, need not be NUL-terminated                             [borrowed]
 * @param out   room for NAME_MAX_LEN octets; case is kept                       [out]
 * @return length in octets, 1..255; or ERR_PARSE: empty label, label or name too long, bad escape; out undefined.
 * Thread: any.   Source: RFC 1035 5.1.
 */
int name_from_text(const char *text, size_t n, uint8_t *out);

/**
 * Write a name as text with a trailing dot; octets outside 0x21..0x7e become \DDD, `.` `\` `"` `;` `(` `)` `@` `$` get
 * a backslash.
 *
 * @param name  wire form, valid                                                 [borrowed]
 * @param out   room for NAME_TEXT_MAX characters                                [out]
 * @return out.   Thread: any.   Source: RFC 1035 5.1.
 */
const char *name_to_text(const uint8_t *name, char out[NAME_TEXT_MAX]);

/**
 * Length of an uncompressed name that lies within `room` octets.
 *
 * @param name  first octet of the name                                          [borrowed]
 * @param room  octets that may be read
 * @return 1..255; or ERR_PARSE: pointer, label over 63, name over 255, or it does not end within room.
 * Thread: any.   Source: RFC 1035 3.1.
 */
int name_len(const uint8_t *name, size_t room);

/** Number of labels of a valid wire name, the root not counted. Thread: any. */
unsigned name_n_labels(const uint8_t *name);

/** Copy a valid wire name in lower case (ASCII letters only). @param out room for its length. @return its length. */
unsigned name_lower(const uint8_t *name, uint8_t *out);

/** Same name, ASCII case ignored? Both valid wire names. Thread: any.   Source: RFC 4343. */
bool name_equal(const uint8_t *a, const uint8_t *b);

/** Is `name` equal to `apex` or below it? Both valid wire names, ASCII case ignored. Thread: any. */
bool name_is_within(const uint8_t *name, const uint8_t *apex);

/**
 * Put labels in front of a name.
 *
 * @param first  text of the new labels, escapes as in name_from_text            [borrowed]
 * @param rest   valid wire name                                                 [borrowed]
 * @param out    room for NAME_MAX_LEN octets, not overlapping rest              [out]
 * @return length of the result; or ERR_PARSE as name_from_text and when it is longer than 255; out undefined.
 * Thread: any.   Source: ours.
 */
int name_join(const char *first, size_t n, const uint8_t *rest, uint8_t *out);

/**
 * Make the key of a name: lower case, label starts. Hashes are not filled in (name_key_hash).
 *
 * @param name  first octet                                                      [borrowed]
 * @param room  octets that may be read
 * @param key   filled                                                           [out]
 * @return octets read, 1..255; or ERR_PARSE as name_len; key undefined.
 * Thread: any.   Source: RFC 1035 3.1, RFC 4343.
 */
int name_key_read(const uint8_t *name, size_t room, struct name_key *key);

/** Fill in the hash of every suffix. @param seed secret of the process, the same for all keys. Thread: any. */
void name_key_hash(struct name_key *key, uint64_t seed);

/** Hash of a name made of one label in front of a suffix whose hash is known. `label`: lower case, length octet first. */
uint64_t name_hash_label(const uint8_t *label, uint64_t suffix_hash);

#endif
