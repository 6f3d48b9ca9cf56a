/** `bobbin registry find`: `find -endpointField.api=…` of Hadoop's design document, and more terms. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/obj.h"
#include "base/str.h"
#include "kit/commands.h"
#include "json/json.h"
#include "kit/out.h"
#include "registry.h"
#include "kit/wait.h"

#define TIMEOUT_MS 10000

static void add_percent(struct buf *out, const char *text)
{
    for (; *text; text++) {
        if (strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~", *text))
            buf_add_char(out, *text);
        else
            buf_addf(out, "%%%02X", (unsigned char)*text);
    }
}

static void add_term(struct buf *query, const char *name, const char *value)
{
    buf_add_char(query, query->len ? '&' : '?');
    add_percent(query, name);
    buf_add_char(query, '=');
    add_percent(query, value);
}

/* Whether this can be looked for. A server passes over parameters that it does not know, and would find too much. */
static bool is_term(const char *name)
{
    static const char *const names[] = {"api",
                                        "protocol",
                                        "user",
                                        "class",
                                        "component",
                                        "id",
                                        "endpointField.api",
                                        "endpointField.protocol",
                                        "endpointField.protocolType"};
    size_t i = 0;
    while (i < ARRAY_LEN(names) && strcmp(names[i], name) != 0)
        i++;
    return i < ARRAY_LEN(names);
}

/* Whether an operand before the i-th is about the same term: a server looks at the first only. */
static bool is_repeated(const struct cli *cli, size_t i, size_t name_len)
{
    size_t k = 0;
    while (k < i && strncmp(cli->operands[k], cli->operands[i], name_len + 1) != 0)
        k++;
    return k < i;
}

/* The terms of the command line as a query. @return 0; ERR_USAGE. */
static int read_terms(const struct cli *cli, struct buf *query, struct err_info *why)
{
    if (cli_has(cli, CLI_FIELD_API))
        add_term(query, "endpointField.api", cli_value(cli, CLI_FIELD_API));
    if (cli_has(cli, CLI_FIELD_PROTOCOL))
        add_term(query, "endpointField.protocolType", cli_value(cli, CLI_FIELD_PROTOCOL));
    for (size_t i = 0; i < cli->n_operands; i++) {
        const char *equals = strchr(cli->operands[i], '=');
        mem_auto char *name = mem_strn(cli->operands[i], equals ? (size_t)(equals - cli->operands[i]) : 0);
        if (!is_term(name))
            return err_set(why, ERR_USAGE, cli->operands[i],
                           "no TERM=VALUE (terms: api, protocol, user, class, component, id)");
        if (is_repeated(cli, i, strlen(name)))
            return err_set(why, ERR_USAGE, cli->operands[i], "%s is given twice", name);
        add_term(query, name, equals + 1);
    }
    if (!query->len)
        return err_set(why, ERR_USAGE, "find", "a term is missing: -endpointField.api=API or TERM=VALUE");
    return 0;
}

/* One page, of the first registryd of the list that can be reached. */
static int ask_page(struct wait *w, const struct reg_options *o, const char *query, int64_t timeout_ms,
                    json_t **page, struct err_info *why)
{
    int err = ERR_UNAVAILABLE;
    for (size_t i = 0; err == ERR_UNAVAILABLE; i++) {
        mem_auto char *base = str_field(o->url, ',', i);
        if (!base || !*base)
            return err;
        size_t len = strlen(base);
        base[len - (base[len - 1] == '/')] = 0;
        mem_auto char *url = mem_fmt("%s/ws/v1/registry-find%s", base, query);
        const struct wire_asked asked = {.url = url, .program = "registryd"};
        struct wait_answer answer = {0};
        err = wait_get(w, &asked, timeout_ms, &answer, why);
        if (!err && json_read(answer.body.bytes, answer.body.len, page, why))
            err = wire_not_readable(&asked, why);
        wait_answer_fini(&answer);
    }
    return err;
}

static void add_row(struct out_table *t, const json_t *record)
{
    const json_t *service = json_object_get(record, "service");
    const char *const members[] = {"yarn:id", "yarn:persistence", "description"};

    out_table_add(t, json_string_value(json_object_get(record, "path")));
    for (size_t i = 0; i < ARRAY_LEN(members); i++)
        out_table_add(t, json_string_value(json_object_get(service, members[i])));
}

/* All pages, one after the other. */
static int ask_all(struct cli *cli, struct wait *w, const char *terms, json_t *found, struct err_info *why)
{
    struct reg_options o;
    int64_t timeout_ms;
    mem_auto char *cursor = NULL;
    int err = registry_options(cli, &o, why);
    err = err ? err : cli_timeout_ms(cli, TIMEOUT_MS, &timeout_ms, why);
    while (!err) {
        json_auto json_t *page = NULL;
        buf_auto struct buf query = BUF_EMPTY;
        buf_add_str(&query, terms);
        if (cursor)
            add_term(&query, "cursor", cursor);
        err = ask_page(w, &o, buf_cstr(&query), timeout_ms, &page, why);
        if (err)
            break;
        json_array_extend(found, json_object_get(page, "records"));
        free(cursor);
        cursor = mem_str(json_string_value(json_object_get(page, "cursor")));
        if (!cursor)
            break;
    }
    return err;
}

int registry_find(struct cli *cli, struct err_info *why)
{
    struct wait w;
    buf_auto struct buf terms = BUF_EMPTY;
    json_auto json_t *found = json_array();
    int err = read_terms(cli, &terms, why);
    if (err)
        return err;
    wait_open(&w);
    wait_sign_in(&w, cli);
    err = ask_all(cli, &w, buf_cstr(&terms), found, why);
    wait_close(&w);
    if (err)
        return err;
    if (cli->is_json) {
        out_json(found);
        return 0;
    }
    struct out_table t;
    out_table_begin(&t, (const char *const[]){"PATH", "ID", "PERSISTENCE", "DESCRIPTION", NULL});
    for (size_t i = 0; i < json_array_size(found); i++)
        add_row(&t, json_array_get(found, i));
    out_table_print(&t);
    return 0;
}
