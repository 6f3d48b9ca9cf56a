/*
 * The head of a request: "METHOD TARGET VERSION", then a line a header, "Name: value". What passes the checks is for us, ends in
 * one place, and names a path and a query.
 */
#include "fuzz.h"

#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "base/mem.h"
#include "base/obj.h"
#include "base/str.h"
#include "http/head.h"
#include "http/negotiate.h"

/** Cut the text at the next `end`. @return what stands before it. */
static char *cut(char **at, const char *end)
{
    char *begin = *at;
    size_t len = strcspn(begin, end);
    *at += len + (begin[len] != '\0');
    begin[len] = '\0';
    return begin;
}

static void check_path(char *target)
{
    const char *query, *none;
    const char *path = http_head_split_target(target, &query);
    FUZZ_HOLDS(*path && !strchr(path, '?'));
    mem_auto char *again = mem_str(path);
    FUZZ_HOLDS(strcmp(http_head_split_target(again, &none), path) == 0 && !none);
    FUZZ_HOLDS(utf8_valid(path, strlen(path)) && (!query || utf8_valid(query, strlen(query))));
}

static void check_framed(const struct http_head *head)
{
    FUZZ_HOLDS(head->n_hosts + head->n_lengths + head->n_codings <= 2);
    FUZZ_HOLDS(!head->length || !head->coding);
    FUZZ_HOLDS(head->host || strcmp(head->version, "HTTP/1.1") != 0);
    FUZZ_HOLDS(http_head_body_len(head) >= 0);
}

/* Any text may stand in an Accept header: one of the forms comes of it, and the first when nothing names the other. */
static void check_accept(const char *accept)
{
    static const struct http_form forms[] = {{"text/plain", "0.0.4"},
                                             {"application/openmetrics-text", "1.0.0 0.0.1"}};
    size_t form = http_negotiate(accept, forms, ARRAY_LEN(forms));
    FUZZ_HOLDS(form < ARRAY_LEN(forms));
    FUZZ_HOLDS(form == 0 || strcasestr(accept, "openmetrics"));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char *names[] = {"localhost", "registry.example"};
    static const struct http_names own = {
        .bound = {.family = AF_INET, .bytes = {127, 0, 0, 1}}, .names = names, .n_names = 2, .prefix = ""};
    mem_auto char *text = mem_strn((const char *)data, size);
    struct http_head head = {.target_has_nul = strlen(text) != size};
    char *at = text;
    head.method = cut(&at, " ");
    char *target = cut(&at, " ");
    head.version = cut(&at, "\n");
    while (*at) {
        const char *name = cut(&at, ":\n");
        http_head_note(&head, name, cut(&at, "\n"));
    }
    if (http_head_check_framing(&head, NULL) == 0)
        check_framed(&head);
    if (http_head_check_host(&head, &own, NULL) == 0 && head.host)
        FUZZ_HOLDS(strlen(head.host) >= strlen("[::]") && !strpbrk(head.host, "/@ "));
    if (http_head_check_origin(&head, NULL) == 0 && head.origin)
        FUZZ_HOLDS(head.host && strncasecmp(head.origin, "http", 4) == 0);
    if (http_head_check_target(&head, target, NULL) == 0)
        check_path(target);
    (void)http_head_is_json(head.origin);
    check_accept(head.origin);
    return 0;
}
