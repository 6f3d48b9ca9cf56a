/** The table of properties and its check: see properties.h. */
#include "spec/properties.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/nearest.h"
#include "base/obj.h"
#include "base/str.h"
#include "spec/check.h"

#define ENGINE_PREFIX "yarn.service."

#define ROW(token, key, use, type, def, least, most, prose)                                                  \
    [token] = {key, SPEC_PROP_##use, SPEC_PROP_##type, def, least, most, prose},
const struct spec_prop_row spec_props[N_SPEC_PROPS] = {SPEC_PROPS(ROW)};

static const char *text_of(const struct spec_component *c, enum spec_prop prop)
{
    const char *value =
        json_string_value(json_object_get(c->configuration->properties, spec_props[prop].key));
    return value && value[0] ? value : spec_props[prop].def;
}

int64_t spec_prop_int(const struct spec_component *c, enum spec_prop prop, int64_t def)
{
    int64_t value;
    return str_to_i64(text_of(c, prop), -SPEC_PROP_MOST, SPEC_PROP_MOST, &value) == 0 ? value : def;
}

bool spec_prop_bool(const struct spec_component *c, enum spec_prop prop)
{
    return strcmp(text_of(c, prop), "true") == 0;
}

char *spec_pointer(const char *pointer, const char *key)
{
    struct buf out = BUF_EMPTY;
    buf_addf(&out, "%s/", pointer);
    for (; *key; key++) {
        if (*key == '~' || *key == '/')
            buf_add_str(&out, *key == '~' ? "~0" : "~1");
        else
            buf_add_char(&out, *key);
    }
    return buf_take(&out);
}

static const struct spec_prop_row *row_of(const char *key)
{
    for (size_t i = 0; i < N_SPEC_PROPS; i++) {
        if (strcmp(spec_props[i].key, key) == 0)
            return &spec_props[i];
    }
    return NULL;
}

static int check_value(const struct spec_prop_row *row, const char *value, const char *where,
                       struct err_info *why)
{
    int64_t n;
    bool is_bool = strcmp(value, "true") == 0 || strcmp(value, "false") == 0;
    if (row->use == SPEC_PROP_REFUSED)
        return SPEC_REFUSE(why, "%s: a service cannot set this; %s", where, row->prose);
    if (!value[0])
        return 0; /* the default */
    if (row->type == SPEC_PROP_BOOL && !is_bool)
        return SPEC_REFUSE(why, "%s: %s is neither true nor false", where, value);
    if (row->type == SPEC_PROP_INT && str_to_i64(value, row->least, row->most, &n))
        return SPEC_REFUSE(why, "%s: %s is no whole number from %lld to %lld", where, value,
                           (long long)row->least, (long long)row->most);
    return 0;
}

/** The number of a map's property, def when it has none. */
static int64_t number_in(const json_t *properties, enum spec_prop prop, int64_t def)
{
    const char *text = json_string_value(json_object_get(properties, spec_props[prop].key));
    int64_t value;
    return text && str_to_i64(text, INT64_MIN, INT64_MAX, &value) == 0 ? value : def;
}

static int check_retry(const json_t *properties, const char *pointer, struct err_info *why)
{
    int64_t validity = number_in(properties, PROP_RETRY_VALIDITY, -1);
    int64_t other = number_in(properties, PROP_RETRY_VALIDITY_LONG, -1);
    if ((validity <= 0 && other <= 0) || number_in(properties, PROP_RETRY_MAX, -1) <= SPEC_RETRY_TIMES_MAX)
        return 0;
    mem_auto char *where = spec_pointer(pointer, spec_props[PROP_RETRY_MAX].key);
    return SPEC_REFUSE(why, "%s: more than %d together with a validity interval is not supported; use -1",
                       where, SPEC_RETRY_TIMES_MAX);
}

static const char *nearest_property(const char *key)
{
    struct nearest n = nearest_to(key);
    for (size_t i = 0; i < N_SPEC_PROPS; i++)
        nearest_offer(&n, spec_props[i].key);
    return n.name;
}

int spec_check_properties(const json_t *properties, const char *pointer, struct err_info *why)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)properties, key, value)
    {
        const struct spec_prop_row *row = row_of(key);
        mem_auto char *where = spec_pointer(pointer, key);
        if (!row && str_starts(key, ENGINE_PREFIX)) {
            const char *nearest = nearest_property(key);
            return SPEC_REFUSE(why, "%s: there is no such property of a service; remove or correct it%s%s%s",
                               where, nearest ? ", did you mean \"" : "", nearest ? nearest : "",
                               nearest ? "\"?" : "");
        }
        int rc = row ? check_value(row, json_string_value(value), where, why) : 0;
        if (rc)
            return rc;
    }
    return check_retry(properties, pointer, why);
}
