/**
 * Parameters of a route: a table row each, from which requests are read and refused, and documents are written. Pure.
 *
 *     #define FIND_PARAMS(X) \
 *         X(FIND_USER, "user", HTTP_TEXT, NULL, "Element after /users/.") \
 *         X(FIND_LIMIT, "limit", HTTP_INT, "1000", "Most records.", .unit = "records", .min = 1, .max = 10000)
 *     enum { HTTP_PARAM_IDS(FIND_PARAMS) };
 *
 * The route's row names the table (`.params = HTTP_PARAMS(FIND_PARAMS)`), its handler reads a value by the id
 * (`http_param_int(req, FIND_LIMIT)`, http/server.h). Parameters of the query are parsed before the handler runs, and a
 * request with a bad one never reaches it. Rows of headers and path elements serve the documents only; a handler reads
 * them by http_header and http_path_element.
 *
 * Thread: any.   Source: ours.
 */
#ifndef HTTP_PARAMS_H
#define HTTP_PARAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/mem.h"
#include "bobbin/error.h"

struct options;

enum http_param_in {
    HTTP_IN_QUERY,
    HTTP_IN_ALIAS, /* of the query: another name of a parameter, which /openapi.json leaves out */
    HTTP_IN_REST,  /* of the query, in place of the pattern's final star: refused when both are sent */
    HTTP_IN_HEADER,
    HTTP_IN_PATH,  /* name: of the pattern's element, "path" for the final star */
    HTTP_AS_BASIC, /* HTTP Basic authentication, which is optional; name: of the security scheme */
    HTTP_AS_KEY,   /* the same by a header of this name, which is the security scheme's too */
};

enum http_param_type {
    HTTP_TEXT,   /* any text */
    HTTP_BOOL,   /* true or false, in any case; the name alone is true */
    HTTP_INT,    /* decimal integer in min..max */
    HTTP_TIME,   /* duration: 10 (seconds), 500ms, 2m; min..max ms */
    HTTP_CHOICE, /* one of `choices` */
};

/** A default that is the upper bound. */
#define HTTP_DEFAULT_MAX "max"

struct http_param {
    const char *name;
    enum http_param_type type;
    const char *def;   /* default as text; NULL: none: reads as NULL, false or 0 */
    const char *prose; /* one sentence, or a phrase: http_param_prose makes a sentence of it */
    enum http_param_in in;
    const char *unit;    /* what an HTTP_INT counts: "bytes"; NULL: nothing */
    const char *choices; /* "mirror|strong" */
    int64_t min, max;    /* both allowed; max 0: no upper bound */
    const char *max_key; /* option of the program whose value is max, named when it is exceeded; NULL: none */
    bool is_required;
    bool is_private; /* the log has its name without its value */
};

#define HTTP_PARAM_ID(id, ...) id,
#define HTTP_PARAM_IDS(TABLE)  TABLE(HTTP_PARAM_ID)
#define HTTP_PARAM_ROW(id, param_name, param_type, param_def, param_prose, ...)                              \
    {.name = param_name, .type = param_type, .def = param_def, .prose = param_prose, ##__VA_ARGS__},
/** The rows of a table, ended by a name NULL. */
#define HTTP_PARAMS(TABLE)                                                                                   \
    (const struct http_param[])                                                                              \
    {                                                                                                        \
        TABLE(HTTP_PARAM_ROW)                                                                                \
        {                                                                                                    \
            .name = NULL                                                                                     \
        }                                                                                                    \
    }

/** A value that was read. */
struct http_value {
    const char *text; /* as sent, decoded, or the default; NULL: neither */
    int64_t n;        /* of HTTP_BOOL 0 or 1, of HTTP_TIME ms, of HTTP_CHOICE the index among the choices */
    bool is_given;    /* by the request */
};

/** Parameters of one route, with bounds and defaults known. */
struct http_param_set {
    struct http_param *rows;     /* those of the table, bounds of options filled in */
    struct http_value *defaults; /* one a row */
    size_t n;
    size_t rest; /* row of HTTP_IN_REST; n: none */
    bool has_required;
    bool is_strict; /* a name that no row has is refused */
};

/** A name and value of a query, in the order of the request. */
struct http_pair {
    const char *name, *value;
    struct http_pair *next;
};

/** What a parameter of any request says of its caller. */
enum http_caller_name { HTTP_NO_CALLER, HTTP_USER_NAME, HTTP_DO_AS };

/** Whether a decoded name is user.name or doAs, in any case of letters. Thread: any. Source: Knox, Hadoop's AuthenticationFilter. */
enum http_caller_name http_params_caller_name(const char *name);
/**
 * Copy a table and read its defaults.
 *
 * @param set        {0}; http_params_fini releases                                 [out]
 * @param rows       ended by a name NULL; NULL: none; a default out of range is a BUG   [borrowed while set lives]
 * @param is_strict  see struct http_param_set
 * @param options    of the program; NULL only when no row names one                [borrowed]
 * Thread: any.   Source: ours.
 */
void http_params_init(struct http_param_set *set, const struct http_param *rows, bool is_strict,
                      const struct options *options);
/** Value of the option that a row names by its key; a key that the program does not have is a BUG.
 *  @param options  of the program [borrowed] @param key  of a row [borrowed] Thread: any. Source: ours. */
int64_t http_param_option(const struct options *options, const char *key);
/** Release; it is empty afterwards. @param set  of http_params_init [in,out] Thread: any. Source: ours. */
void http_params_fini(struct http_param_set *set);
/**
 * Split a query into decoded names and values ('+' is a blank).
 *
 * @param arena  takes the pairs and their texts                                    [in,out]
 * @param query  raw text behind the '?'; NULL: none                                [borrowed]
 * @param out    first pair; NULL: none                                             [out]
 * @param why    filled on failure; where is the raw name                           [out]
 * @return 0; ERR_USAGE: a malformed escape, a NUL, or no UTF-8; *out unspecified.
 * Thread: any.   Source: WHATWG URL, application/x-www-form-urlencoded.
 */
int http_params_split(struct arena *arena, const char *query, struct http_pair **out, struct err_info *why);
/**
 * Read the query of a request by the rows of its route. The first of several parameters of one name counts.
 *
 * @param set    of the route                                                       [borrowed]
 * @param arena  takes the values                                                   [in,out]
 * @param query  pairs; NULL: none                                                  [borrowed, while *out is used]
 * @param out    a value a row; set->defaults for a request without query           [out, borrowed]
 * @param why    filled on failure: where is the name, text names the allowed values   [out]
 * @return 0; ERR_USAGE: a value that its row does not allow, a required one is missing, or, when the set is strict, a
 *         name that no row has, in the same case; the nearest one is named (user.name and doAs, in any case, are always allowed: they name the caller);
 *         *out unchanged.
 * Thread: any.   Source: ours.
 */
int http_params_read(const struct http_param_set *set, struct arena *arena, const struct http_pair *query,
                     const struct http_value **out, struct err_info *why);
/**
 * Append the prose of a row as a sentence: with a capital and a full stop.
 *
 * @param p    a row                                                                [borrowed]
 * @param out  grows                                                                [in,out]
 * Thread: any.   Source: ours.
 */
void http_param_prose(const struct http_param *p, struct buf *out);
/**
 * Append the values that a row allows, to follow the word "send": "an integer from 1 to 10000".
 *
 * @param p    a row                                                                [borrowed]
 * @param out  grows                                                                [in,out]
 * Thread: any.   Source: ours.
 */
void http_param_allowed(const struct http_param *p, struct buf *out);

#endif
