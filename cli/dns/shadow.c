/**
 * `bobbin dns shadow`: asks our dnsd ("here") and another server ("there") the same questions and prints the differences.
 *
 * The questions come from dnsd's own zones: for every name the types it has, A and AAAA, and below some names one that does
 * not exist; and from the other server's, where it lets them be transferred. SOA, the NS of a zone and what signing adds are each
 * server's own and are not compared.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/obj.h"
#include "base/str.h"
#include "kit/commands.h"
#include "dns.h"
#include "ask.h"
#include "json/json.h"
#include "kit/options.h"
#include "kit/out.h"
#include "kit/progress.h"
#include "kit/services.h"

#define CALL_TIMEOUT_MS 30000
#define NO_LIMIT_MS     (1000ll * 86400 * 365)
#define MAX_MISSING     10 /* names a zone, that do not exist */
#define MAX_SILENT      5  /* questions one after the other */
#define PROGRESS_EACH   100
#define EXIT_DIFFERENT  1
#define MISSING_NAME    "no-such-name"

struct question {
    char *name, *type;
};

/* The questions, the servers and the differences. */
#define SHADOW_MAGIC OBJ_MAGIC('S', 'H', 'D', 'W')

struct shadow {
    struct obj obj;
    struct question *questions;
    size_t n_questions;
    struct map asked; /* "name type" in lower case -> something */
    char **zones;
    size_t n_zones;
    int64_t max_names; /* a zone; 0: all */
    size_t n_names;    /* all */
    size_t n_left_out; /* beyond max_names */
    char *left_out;    /* the last of them */
    size_t zone_names, zone_missing;
    const char *apex, *owner; /* of the zone and the name that is read; owner is that of the last question */
    bool with_ttl;
    struct dns_server *here, *there;
    unsigned n_silent_here, n_silent_there;
    json_t *differences;
    json_t *transfers; /* of the other server's zones: zone, result, names that only it has */
};

/* ---- questions ---- */

static char *question_key(const char *name, const char *type)
{
    char *key = mem_fmt("%s %s", name, type);

    str_lower(key);
    return key;
}

static bool is_asked(const struct shadow *s, const char *name, const char *type)
{
    mem_auto char *key = question_key(name, type);

    return map_get(&s->asked, key) != NULL;
}

static void add_question(struct shadow *s, const char *name, const char *type)
{
    mem_auto char *key = question_key(name, type);

    map_set(&s->asked, key, s);
    s->questions = mem_resize(s->questions, s->n_questions + 1, sizeof *s->questions);
    s->questions[s->n_questions++] = (struct question){mem_str(name), mem_str(type)};
}

/** Records of which each server has its own. */
static bool is_own(const struct shadow *s, const char *owner, const char *type)
{
    static const char *const types[] = {"RRSIG", "DNSKEY", "NSEC", "NSEC3", "NSEC3PARAM"};

    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        if (strcmp(type, types[i]) == 0)
            return true;
    }
    return strcmp(type, "NS") == 0 && strcasecmp(owner, s->apex) == 0;
}

/** Are there enough names of the zone? Then this one is counted: records of a name follow each other. */
static bool is_left_out(struct shadow *s, const char *owner)
{
    if (!s->max_names || (int64_t)s->zone_names < s->max_names)
        return false;
    if (!s->left_out || strcasecmp(s->left_out, owner) != 0) {
        s->n_left_out++;
        free(s->left_out);
        s->left_out = mem_str(owner);
    }
    return true;
}

/** A name that was not read yet: A, AAAA and perhaps one below it that does not exist. @return false: there are enough */
static bool begin_name(struct shadow *s, const char *owner)
{
    if (is_left_out(s, owner))
        return false;
    s->zone_names++;
    s->n_names++;
    if (s->zone_missing < MAX_MISSING) {
        mem_auto char *name = mem_fmt(MISSING_NAME ".%s", owner);
        s->zone_missing++;
        add_question(s, name, "A");
    }
    add_question(s, owner, "AAAA");
    add_question(s, owner, "A");
    s->owner = s->questions[s->n_questions - 1].name;
    return true;
}

/** The SOA comes first; then records of a name follow each other, and so do those of a type. */
static bool on_record(void *arg, const struct dns_line *line)
{
    struct shadow *s = obj_cast(arg, struct shadow, SHADOW_MAGIC);

    if (strcmp(line->type, "SOA") == 0)
        return false;
    if ((!s->owner || strcasecmp(s->owner, line->owner) != 0) && !begin_name(s, line->owner))
        return false;
    bool is_asked = strcmp(line->type, "A") == 0 || strcmp(line->type, "AAAA") == 0 ||
                    strcmp(line->type, s->questions[s->n_questions - 1].type) == 0;
    if (!is_asked && !is_own(s, line->owner, line->type))
        add_question(s, line->owner, line->type);
    return false;
}

static int read_zone(struct shadow *s, struct dns_client *d, const char *zone, struct err_info *why)
{
    s->zones = mem_resize(s->zones, s->n_zones + 1, sizeof *s->zones);
    s->zones[s->n_zones++] = mem_str(zone);
    s->apex = zone;
    s->owner = NULL;
    s->zone_names = s->zone_missing = 0;
    int err = dns_each_record(d, zone, on_record, s, why);
    s->owner = NULL;
    return err;
}

/** Questions about the zones that the command names, else about all. */
static int collect(struct shadow *s, struct cli *cli, struct dns_client *d, struct err_info *why)
{
    json_auto json_t *doc = NULL;
    size_t i;
    json_t *zone;
    int err = 0;

    if (cli->n_operands == 1)
        err = dns_call(d, "GET", "/zones", &doc, why);
    json_array_foreach(json_object_get(doc, "zones"), i, zone) err =
        err ? err : read_zone(s, d, services_text(zone, "name"), why);
    for (i = 1; i < cli->n_operands && !err; i++)
        err = read_zone(s, d, cli->operands[i], why);
    if (!err && !s->n_questions)
        err = err_set(why, ERR_NOTFOUND, d->url, "dnsd has no names to ask for");
    return err;
}

/* ---- names that only the other server has ---- */

/** A record of the other server's zone: a name or a type that was not to be asked is. */
static void on_theirs(void *arg, const char *owner, const char *type)
{
    struct shadow *s = obj_cast(arg, struct shadow, SHADOW_MAGIC);

    if (strcmp(type, "SOA") == 0 || is_own(s, owner, type) || is_asked(s, owner, type))
        return;
    if (!is_asked(s, owner, "A")) {
        if (is_left_out(s, owner))
            return;
        s->zone_names++;
        s->n_names++;
        add_question(s, owner, "A");
    }
    if (!is_asked(s, owner, type))
        add_question(s, owner, type);
}

/** A server that does not answer for one zone is not asked for the others: each would cost a time-out. */
static void transfer_all(struct shadow *s)
{
    char result[24] = DNS_TRANSFERRED;

    for (size_t i = 0; i < s->n_zones; i++) {
        s->apex = s->zones[i];
        s->zone_names = 0;
        if (strcmp(result, "no answer") != 0)
            dns_transfer(s->there, s->apex, on_theirs, s, result);
        json_t *transfer = json_pack("{s:s, s:s, s:I}", "zone", s->apex, "result", result, "names",
                                     (json_int_t)s->zone_names);
        json_array_append_new(s->transfers, transfer);
    }
}

/* ---- comparing ---- */

static json_t *reply_json(const struct dns_reply *r)
{
    json_t *records = json_array();

    for (size_t i = 0; i < r->n_records; i++)
        json_array_append_new(records, json_string(r->records[i]));
    return json_pack("{s:s, s:o}", "rcode", r->rcode, "records", records);
}

static bool is_same(const struct dns_reply *a, const struct dns_reply *b)
{
    bool same = strcmp(a->rcode, b->rcode) == 0 && a->n_records == b->n_records;

    for (size_t i = 0; same && i < a->n_records; i++)
        same = strcmp(a->records[i], b->records[i]) == 0;
    return same;
}

/** Count missing answers; a server that gives none to MAX_SILENT questions in a row is down. */
static int note_silence(const struct dns_server *server, const struct dns_reply *r, unsigned *n_silent,
                        struct err_info *why)
{
    *n_silent = r->is_silent ? *n_silent + 1 : 0;
    if (*n_silent < MAX_SILENT)
        return 0;
    return err_set(why, ERR_TIMEOUT, dns_server_label(server), "did not answer %d questions in a row",
                   MAX_SILENT);
}

static int compare(struct shadow *s, const struct question *q, struct err_info *why)
{
    struct dns_reply here, there;
    int err = dns_ask(s->here, q->name, q->type, s->with_ttl, &here);

    if (err)
        return err_set(why, err, q->name, "%s: dnsd has a name or a type that ldns cannot ask for", q->type);
    err = dns_ask(s->there, q->name, q->type, s->with_ttl, &there);
    BUG_IF(err != 0);
    if (!is_same(&here, &there)) {
        json_t *difference = json_pack("{s:s, s:s, s:o, s:o}", "name", q->name, "type", q->type, "here",
                                       reply_json(&here), "there", reply_json(&there));
        json_array_append_new(s->differences, difference);
    }
    err = note_silence(s->here, &here, &s->n_silent_here, why);
    err = err ? err : note_silence(s->there, &there, &s->n_silent_there, why);
    dns_reply_fini(&here);
    dns_reply_fini(&there);
    return err;
}

static int compare_all(struct shadow *s, int64_t limit_ms, struct err_info *why)
{
    int64_t end_ms = run_now_ms() + limit_ms;
    struct progress progress;
    int err = 0;

    progress_begin(&progress, false);
    for (size_t i = 0; i < s->n_questions && !err; i++) {
        if (progress.is_terminal && i % PROGRESS_EACH == 0) {
            mem_auto char *text = mem_fmt("asked %zu of %zu questions", i, s->n_questions);
            progress_show(&progress, text);
        }
        err = run_now_ms() < end_ms
                  ? compare(s, &s->questions[i], why)
                  : err_set(why, ERR_TIMEOUT, dns_server_label(s->there),
                            "timed out after %zu of %zu questions (--timeout, --limit)", i, s->n_questions);
    }
    progress_end(&progress, NULL);
    return err;
}

/* ---- report ---- */

static void add_row(struct out_table *t, const json_t *difference, const char *here, const char *there)
{
    out_table_add(t, services_text(difference, "name"));
    out_table_add(t, services_text(difference, "type"));
    out_table_add(t, here);
    out_table_add(t, there);
}

static bool has_text(const json_t *array, const char *text)
{
    size_t i;
    json_t *member;

    json_array_foreach(array, i, member)
    {
        if (strcmp(json_string_value(member), text) == 0)
            return true;
    }
    return false;
}

/** A row for the rcodes, one for each record that only one of them has. */
static void add_rows(struct out_table *t, const json_t *difference)
{
    const json_t *here = json_object_get(difference, "here"), *there = json_object_get(difference, "there");
    const json_t *ours = json_object_get(here, "records"), *theirs = json_object_get(there, "records");
    size_t i;
    json_t *text;

    if (strcmp(services_text(here, "rcode"), services_text(there, "rcode")) != 0)
        add_row(t, difference, services_text(here, "rcode"), services_text(there, "rcode"));
    json_array_foreach(ours, i, text)
    {
        if (!has_text(theirs, json_string_value(text)))
            add_row(t, difference, json_string_value(text), "");
    }
    json_array_foreach(theirs, i, text)
    {
        if (!has_text(ours, json_string_value(text)))
            add_row(t, difference, "", json_string_value(text));
    }
}

/** Say of which zones names that only the other server has could not be looked for. */
static void print_transfers(const struct shadow *s)
{
    size_t i;
    json_t *transfer;

    json_array_foreach(s->transfers, i, transfer)
    {
        const char *result = services_text(transfer, "result");
        if (strcmp(result, DNS_TRANSFERRED) != 0)
            printf("not compared: names of %s that only %s has; it refused to transfer the zone: %s\n",
                   services_text(transfer, "zone"), dns_server_label(s->there), result);
    }
}

static void print_differences(const struct shadow *s, bool is_json)
{
    struct out_table t;
    size_t i, n = json_array_size(s->differences);
    json_t *difference;

    if (is_json) {
        json_auto json_t *doc =
            json_pack("{s:I, s:I, s:I, s:O, s:O}", "names", (json_int_t)s->n_names, "left_out",
                      (json_int_t)s->n_left_out, "questions", (json_int_t)s->n_questions, "differences",
                      s->differences, "transfers", s->transfers);
        out_json(doc);
        return;
    }
    if (n) {
        out_table_begin(&t, (const char *const[]){"NAME", "TYPE", "HERE", "THERE", NULL});
        json_array_foreach(s->differences, i, difference) add_rows(&t, difference);
        out_table_print(&t);
    }
    print_transfers(s);
    if (s->n_left_out)
        printf("not compared: %zu names, beyond --limit %lld a zone\n", s->n_left_out,
               (long long)s->max_names);
    printf("names=%zu questions=%zu different=%zu\n", s->n_names, s->n_questions, n);
}

/* ---- the command ---- */

/** The host of a URL, in brackets or not. */
static char *url_host(const char *url)
{
    const char *host = strstr(url, "://");

    host = host ? host + 3 : url;
    return mem_strn(host, *host == '[' ? strcspn(host, "]") + 1 : strcspn(host, ":/"));
}

/** Where our dnsd answers, as it says; one that listens on every address is asked at the host of its URL. */
static int own_address(struct dns_client *d, char **out, struct err_info *why)
{
    json_auto json_t *doc = NULL;
    int err = dns_call(d, "GET", "/version", &doc, why);
    const char *place = err ? NULL : json_string_value(json_object_get(doc, "dns"));
    const char *port = place ? strrchr(place, ':') : NULL;

    if (err)
        return err;
    if (!port)
        return err_set(why, ERR_UNAVAILABLE, d->url, "does not say where it answers DNS; is it a dnsd?");
    bool is_any = str_starts(place, "0.0.0.0:") || str_starts(place, "[::]:");
    mem_auto char *host = url_host(d->url);
    *out = is_any ? mem_fmt("%s%s", host, port) : mem_str(place);
    return 0;
}

static int open_own(struct shadow *s, struct dns_client *d, struct err_info *why)
{
    mem_auto char *own = NULL;
    int err = own_address(d, &own, why);

    return err ? err : dns_server_open(own, &s->here, why);
}

static int read_options(struct shadow *s, const struct cli *cli, int64_t *limit_ms, struct err_info *why)
{
    const char *max = cli_value(cli, CLI_LIMIT);

    s->with_ttl = cli_has(cli, CLI_TTL);
    if (max && str_to_i64(max, 1, 100000000, &s->max_names))
        return err_set(why, ERR_USAGE, "--limit", "\"%s\" is not a number of names", max);
    return cli_timeout_ms(cli, NO_LIMIT_MS, limit_ms, why);
}

/** The questions; dnsd's HTTP interface is done with when they are there, and Ctrl-C ends the program again. */
static int make_questions(struct shadow *s, struct cli *cli, struct err_info *why)
{
    struct dns_client d;
    int err = dns_open(cli, CALL_TIMEOUT_MS, &d, why);

    if (err)
        return err;
    err = open_own(s, &d, why);
    err = err ? err : collect(s, cli, &d, why);
    dns_close(&d);
    return err;
}

static void shadow_fini(struct shadow *s)
{
    for (size_t i = 0; i < s->n_questions; i++) {
        free(s->questions[i].name);
        free(s->questions[i].type);
    }
    free(s->questions);
    for (size_t i = 0; i < s->n_zones; i++)
        free(s->zones[i]);
    free(s->zones);
    free(s->left_out);
    map_fini(&s->asked, NULL);
    dns_server_close(s->here);
    dns_server_close(s->there);
    json_decref(s->differences);
    json_decref(s->transfers);
}

int dns_shadow(struct cli *cli, struct err_info *why)
{
    struct shadow s = {.differences = json_array(), .transfers = json_array()};
    int64_t limit_ms;
    int err = read_options(&s, cli, &limit_ms, why);

    obj_init(&s.obj, SHADOW_MAGIC);
    err = err ? err : dns_server_open(cli->operands[0], &s.there, why);
    err = err ? err : make_questions(&s, cli, why);
    if (!err)
        transfer_all(&s);
    err = err ? err : compare_all(&s, limit_ms, why);
    if (!err) {
        size_t n = json_array_size(s.differences);
        print_differences(&s, cli->is_json);
        if (n)
            err = err_set(why, ERR_CONFLICT, dns_server_label(s.there), "%zu of %zu answers differ", n,
                          s.n_questions);
        cli->failure_code = n ? EXIT_DIFFERENT : 0;
    }
    shadow_fini(&s);
    return err;
}
