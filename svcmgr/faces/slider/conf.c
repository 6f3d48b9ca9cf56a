#include "slider/conf.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "json/json.h"
#include "json/scan.h"

#define DEPTH_MAX    64
#define CENTURY_S    ((int64_t)100 * 365 * 24 * 60 * 60)
#define POINTER_MAX  256
#define COUNTER_BASE "yarn.component.instances."

/** The counters that live/resources adds to a tree; a tree that is put back is read without them. Source: slider-am 6.2. */
static const char *const counters[] = {COUNTER_BASE "requesting", COUNTER_BASE "actual",
                                       COUNTER_BASE "releasing",  COUNTER_BASE "failed",
                                       COUNTER_BASE "completed",  COUNTER_BASE "started"};

/* ---- any value ---- */

static json_t *read_value(struct js *s, enum js_token t);

static json_t *read_object(struct js *s)
{
    json_auto json_t *o = json_object();
    for (enum js_token t = js_next(s); t != JS_OBJECT_END; t = js_next(s)) {
        if (t != JS_KEY)
            return NULL;
        mem_auto char *key = mem_strn(s->text.bytes ? s->text.bytes : "", s->text.len);
        json_t *value = read_value(s, js_next(s));
        if (!value || json_object_set_new(o, key, value))
            return NULL;
    }
    return json_incref(o);
}

static json_t *read_array(struct js *s)
{
    json_auto json_t *a = json_array();
    for (enum js_token t = js_next(s); t != JS_ARRAY_END; t = js_next(s)) {
        json_t *value = read_value(s, t);
        if (!value || json_array_append_new(a, value))
            return NULL;
    }
    return json_incref(a);
}

/** The value that begins with a token; NULL: malformed, s->why says where, or text that no JSON tree can hold. */
static json_t *read_value(struct js *s, enum js_token t)
{
    switch (t) {
    case JS_OBJECT: return read_object(s);
    case JS_ARRAY: return read_array(s);
    case JS_STRING: return json_stringn(s->text.bytes ? s->text.bytes : "", s->text.len);
    case JS_INTEGER: return json_integer(strtoll(s->text.bytes, NULL, 10));
    case JS_REAL: return json_real(strtod(s->text.bytes, NULL));
    case JS_TRUE: return json_true();
    case JS_FALSE: return json_false();
    case JS_NULL: return json_null();
    case JS_KEY:
    case JS_OBJECT_END:
    case JS_ARRAY_END:
    case JS_END:
    case JS_ERROR: break;
    }
    return NULL;
}

/** What the scanner says is wrong; where it says nothing a text could not be kept. */
static int malformed(const struct js *s, struct err_info *why)
{
    if (!s->why.code)
        return err_set(why, ERR_JSON, NULL, "a text is not UTF-8, or a name in it holds a NUL");
    return err_set(why, ERR_JSON, s->why.where, "%s", s->why.text);
}

/* ---- members of a tree ---- */

static bool is_counter(const char *option)
{
    for (size_t i = 0; i < sizeof counters / sizeof *counters; i++) {
        if (strcmp(option, counters[i]) == 0)
            return true;
    }
    return false;
}

static const char *type_word(enum js_token t)
{
    switch (t) {
    case JS_OBJECT: return "an object";
    case JS_ARRAY: return "an array";
    case JS_NULL: return "null";
    default: return "another value";
    }
}

/**
 * Begin an object; anything else is refused at its place.
 *
 * @return 0; ERR_JSON
 */
static int open_object(struct js *s, const char *where, struct err_info *why)
{
    enum js_token t = js_next(s);
    if (t == JS_ERROR)
        return malformed(s, why);
    if (t != JS_OBJECT)
        return err_set(why, ERR_JSON, where, "must be an object, it is %s", type_word(t));
    return 0;
}

/** Text of an option: of a string itself, of a number or a boolean as it was written; NULL: another value. free() */
static char *option_text(struct js *s, enum js_token t)
{
    switch (t) {
    case JS_STRING:
    case JS_INTEGER:
    case JS_REAL: return mem_strn(s->text.bytes ? s->text.bytes : "", s->text.len);
    case JS_TRUE: return mem_str("true");
    case JS_FALSE: return mem_str("false");
    default: return NULL;
    }
}

/** Options, which begin with the next token, without counters. */
static int read_options(struct js *s, const char *where, json_t **out, struct err_info *why)
{
    json_auto json_t *options = json_object();
    int rc = open_object(s, where, why);
    enum js_token t;
    while (rc == 0 && (t = js_next(s)) != JS_OBJECT_END) {
        if (t != JS_KEY)
            return malformed(s, why);
        mem_auto char *key = mem_strn(s->text.bytes ? s->text.bytes : "", s->text.len);
        t = js_next(s);
        if (t == JS_ERROR)
            return malformed(s, why);
        mem_auto char *text = option_text(s, t);
        mem_auto char *place = mem_fmt("%s/%.*s", where, POINTER_MAX, key);
        if (!text)
            return err_set(why, ERR_JSON, place, "an option must be a text, it is %s", type_word(t));
        if (is_counter(key))
            continue;
        if (json_object_set_new(options, key, json_string(text)))
            return err_set(why, ERR_JSON, place, "an option must be UTF-8");
        if (json_object_size(options) > SLIDER_OPTIONS_MAX)
            return err_set(why, ERR_INVALID, where, "at most %d options are allowed", SLIDER_OPTIONS_MAX);
    }
    if (rc == 0)
        *out = json_incref(options);
    return rc;
}

static int read_components(struct js *s, json_t **out, struct err_info *why)
{
    json_auto json_t *components = json_object();
    int rc = open_object(s, "/components", why);
    enum js_token t;
    while (rc == 0 && (t = js_next(s)) != JS_OBJECT_END) {
        if (t != JS_KEY)
            return malformed(s, why);
        mem_auto char *name = mem_strn(s->text.bytes ? s->text.bytes : "", s->text.len);
        mem_auto char *place = mem_fmt("/components/%.*s", POINTER_MAX, name);
        json_t *options = NULL;
        rc = read_options(s, place, &options, why);
        if (rc == 0 && json_object_set_new(components, name, options))
            rc = err_set(why, ERR_JSON, place, "a name must be UTF-8");
        if (rc == 0 && json_object_size(components) > SLIDER_COMPONENTS_MAX)
            rc = err_set(why, ERR_INVALID, "/components", "at most %d components are allowed",
                         SLIDER_COMPONENTS_MAX);
    }
    if (rc == 0)
        *out = json_incref(components);
    return rc;
}

/** URIs, each with the names of the credentials that are wanted there. */
static bool are_credentials(const json_t *value)
{
    const char *uri;
    json_t *aliases, *alias;
    size_t i;
    if (!json_is_object(value))
        return false;
    json_object_foreach((json_t *)(uintptr_t)value, uri, aliases)
    {
        if (!json_is_array(aliases))
            return false;
        json_array_foreach(aliases, i, alias)
        {
            if (!json_is_string(alias))
                return false;
        }
    }
    return true;
}

/** A member that is kept as it is. */
static int read_plain(struct js *s, const char *name, json_t **out, struct err_info *why)
{
    json_auto json_t *value = read_value(s, js_next(s));
    mem_auto char *place = mem_fmt("/%s", name);
    if (!value)
        return malformed(s, why);
    if (strcmp(name, "schema") == 0 && !json_is_string(value))
        return err_set(why, ERR_JSON, place, "must be a text");
    if (strcmp(name, "metadata") == 0 && !json_is_object(value))
        return err_set(why, ERR_JSON, place, "must be an object");
    if (strcmp(name, "credentials") == 0 && !are_credentials(value))
        return err_set(why, ERR_JSON, place, "must be an object of arrays of texts");
    *out = json_incref(value);
    return 0;
}

/** One member; what no tree has is passed over. @param tree  takes it [in,out] */
static int read_member(struct js *s, json_t *tree, struct err_info *why)
{
    mem_auto char *name = mem_strn(s->text.bytes ? s->text.bytes : "", s->text.len);
    json_t *value = NULL;
    int rc;
    if (!json_object_get(tree, name))
        return js_skip(s) ? malformed(s, why) : 0;
    if (strcmp(name, "components") == 0)
        rc = read_components(s, &value, why);
    else if (strcmp(name, "global") == 0)
        rc = read_options(s, "/global", &value, why);
    else
        rc = read_plain(s, name, &value, why);
    if (rc == 0)
        json_object_set_new(tree, name, value);
    return rc;
}

json_t *slider_conf_new(void)
{
    return json_pack("{s:s, s:{}, s:{}, s:{}, s:{}}", "schema", SLIDER_SCHEMA, "metadata", "global",
                     "credentials", "components");
}

static int read_tree(struct js *s, json_t *tree, struct err_info *why)
{
    int rc = open_object(s, NULL, why);
    enum js_token t;
    while (rc == 0 && (t = js_next(s)) != JS_OBJECT_END)
        rc = t == JS_KEY ? read_member(s, tree, why) : malformed(s, why);
    return rc;
}

int slider_conf_read(const char *bytes, size_t len, json_t **out, struct err_info *why)
{
    json_auto json_t *tree = slider_conf_new();
    struct js s;
    js_init(&s, bytes, len, DEPTH_MAX);
    int rc = read_tree(&s, tree, why);
    js_fini(&s);
    if (rc)
        return rc;
    const char *schema = json_string_value(json_object_get(tree, "schema"));
    if (strcmp(schema, SLIDER_SCHEMA) != 0)
        return err_set(why, ERR_INVALID, "/schema", "must be \"%s\", it is \"%.100s\"", SLIDER_SCHEMA,
                       schema);
    *out = json_incref(tree);
    return 0;
}

/* ---- options ---- */

json_t *slider_conf_resolve(const json_t *tree)
{
    json_t *resolved = json_deep_copy(tree);
    json_t *global = json_object_get(resolved, "global"),
           *components = json_object_get(resolved, "components");
    const char *name;
    json_t *options;
    json_object_foreach(components, name, options) json_object_update_missing(options, global);
    return resolved;
}

void slider_conf_add_components(json_t *tree, const json_t *of)
{
    json_t *components = json_object_get(tree, "components");
    const char *name;
    json_t *options;
    json_object_foreach(json_object_get(of, "components"), name, options)
    {
        if (!json_object_get(components, name))
            json_object_set_new(components, name, json_object());
    }
}

const json_t *slider_conf_component(const json_t *tree, const char *component)
{
    return json_object_get(json_object_get(tree, "components"), component);
}

const char *slider_conf_option(const json_t *tree, const char *component, const char *option)
{
    const json_t *own = component ? slider_conf_component(tree, component) : NULL;
    const char *text = json_string_value(json_object_get(own, option));
    return text ? text : json_string_value(json_object_get(json_object_get(tree, "global"), option));
}

int slider_decode(const char *text, int64_t *out)
{
    const char *digits = text + (*text == '-' || *text == '+');
    int base = 10;
    if (digits[0] == '#') {
        base = 16;
        digits++;
    } else if (strncasecmp(digits, "0x", 2) == 0) {
        base = 16;
        digits += 2;
    } else if (digits[0] == '0' && digits[1]) {
        base = 8;
        digits++;
    }
    if (!isxdigit((unsigned char)*digits) || (base == 16 && strncasecmp(digits, "0x", 2) == 0))
        return ERR_PARSE; /* strtoll takes blanks, a sign or a prefix here */
    mem_auto char *number = mem_fmt("%s%s", *text == '-' ? "-" : "", digits);
    char *end;
    errno = 0;
    long long value = strtoll(number, &end, base);
    if (errno || *end)
        return ERR_PARSE;
    *out = value;
    return 0;
}

/** What an option is called in an error: its place in the tree. */
static void option_place(char *out, size_t room, const char *component, const char *option)
{
    if (component)
        snprintf(out, room, "/components/%s/%s", component, option);
    else
        snprintf(out, room, "/global/%s", option);
}

int slider_conf_int(const json_t *tree, const char *component, const char *option, int64_t def, int64_t *out,
                    struct err_info *why)
{
    const char *text = slider_conf_option(tree, component, option);
    char place[sizeof why->where];
    if (!text)
        *out = def;
    if (!text || slider_decode(text, out) == 0)
        return 0;
    option_place(place, sizeof place, component, option);
    return err_set(why, ERR_INVALID, place, "must be an integer, it is \"%.100s\"", text);
}

bool slider_conf_bool(const json_t *tree, const char *component, const char *option, bool def)
{
    const char *text = slider_conf_option(tree, component, option);
    return text ? strcasecmp(text, "true") == 0 : def;
}

int slider_conf_span(const json_t *tree, const char *component, const char *base, int64_t def_s, int64_t *out,
                     struct err_info *why)
{
    static const struct {
        const char *unit;
        int64_t s;
    } parts[] = {{"days", 86400}, {"hours", 3600}, {"minutes", 60}, {"seconds", 1}};
    int64_t sum = 0;
    bool is_given = false;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        mem_auto char *option = mem_fmt("%s.%s", base, parts[i].unit);
        char place[sizeof why->where];
        int64_t n = 0;
        if (!slider_conf_option(tree, component, option))
            continue;
        is_given = true;
        int rc = slider_conf_int(tree, component, option, 0, &n, why);
        if (rc)
            return rc;
        option_place(place, sizeof place, component, option);
        if (n < 0)
            return err_set(why, ERR_INVALID, place, "must not be negative, it is %" PRId64, n);
        if (n > (CENTURY_S - sum) / parts[i].s)
            return err_set(why, ERR_INVALID, place, "with the parts before it is more than a hundred years");
        sum += n * parts[i].s;
    }
    *out = is_given ? sum : def_s;
    return 0;
}
