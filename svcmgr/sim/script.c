#include "sim/script.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "spec/needs.h"

#define SIM_GPU           "yarn.io/gpu"
#define DEFAULT_NODES     100
#define DEFAULT_MEMORY_MB 131072
#define DEFAULT_VCORES    64
#define PERCENT_PPM       (SIM_PPM / 100)
#define FRACTION_DIGITS   4
#define SPAN_MAX_MS       ((int64_t)1 << 42)
#define VALUE_MAX         255

/** A statement while it is read. */
struct reader {
    struct sim_script *script;
    size_t number; /* of the statement, from 1 */
    char *words;   /* what is left of it */
    struct err_info *why;
    int err;
};

static int refuse(struct reader *r, const char *word, const char *what)
{
    r->err = err_set(r->why, ERR_CONFIG, word, "Statement %zu, \"%.100s\": %s.", r->number, word, what);
    return r->err;
}

static char *next_word(struct reader *r)
{
    char *word = r->words + strspn(r->words, " \t\r");
    size_t len = strcspn(word, " \t\r");

    r->words = word + len + (word[len] != '\0');
    word[len] = '\0';
    return *word ? word : NULL;
}

/** The value of "key=value"; NULL: the word has another key. */
static char *value_of(char *word, const char *key)
{
    size_t n = strlen(key);

    return strncmp(word, key, n) == 0 && word[n] == '=' ? word + n + 1 : NULL;
}

/* ---- values ---- */

static bool take_int(struct reader *r, char *word, const char *key, int64_t max, int64_t *out)
{
    const char *value = value_of(word, key);

    if (value && str_to_i64(value, 0, max, out))
        refuse(r, word, "no number in the range");
    return value != NULL;
}

static bool take_text(char *word, const char *key, char **out)
{
    const char *value = value_of(word, key);

    if (!value)
        return false;
    free(*out);
    *out = mem_str(value);
    return true;
}

/** "20ms-1s", or one duration for both ends. */
static bool take_span(struct reader *r, char *word, const char *key, struct sim_span *out)
{
    const char *value = value_of(word, key);

    if (!value)
        return false;
    mem_auto char *text = mem_str(value);
    char *dash = strchr(text, '-');
    if (dash)
        *dash = '\0';
    struct sim_span span = {0};
    int err = str_to_ms(text, 1, &span.min_ms);
    span.max_ms = span.min_ms;
    if (!err && dash)
        err = str_to_ms(dash + 1, 1, &span.max_ms);
    if (err || span.min_ms < 0 || span.max_ms < span.min_ms || span.max_ms > SPAN_MAX_MS)
        refuse(r, word, "no duration, and no range of durations");
    else
        *out = span;
    return true;
}

/** "12.5%" with at most four digits behind the point. */
static bool take_share(struct reader *r, char *word, const char *key, int64_t *out)
{
    const char *value = value_of(word, key);
    int64_t whole = 0, fraction = 0;

    if (!value)
        return false;
    mem_auto char *text = mem_str(value);
    size_t len = strlen(text);
    bool is_share = len > 1 && text[len - 1] == '%';
    if (is_share)
        text[len - 1] = '\0';
    char *point = strchr(text, '.');
    if (point)
        *point = '\0';
    mem_auto char *digits = mem_fmt("%.*s0000", FRACTION_DIGITS, point ? point + 1 : "");
    digits[FRACTION_DIGITS] = '\0';
    bool is_exact = !point || strlen(point + 1) <= FRACTION_DIGITS;
    if (!is_share || !is_exact || str_to_i64(text, 0, 100, &whole) ||
        str_to_i64(digits, 0, PERCENT_PPM - 1, &fraction) || whole * PERCENT_PPM + fraction > SIM_PPM)
        refuse(r, word, "no percentage from 0% to 100%");
    else
        *out = whole * PERCENT_PPM + fraction;
    return true;
}

/** A resource type of the script, added if need be. @return SIM_TYPES_MAX: there are too many */
static size_t take_type(struct sim_script *s, const char *type)
{
    for (size_t i = 0; i < s->n_types; i++) {
        if (strcmp(s->types[i], type) == 0)
            return i;
    }
    if (s->n_types == SIM_TYPES_MAX)
        return SIM_TYPES_MAX;
    s->types[s->n_types] = mem_str(type);
    return s->n_types++;
}

static bool add_amount(struct reader *r, struct sim_group *g, const char *type, const char *text)
{
    int64_t n = spec_amount_read(text);
    size_t i = n < 0 ? SIM_TYPES_MAX : take_type(r->script, type);

    if (i < SIM_TYPES_MAX)
        g->amounts[i] = n;
    return i < SIM_TYPES_MAX;
}

static bool add_attribute(struct reader *r, struct sim_group *g, const char *name, const char *text)
{
    (void)r;
    if (!g->attributes)
        g->attributes = json_object();
    return json_object_set_new(g->attributes, name, json_string(text)) == 0;
}

/** "key=name:value,name:value" */
static bool take_pairs(struct reader *r, char *word, const char *key, struct sim_group *g,
                       bool (*add)(struct reader *r, struct sim_group *g, const char *name, const char *text))
{
    const char *value = value_of(word, key);

    if (!value)
        return false;
    mem_auto char *text = mem_str(value);
    char *rest = text, *pair;
    while (!r->err && (pair = strsep(&rest, ","))) {
        char *colon = strchr(pair, ':');
        if (colon)
            *colon = '\0';
        if (!colon || colon == pair || !add(r, g, pair, colon + 1))
            refuse(r, word, "pairs NAME:VALUE with commas between them, of resources 8 types at most");
    }
    return true;
}

/* ---- statements ---- */

static void read_nodes(struct reader *r)
{
    struct sim_script *s = r->script;
    char *word = next_word(r);

    if (s->n_groups == SIM_GROUPS_MAX) {
        refuse(r, "nodes", "too many groups of nodes");
        return;
    }
    struct sim_group *g = &s->groups[s->n_groups++];
    *g = (struct sim_group){.memory_mb = DEFAULT_MEMORY_MB, .vcores = DEFAULT_VCORES};
    if (!word || str_to_i64(word, 1, SIM_NODES_MAX, &g->n)) {
        refuse(r, word ? word : "nodes", "the number of nodes is missing or out of range");
        return;
    }
    while (!r->err && (word = next_word(r))) {
        if (!take_int(r, word, "memory", INT32_MAX, &g->memory_mb) &&
            !take_int(r, word, "vcores", INT32_MAX, &g->vcores) &&
            !take_int(r, word, "gpus", INT32_MAX, &g->amounts[0]) && !take_text(word, "label", &g->label) &&
            !take_text(word, "rack", &g->rack) && !take_pairs(r, word, "attributes", g, add_attribute) &&
            !take_pairs(r, word, "resources", g, add_amount))
            refuse(r, word, "a node has memory, vcores, gpus, resources, label, rack and attributes");
    }
}

static void read_delay(struct reader *r)
{
    struct sim_script *s = r->script;
    char *word;

    while (!r->err && (word = next_word(r))) {
        if (!take_span(r, word, "allocate", &s->allocate) && !take_span(r, word, "start", &s->start) &&
            !take_span(r, word, "stop", &s->stop) && !take_span(r, word, "ready", &s->ready))
            refuse(r, word, "the delays are allocate, start, stop and ready");
    }
}

/** "exit=1", "lost": how it ends. */
static bool take_cause(struct reader *r, char *word, struct sim_end *end)
{
#define CAUSE_WORD(token, text) text,
    static const char *const words[] = {SIM_CAUSES(CAUSE_WORD)};
#undef CAUSE_WORD
    for (size_t i = 0; i < sizeof words / sizeof words[0] && words[i]; i++) {
        int64_t value = 0;
        bool has_value = i == SIM_EXITED || i == SIM_SIGNALLED;
        if (has_value ? !take_int(r, word, words[i], VALUE_MAX, &value) : strcmp(word, words[i]) != 0)
            continue;
        end->cause = (enum sim_cause)i;
        end->value = (int)value;
        return true;
    }
    return false;
}

static void read_end(struct reader *r)
{
    struct sim_script *s = r->script;
    bool has_cause = false;
    char *word;

    if (s->n_ends == SIM_RULES_MAX) {
        refuse(r, "end", "too many of them");
        return;
    }
    struct sim_end *end = &s->ends[s->n_ends++];
    *end = (struct sim_end){.share_ppm = SIM_PPM};
    while (!r->err && (word = next_word(r))) {
        if (take_cause(r, word, end))
            has_cause = true;
        else if (!take_text(word, "of", &end->of) && !take_share(r, word, "share", &end->share_ppm) &&
                 !take_span(r, word, "after", &end->after) &&
                 !take_int(r, word, "attempts", INT32_MAX, &end->attempts))
            refuse(
                r, word,
                "an end has exit=, signal=, launch, memory, preempted or lost; of, share, after, attempts");
    }
    if (!r->err && !has_cause)
        refuse(r, "end", "how it ends is missing");
}

static void read_unready(struct reader *r)
{
    struct sim_script *s = r->script;
    char *word;

    if (s->n_unready == SIM_RULES_MAX) {
        refuse(r, "unready", "too many of them");
        return;
    }
    struct sim_unready *u = &s->unready[s->n_unready++];
    *u = (struct sim_unready){.share_ppm = SIM_PPM};
    while (!r->err && (word = next_word(r))) {
        if (!take_text(word, "of", &u->of) && !take_share(r, word, "share", &u->share_ppm) &&
            !take_span(r, word, "after", &u->after) && !take_span(r, word, "for", &u->lasts))
            refuse(r, word, "a time without readiness has of, share, after and for");
    }
}

static void read_node_failure(struct reader *r)
{
    struct sim_script *s = r->script;
    char *word;

    while (!r->err && (word = next_word(r))) {
        if (!take_span(r, word, "every", &s->failure_every) && !take_span(r, word, "down", &s->failure_lasts))
            refuse(r, word, "a failure of nodes has every and down");
    }
    if (!r->err && s->failure_every.min_ms == 0)
        refuse(r, "node-failure", "the time between two of them, every=, is missing or 0");
}

static void read_answers(struct reader *r)
{
    struct sim_script *s = r->script;
    char *word;

    while (!r->err && (word = next_word(r))) {
        if (!take_share(r, word, "lost", &s->lost_ppm) && !take_share(r, word, "repeated", &s->repeated_ppm))
            refuse(r, word, "answers are lost or repeated");
    }
}

static const struct statement {
    const char *word;
    void (*read)(struct reader *r);
} statements[] = {
    {"nodes", read_nodes},
    {"delay", read_delay},
    {"end", read_end},
    {"unready", read_unready},
    {"node-failure", read_node_failure},
    {"answers", read_answers},
};

static void read_statement(struct reader *r)
{
    char *word = next_word(r);

    if (!word)
        return;
    for (size_t i = 0; i < sizeof statements / sizeof statements[0]; i++) {
        if (strcmp(statements[i].word, word) == 0) {
            statements[i].read(r);
            return;
        }
    }
    refuse(r, word, "the statements are nodes, delay, end, unready, node-failure and answers");
}

int sim_script_read(const char *text, struct sim_script **out, struct err_info *why)
{
    struct sim_script *s = mem_new(struct sim_script);
    struct reader r = {.script = s, .why = why};
    take_type(s, SIM_GPU);
    const char *p = text ? text : "";

    *out = NULL;
    while (*p && !r.err) {
        size_t len = *p == '#' ? 0 : strcspn(p, ";\n#");
        mem_auto char *statement = mem_strn(p, len);
        r.words = statement;
        r.number++;
        read_statement(&r);
        p += len;
        p += *p == '#' ? strcspn(p, "\n") : 0;
        p += *p != '\0';
    }
    if (r.err) {
        sim_script_free(s);
        return r.err;
    }
    if (s->n_groups == 0)
        s->groups[s->n_groups++] =
            (struct sim_group){.n = DEFAULT_NODES, .memory_mb = DEFAULT_MEMORY_MB, .vcores = DEFAULT_VCORES};
    *out = s;
    return 0;
}

void sim_script_free(struct sim_script *script)
{
    if (!script)
        return;
    for (size_t i = 0; i < script->n_groups; i++) {
        free(script->groups[i].label);
        free(script->groups[i].rack);
        json_decref(script->groups[i].attributes);
    }
    for (size_t i = 0; i < script->n_types; i++)
        free(script->types[i]);
    for (size_t i = 0; i < script->n_ends; i++)
        free(script->ends[i].of);
    for (size_t i = 0; i < script->n_unready; i++)
        free(script->unready[i].of);
    free(script);
}

bool sim_rule_is_for(const char *of, const char *instance)
{
    size_t n = of ? strcspn(of, "*") : 0;

    if (!of)
        return true;
    return instance && (of[n] ? strncmp(of, instance, n) == 0 : strcmp(of, instance) == 0);
}
