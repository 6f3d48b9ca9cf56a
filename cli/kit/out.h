/**
 * Output: tables with columns as wide as their widest cell, JSON documents, texts for a terminal.
 *
 * Thread: main.   Source: ours.
 */
#ifndef CLI_KIT_OUT_H
#define CLI_KIT_OUT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct out_table {
    size_t n_columns;
    char **cells; /* row after row; the first row holds the titles */
    size_t n_cells;
};

/** Begin a table. @param titles  NULL-terminated [borrowed during the call] @param t  out_table_print releases it [out] */
void out_table_begin(struct out_table *t, const char *const *titles);
/** Add the next cell; rows fill from left to right. @param text  copied; NULL or "" shows as "-"; control characters as "?" */
void out_table_add(struct out_table *t, const char *text);
/** Add the next cell from a member of an object: an integer; "-" for anything else. @param object  [borrowed] */
void out_table_add_number(struct out_table *t, const json_t *object, const char *key);
/** Print to stdout and release. */
void out_table_print(struct out_table *t);
/** A terminal obeys control characters: they become "?". @param text  [in,out] @param but  those that stay */
void out_hide_controls(char *text, const char *but);
/** Bytes of a text's longest beginning of at most so many characters. @param text  UTF-8 */
size_t out_text_fit(const char *text, size_t n_characters);
/** Print lines and a newline. @param text  control characters but newline and tab show as "?" */
void out_lines_to(FILE *to, const char *text);
/** Print a JSON document, indented, with a newline, to stdout. */
void out_json(const json_t *value);
/** As out_json, on one line. */
void out_json_line(const json_t *value);
/** A point of time as "2026-01-31T10:00:00Z". @param out  room for 32 @return out */
const char *out_time(int64_t wall_ms, char out[32]);

#endif
