/**
 * Completion of command lines in bash, derived from the tables: a program prints rows, conf/completion.bash reads them.
 *
 *     _bobbin_words['bobbin registry']='ls resolve …'      words that may come after these
 *     _bobbin_values['bobbin --output']='table json'       what follows an option: words, or one of the marks below
 *     _bobbin_keys['bobbin']='hadoop.registry.url …'       keys of -D
 *     _bobbin_key_values['bobbin KEY']='true false'        values of a key, where they are words
 *     _bobbin_operands['bobbin registry bind']='<any> <file>'
 *
 * Marks: <dir>, <file>, <key> (KEY=VALUE), <any>; <any2>: two words of any kind.
 * Pure. Thread: any.   Source: ours; bash(1), Programmable Completion.
 */
#ifndef RUN_COMPLETION_H
#define RUN_COMPLETION_H

#include <stddef.h>

#include "base/buf.h"
#include "run/options.h"

/**
 * Append a row.
 *
 * @param out    grows                                                            [in,out]
 * @param table  "words", "values", "keys", "key_values", "operands"              [borrowed]
 * @param place  the words that the row is for, separated by blanks               [borrowed]
 * @param text   its words, separated by blanks; a blank at either end is dropped. A quotation mark is a BUG. [borrowed]
 */
void completion_row(struct buf *out, const char *table, const char *place, const char *text);
/**
 * Append what a placeholder of help stands for: "table|json" gives its words, "DIR", "[FILE|-]", … a mark.
 *
 * @param placeholder  as help shows it                                           [borrowed]
 * @param out          grows                                                      [in,out]
 */
void completion_kind(const char *placeholder, struct buf *out);
/**
 * Append the rows of an option table: the keys, and the values of those that are words.
 *
 * @param out      grows                                                          [in,out]
 * @param program  its name                                                       [borrowed]
 * @param defs     n rows                                                         [borrowed]
 */
void completion_keys(struct buf *out, const char *program, const struct opt_def *defs, size_t n);
/** Append the line that makes bash use the rows of a program. Parameters as completion_keys. */
void completion_end(struct buf *out, const char *program);

#endif
