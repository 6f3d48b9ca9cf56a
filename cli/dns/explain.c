/** `bobbin dns explain`: znode → record → decision → RRset → answer, or the link that is missing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/obj.h"
#include "kit/commands.h"
#include "dns.h"
#include "json/json.h"
#include "kit/out.h"
#include "kit/services.h"

/** A text of the registry or the server with what a terminal would obey, and tabs, replaced. */
static void print_safely(const char *text)
{
    for (; *text; text++)
        putchar(*text == '\t' ? ' ' : (unsigned char)*text < 0x20 || *text == 0x7f ? '?' : *text);
}

static void print_line(const char *label, const char *text)
{
    printf("%-9s", label);
    print_safely(text);
    putchar('\n');
}

static void print_texts(const json_t *array, const char *none)
{
    size_t i;
    json_t *text;

    if (!json_array_size(array))
        print_line("", none);
    json_array_foreach(array, i, text) print_line("", json_string_value(text) ? json_string_value(text) : "");
}

/** One registry record: its path, what it gives and what became of that. */
static void print_source(const json_t *source)
{
    size_t i;
    json_t *given;

    print_line("znode", services_text(source, "path"));
    json_array_foreach(json_object_get(source, "gives"), i, given)
    {
        mem_auto char *text =
            mem_fmt("%s: %s", services_text(given, "record"), services_text(given, "decision"));
        print_line("  gives", text);
    }
    if (json_object_get(source, "reason"))
        print_line("  but", services_text(source, "reason"));
    if (json_object_get(source, "held"))
        print_line("  held", services_text(source, "held"));
}

/** One name on the way to the answer: why the next step follows, and what the zone holds. */
static void print_link(const json_t *link)
{
    const char *zone = json_string_value(json_object_get(link, "zone"));
    mem_auto char *text =
        zone ? mem_fmt("%s in zone %s: %s", services_text(link, "name"), zone, services_text(link, "because"))
             : mem_fmt("%s: %s", services_text(link, "name"), services_text(link, "because"));

    print_line("zone", text);
    if (zone)
        print_texts(json_object_get(link, "rrsets"), "no records at this name");
}

static void print_answer(const json_t *answer)
{
    const json_t *authority = json_object_get(answer, "authority");

    print_line("answer", services_text(answer, "rcode"));
    print_texts(json_object_get(answer, "records"), "no records");
    if (json_array_size(authority))
        print_line("  authority", "");
    if (json_array_size(authority))
        print_texts(authority, "");
    if (json_is_string(json_object_get(answer, "relayed")))
        print_line("  relayed", services_text(answer, "relayed"));
}

static void print_chain(const json_t *doc)
{
    const json_t *sources = json_object_get(doc, "sources");
    json_int_t n_more = json_integer_value(json_object_get(doc, "moreSources"));
    mem_auto char *question = mem_fmt("%s %s", services_text(doc, "name"), services_text(doc, "type"));
    size_t i;
    json_t *item;

    print_line("question", question);
    json_array_foreach(sources, i, item) print_source(item);
    if (!json_array_size(sources))
        print_line("znode", "none");
    if (n_more)
        printf("%-9s%lld more\n", "znode", (long long)n_more);
    json_array_foreach(json_object_get(doc, "chain"), i, item) print_link(item);
    print_answer(json_object_get(doc, "answer"));
    if (json_is_string(json_object_get(doc, "stale")))
        print_line("stale", services_text(doc, "stale"));
    print_line("missing",
               json_is_string(json_object_get(doc, "missing")) ? services_text(doc, "missing") : "nothing");
}

int dns_explain(struct cli *cli, struct err_info *why)
{
    mem_auto char *name = services_quote(cli->operands[0]);
    mem_auto char *type = cli->n_operands > 1 ? services_quote(cli->operands[1]) : NULL;
    mem_auto char *path =
        type ? mem_fmt("/explain?name=%s&type=%s", name, type) : mem_fmt("/explain?name=%s", name);
    json_auto json_t *doc = NULL;
    int err = dns_call_once(cli, "GET", path, &doc, why);

    if (!err && cli->is_json)
        out_json(doc);
    else if (!err)
        print_chain(doc);
    return err;
}
