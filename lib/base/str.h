/**
 * Text: numbers, durations, UTF-8, splitting. Pure functions. Thread: any.   Source: ours; UTF-8: RFC 3629.
 */
#ifndef BASE_STR_H
#define BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Decimal integer in min..max, the whole text, no blanks. @return 0; or ERR_PARSE, *out unchanged. */
int str_to_i64(const char *s, int64_t min, int64_t max, int64_t *out);
/** Duration in ms: "500ms", "10s", "2m", "1h", "1d"; a bare number counts in `bare_unit_ms` ms.
 *  @return 0; or ERR_PARSE, *out unchanged. */
int str_to_ms(const char *s, int64_t bare_unit_ms, int64_t *out);
/** Size in bytes: "4096", "64k", "1M", "2G" (powers of 1024). @return 0; or ERR_PARSE. */
int str_to_bytes(const char *s, int64_t *out);
/** "true"/"false" as Hadoop reads them (any case, blanks around). @return 0; or ERR_PARSE. */
int str_to_bool(const char *s, bool *out);
/** s begins with prefix; "" begins everything. */
bool str_starts(const char *s, const char *prefix);
/** s ends with suffix. */
bool str_ends(const char *s, const char *suffix);
/** Copy of s without ASCII blanks at both ends; free(). */
char *str_trim(const char *s);
/** Lower-case ASCII letters in place. */
void str_lower(char *s);
/** The n-th field (from 0) of `s` cut at `sep`, trimmed; a new string, or NULL when there are fewer. */
char *str_field(const char *s, char sep, size_t n);
/** One of the fields of `s` cut at `sep`, trimmed, is this word; s NULL: none is. */
bool str_has_field(const char *s, char sep, const char *word);
/** Most bytes that str_put_i64 writes. */
#define STR_I64_MAX 20
/** Write a decimal integer, no NUL, to out (room for STR_I64_MAX). @return bytes written. */
size_t str_put_i64(char *out, int64_t v);
/** Number of bytes of the well-formed UTF-8 sequence at s (1..4), or 0 when it is not one. *cp gets the code point. */
size_t utf8_next(const char *s, size_t n, uint32_t *cp);
/** Whole text is well-formed UTF-8. */
bool utf8_valid(const char *s, size_t n);
/** Every byte is a visible ASCII character, '!' to '~'. */
bool str_is_visible(const char *s, size_t n);
/** Append the UTF-8 form of a code point to out (room for 4). @return bytes written. */
size_t utf8_put(char *out, uint32_t cp);
/** Undo %XX. `out` holds at least n+1 bytes and is NUL-terminated; a NUL may also be inside.
 *  @return decoded length; or ERR_PARSE for a malformed escape. */
int64_t str_unpercent(const char *s, size_t n, char *out);

#endif
