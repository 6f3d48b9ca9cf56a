/**
 * Documents that a person names on the command line: a file, or `-` for standard input.
 *
 * Thread: main.   Source: ours.
 */
#ifndef CLI_KIT_INPUT_H
#define CLI_KIT_INPUT_H

#include <jansson.h>

#include "base/buf.h"
#include "bobbin/error.h"

/** Most bytes of a document. */
#define INPUT_MAX ((size_t)64 << 20)

/** Read all of it. @param out  appended [in,out] @return 0; ERR_IO: cannot be opened or read; ERR_TOOBIG. */
int input_read(const char *name, struct buf *out, struct err_info *why);
/**
 * Read a secret: the one line of a document.
 *
 * @param option  that names it, for the error                                       [borrowed]
 * @param out     without its end of line, not empty; free()                         [out]
 * @return as input_read; ERR_USAGE: it has no line, or more.
 */
int input_read_line(const char *name, const char *option, char **out, struct err_info *why);
/** Read a JSON document. @param out  new reference [out] @return as input_read; ERR_JSON with name:line:col. */
int input_read_json(const char *name, json_t **out, struct err_info *why);
/** Put the name of a document before the place in it: "record.json:3:7". @return code. */
int input_blame(const char *name, int code, struct err_info *why);

#endif
