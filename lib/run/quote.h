/**
 * How text from outside is put into one line of log or JSON: nothing in it can end the line or the value, or steer a
 * terminal. Pure. Thread: any.   Source: RFC 8259; ours.
 */
#ifndef RUN_QUOTE_H
#define RUN_QUOTE_H

#include "base/buf.h"

/**
 * Append s for a text line: as it is when it is one plain word, else in double quotes with `\` before `"` and `\`,
 * \n \r \t, and \xNN for other control characters and for bytes that are not UTF-8.
 *
 * @param out  grows                                                             [in,out]
 * @param s    any bytes up to NUL                                               [borrowed]
 * Thread: any.   Source: ours.
 */
void quote_text(struct buf *out, const char *s);
/**
 * Append a sentence that may hold foreign words: as it is, but \n \r \t, other control characters and bytes that are not UTF-8
 * are escaped as quote_text does.
 *
 * @param out  grows                                                             [in,out]
 * @param s    any bytes up to NUL                                               [borrowed]
 * Thread: any.   Source: ours.
 */
void quote_line(struct buf *out, const char *s);
/**
 * Append s as a JSON string with its quotes; bytes that are not UTF-8 become U+FFFD.
 *
 * @param out  grows                                                             [in,out]
 * @param s    any bytes up to NUL                                               [borrowed]
 * Thread: any.   Source: RFC 8259.
 */
void quote_json(struct buf *out, const char *s);

#endif
