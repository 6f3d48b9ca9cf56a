/**
 * Questions to ask, read from a file of "name TYPE" lines; a third word "+edns" adds an OPT record as resolvers send it (1232
 * octets, DO). Source: RFC 1035 4.1, RFC 6891 6.1.
 */
#ifndef BENCH_QUESTIONS_H
#define BENCH_QUESTIONS_H

#include <stddef.h>
#include <stdint.h>

enum { QUESTION_MAX = 300 };

struct questions {
    uint8_t (*items)[QUESTION_MAX]; /* whole messages; the id is 0 */
    uint16_t *lens;
    size_t n;
};

/** Read a file; reports lines that are no questions on stderr. @return 0; or -1: no file, or no question in it. */
int questions_read(const char *path, struct questions *out);
/** Release. */
void questions_fini(struct questions *q);

#endif
