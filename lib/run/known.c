#include "run/known.h"
#include "base/nearest.h"
#include "base/obj.h"
#include "base/str.h"

#include <string.h>

#define KNOWN_MAGIC OBJ_MAGIC('K', 'N', 'W', 'N')

struct known_search {
    struct obj obj;
    const struct options *options;
    const struct known_keys *const *known;
    bool is_strict;
    struct opt_report *report;
};

static bool is_listed(const char *const *names, const char *key)
{
    for (; *names; names++)
        if (strcmp(*names, key) == 0)
            return true;
    return false;
}

/* The rest of a key of a family must not be empty. */
static bool is_of_family(const char *const *families, const char *key)
{
    for (; *families; families++)
        if (str_starts(key, *families) && key[strlen(*families)])
            return true;
    return false;
}

static bool is_known(const struct known_search *s, const char *key)
{
    for (size_t i = 0; s->known[i]; i++)
        if (is_listed(s->known[i]->names, key) || is_of_family(s->known[i]->families, key))
            return true;
    return false;
}

static const char *nearest_key(const struct known_search *s, const char *key)
{
    struct nearest n = nearest_to(key);
    for (size_t i = 0; s->known[i]; i++)
        for (const char *const *name = s->known[i]->names; *name; name++)
            nearest_offer(&n, *name);
    return n.name;
}

static void on_key(void *arg, const char *key, const char *text)
{
    const struct known_search *s = obj_cast(arg, struct known_search, KNOWN_MAGIC);
    struct err_info why;
    (void)text;
    if (is_known(s, key))
        return;
    const char *meant = nearest_key(s, key);
    if (meant)
        err_set(&why, ERR_CONFIG, key, "no such key; did you mean %s?", meant);
    else
        err_set(&why, ERR_CONFIG, key, "no such key; --show-defaults lists them");
    if (s->is_strict || strcmp(opt_other_origin(s->options, key), "-D") == 0)
        opt_error(s->options, key, &why, s->report);
    else
        opt_warning(s->options, key, &why, s->report);
}

void known_check(const struct options *o, const struct known_keys *const *known, bool is_strict,
                 struct opt_report *report)
{
    struct known_search search = {{KNOWN_MAGIC}, o, known, is_strict, report};
    for (size_t i = 0; known[i]; i++)
        for (const char *const *prefix = known[i]->prefixes; *prefix; prefix++)
            opt_each_other(o, *prefix, on_key, &search);
}
