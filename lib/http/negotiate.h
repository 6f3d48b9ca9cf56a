/**
 * Which of the forms that a server has a client wants: the Accept header. Pure. Thread: any.
 */
#ifndef HTTP_NEGOTIATE_H
#define HTTP_NEGOTIATE_H

#include <stdbool.h>
#include <stddef.h>

/** A form that a server has. */
struct http_form {
    const char *type; /* "text/plain" */
    /** Values of the parameter version that name it, separated by blanks; a range without version names it too. */
    const char *versions;
};

/**
 * The form of the highest quality; of equal ones the first of the header. Ranges with a star name no form: who sends nothing else
 * gets the first form, as who sends no header does and whose every wish is unknown.
 *
 * @param accept   as sent; NULL: none                                           [borrowed]
 * @param forms    n of them, the first one for everybody                        [borrowed]
 * @param n        1 or more
 * @return index of a form.   Source: RFC 9110 12.5.1; Prometheus' expfmt.Negotiate.
 */
size_t http_negotiate(const char *accept, const struct http_form *forms, size_t n);
/**
 * Whether a client takes an answer of a type: by the most specific of the ranges that name it, its own before its family's and that before
 * any type's ("*" alone is Java's). Parameters other than the quality are passed over.
 *
 * @param accept  as sent; NULL or without a range: it takes all                  [borrowed]
 * @param type    "application/json"                                             [borrowed]
 * Source: RFC 9110 12.5.1.
 */
bool http_accepts(const char *accept, const char *type);

#endif
