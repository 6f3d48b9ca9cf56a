/*
 * The query of a request: split, and read by rows of every type. A value that is taken is one that its row allows, and a
 * refusal names its place and says something.
 */
#include "fuzz.h"

#include <string.h>

#include "http/params.h"

#define PARAMS(X)                                                                                            \
    X(P_FLAG, "f", HTTP_BOOL, "false", "A flag.")                                                            \
    X(P_N, "n", HTTP_INT, NULL, "A number.", .min = -5, .max = 1000)                                         \
    X(P_TIME, "t", HTTP_TIME, "1s", "A time.", .max = 60000)                                                 \
    X(P_WORD, "w", HTTP_CHOICE, NULL, "A word.", .choices = "a|bb")                                          \
    X(P_TEXT, "x", HTTP_TEXT, NULL, "A text.")
enum { HTTP_PARAM_IDS(PARAMS) N_PARAMS };

static void check_values(const struct http_value *v)
{
    FUZZ_HOLDS(v[P_FLAG].n == 0 || v[P_FLAG].n == 1);
    FUZZ_HOLDS(!v[P_N].is_given || (v[P_N].n >= -5 && v[P_N].n <= 1000));
    FUZZ_HOLDS(v[P_TIME].n >= 0 && v[P_TIME].n <= 60000);
    FUZZ_HOLDS(v[P_WORD].n == 0 || v[P_WORD].n == 1);
    for (int i = 0; i < N_PARAMS; i++)
        FUZZ_HOLDS(!v[i].is_given || v[i].text);
}

static void read_as(const char *query, bool is_strict)
{
    struct http_param_set set;
    struct http_pair *pairs;
    const struct http_value *values;
    struct err_info why = {0};
    struct arena *arena = arena_new(0);
    http_params_init(&set, HTTP_PARAMS(PARAMS), is_strict, NULL);
    int rc = http_params_split(arena, query, &pairs, &why);
    rc = rc ? rc : http_params_read(&set, arena, pairs, &values, &why);
    if (rc == 0)
        check_values(values);
    else
        FUZZ_HOLDS(rc == ERR_USAGE && why.code == rc && why.text[0]);
    http_params_fini(&set);
    arena_free(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *query = mem_strn((const char *)data, size); /* as a request's target, it ends at the first NUL */
    read_as(query, true);
    read_as(query, false);
    free(query);
    return 0;
}
