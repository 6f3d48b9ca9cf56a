#include "index/terms.h"
#include "base/mem.h"
#include "base/str.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/** Numbers in the longest id: container_e17_1_2_3_4. */
#define ID_NUMBERS 5

/* ---- ids ---- */

/* "1_22_333" as numbers. @return how many, 0 when it is anything else. */
static size_t read_numbers(const char *text, int64_t numbers[ID_NUMBERS])
{
    size_t n = 0;
    while (n < ID_NUMBERS) {
        size_t digits = strspn(text, "0123456789");
        mem_auto char *number = mem_strn(text, digits);
        if (str_to_i64(number, 0, INT64_MAX, &numbers[n]))
            return 0;
        n++;
        if (!text[digits])
            return n;
        if (text[digits] != '_')
            return 0;
        text += digits + 1;
    }
    return 0;
}

/* The numbers after "application_", "appattempt_" or "container_[e17_]". @return how many, 0 for another text. */
static size_t read_id(const char *id, int64_t numbers[ID_NUMBERS])
{
    static const struct {
        const char *prefix;
        size_t n_numbers;
    } forms[] = {{"application_", 2}, {"appattempt_", 3}, {"container_", 4}};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        size_t len = strlen(forms[i].prefix);
        if (strncmp(id, forms[i].prefix, len) != 0)
            continue;
        const char *rest = id + len;
        if (forms[i].n_numbers == 4 && rest[0] == 'e' && strchr(rest, '_'))
            rest = strchr(rest, '_') + 1;
        return read_numbers(rest, numbers) == forms[i].n_numbers ? forms[i].n_numbers : 0;
    }
    return 0;
}

char *index_app_of(const char *yarn_id)
{
    int64_t n[ID_NUMBERS];
    if (!read_id(yarn_id, n))
        return NULL;
    return mem_fmt("application_%" PRId64 "_%04" PRId64, n[0], n[1]);
}

char *index_attempt_of(const char *container_id)
{
    int64_t n[ID_NUMBERS];
    if (read_id(container_id, n) != 4)
        return NULL;
    return mem_fmt("appattempt_%" PRId64 "_%04" PRId64 "_%06" PRId64, n[0], n[1], n[2]);
}

int64_t index_attempt_number(const char *attempt_id)
{
    int64_t n[ID_NUMBERS];
    return read_id(attempt_id, n) == 3 ? n[2] : -1;
}

int64_t index_cluster_time(const char *yarn_id)
{
    int64_t n[ID_NUMBERS];
    return read_id(yarn_id, n) ? n[0] : -1;
}

enum index_persistence index_persistence_of_id(const char *yarn_id)
{
    int64_t n[ID_NUMBERS];
    switch (read_id(yarn_id, n)) {
    case 2: return INDEX_APPLICATION;
    case 3: return INDEX_ATTEMPT;
    case 4: return INDEX_CONTAINER;
    default: return INDEX_OTHER;
    }
}

static const char *const persistence_texts[] = {[INDEX_OTHER] = "",
                                                [INDEX_APPLICATION] = "application",
                                                [INDEX_ATTEMPT] = "application-attempt",
                                                [INDEX_CONTAINER] = "container"};

enum index_persistence index_persistence_read(const char *text)
{
    if (!text)
        return INDEX_OTHER;
    if (strcmp(text, "application_attempt") == 0)
        return INDEX_ATTEMPT;
    for (int p = INDEX_APPLICATION; p <= INDEX_CONTAINER; p++)
        if (strcmp(text, persistence_texts[p]) == 0)
            return (enum index_persistence)p;
    return INDEX_OTHER;
}

const char *index_persistence_text(enum index_persistence persistence)
{
    return persistence_texts[persistence];
}

/* ---- terms ---- */

const char *index_protocol(const char *protocol)
{
    if (strcmp(protocol, "web") == 0)
        return "webui";
    return strcmp(protocol, "rmi") == 0 ? "RMI" : protocol;
}

char *index_pair(const char *api, const char *protocol)
{
    /* A line feed stands in no URI. */
    return mem_fmt("%s\n%s", api, protocol);
}

static void add(struct index_terms *terms, enum index_kind kind, char *take_text)
{
    if (!take_text)
        return;
    for (size_t i = 0; i < terms->n_items; i++) {
        if (terms->items[i].kind == kind && strcmp(terms->items[i].text, take_text) == 0) {
            free(take_text);
            return;
        }
    }
    terms->items = mem_resize(terms->items, terms->n_items + 1, sizeof *terms->items);
    terms->items[terms->n_items++] = (struct index_term){kind, take_text};
}

/* Copy of the n-th path element (from 0), or NULL. */
static char *element(const char *path, size_t n)
{
    const char *at = path + 1;
    for (; n && *at; n--) {
        at = strchrnul(at, '/');
        at += *at == '/';
    }
    return *at ? mem_strn(at, strcspn(at, "/")) : NULL;
}

static void add_path(struct index_terms *terms, const char *path)
{
    if (!str_starts(path, "/users/"))
        return;
    add(terms, INDEX_USER, element(path, 1));
    mem_auto char *third = element(path, 2);
    if (!third)
        return;
    bool is_area = strcmp(third, "services") == 0 || strcmp(third, "applications") == 0;
    size_t at = is_area ? 3 : 2;
    mem_auto char *instance = element(path, at + 1);
    if (instance)
        add(terms, INDEX_CLASS, element(path, at));
}

static void add_endpoints(struct index_terms *terms, const struct reg_endpoints *list)
{
    for (size_t i = 0; i < list->n_items; i++) {
        const struct reg_endpoint *e = &list->items[i];
        const char *protocol = index_protocol(e->protocol_type);
        add(terms, INDEX_API, mem_str(e->api));
        add(terms, INDEX_PROTOCOL, mem_str(protocol));
        add(terms, INDEX_API_PROTOCOL, index_pair(e->api, protocol));
    }
}

void index_terms_read(const char *path, const struct reg_record *record, struct index_terms *out)
{
    const char *id = reg_record_get(record, "yarn:id");
    *out = (struct index_terms){.persistence =
                                    index_persistence_read(reg_record_get(record, "yarn:persistence"))};
    if (id && *id)
        add(out, INDEX_ID, mem_str(id));
    if (id && out->persistence != INDEX_OTHER)
        add(out, INDEX_APP, index_app_of(id));
    add(out, INDEX_COMPONENT, mem_str(reg_record_get(record, "yarn:component")));
    add_path(out, path);
    add_endpoints(out, &record->external);
    add_endpoints(out, &record->internal);
}

void index_terms_fini(struct index_terms *terms)
{
    for (size_t i = 0; i < terms->n_items; i++)
        free(terms->items[i].text);
    free(terms->items);
    *terms = (struct index_terms){0};
}
