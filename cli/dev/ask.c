/** Asking as a user asks, with dig and curl, and comparing: see dev.h. */
#include "dev.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "kit/out.h"

#define MAX_WORDS 24

/** The command as a person would type it. */
static void print_command(char *const *argv)
{
    printf("\n$");
    for (size_t i = 0; argv[i]; i++) {
        const char *quote = strpbrk(argv[i], " *?$&;|<>()[]\\\"") ? "'" : "";
        printf(" %s%s%s", quote, argv[i], quote);
    }
    printf("\n");
}

static int compare_lines(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/** Lines of a text, sorted; they point into it. @return how many */
static size_t sorted_lines(char *text, char ***out)
{
    size_t n = 0;
    char *rest = text, *line;

    *out = mem_array(strlen(text) + 1, sizeof(char *));
    while ((line = strsep(&rest, "\n"))) {
        if (line[0])
            (*out)[n++] = line;
    }
    qsort(*out, n, sizeof(char *), compare_lines);
    return n;
}

static bool same_lines(const char *answer, const char *const *expected)
{
    mem_auto char *text = mem_str(answer);
    buf_auto struct buf joined = BUF_EMPTY;
    char **a, **b;

    for (size_t i = 0; expected[i]; i++)
        buf_addf(&joined, "%s\n", expected[i]);
    mem_auto char *wanted = mem_str(buf_cstr(&joined));
    size_t n = sorted_lines(text, &a), n_wanted = sorted_lines(wanted, &b);
    bool is_same = n == n_wanted;
    for (size_t i = 0; i < n && is_same; i++)
        is_same = strcmp(a[i], b[i]) == 0;
    free(a);
    free(b);
    return is_same;
}

/** Note the outcome of a check; with --check a wrong one is shown. */
static void note(struct dev *d, bool is_right, const char *what, const char *expected)
{
    d->n_checks++;
    if (is_right)
        return;
    d->n_failed++;
    fflush(stdout);
    fprintf(stderr, "wrong answer: %s; expected: %s\n", what, expected);
}

static void check_lines(struct dev *d, const char *what, const char *answer, const char *const *expected)
{
    buf_auto struct buf wanted = BUF_EMPTY;

    for (size_t i = 0; expected[i]; i++)
        buf_addf(&wanted, "%s%s", i ? " | " : "", expected[i]);
    note(d, same_lines(answer, expected), what, buf_cstr(&wanted));
}

static int run_and_print(struct dev *d, char *const *argv, struct buf *out, int *code, struct err_info *why)
{
    print_command(argv);
    int err = child_run(&d->wait, argv, out, code, why);
    if (!err)
        printf("%s", buf_cstr(out));
    fflush(stdout);
    if (err == ERR_IO)
        err_set(why, err, argv[0], "cannot be started (apt-get install bind9-dnsutils curl)");
    return err;
}

int dev_dig(struct dev *d, const char *const *words, const char *const *expected, struct err_info *why)
{
    buf_auto struct buf answer = BUF_EMPTY;
    buf_auto struct buf what = BUF_EMPTY;
    mem_auto char *server = mem_fmt("@%s", d->dns_address);
    char *argv[MAX_WORDS] = {"dig", server, "-p", d->dns_port, "+short", "+norecurse"};
    size_t n = 6;
    int code;

    buf_add_str(&what, "dig");
    for (size_t i = 0; words[i] && n < MAX_WORDS - 1; i++) {
        argv[n++] = (char *)words[i];
        buf_addf(&what, " %s", words[i]);
    }
    int err = run_and_print(d, argv, &answer, &code, why);
    if (err || !expected)
        return err;
    if (code)
        note(d, false, buf_cstr(&what), "an answer");
    else
        check_lines(d, buf_cstr(&what), buf_cstr(&answer), expected);
    return 0;
}

/** First address that dnsd gives for a name; "" when there is none. */
static int resolve(struct dev *d, const char *host, char **out, struct err_info *why)
{
    buf_auto struct buf answer = BUF_EMPTY;
    mem_auto char *server = mem_fmt("@%s", d->dns_address);
    char *const argv[] = {"dig", server, "-p", d->dns_port, "+short", "+norecurse", (char *)host, "A", NULL};
    int code;
    int err = child_run(&d->wait, argv, &answer, &code, why);

    if (!err)
        *out = mem_strn(buf_cstr(&answer), strcspn(buf_cstr(&answer), "\n"));
    return err;
}

int dev_curl(struct dev *d, const char *host, const char *port, const char *wants, struct err_info *why)
{
    buf_auto struct buf page = BUF_EMPTY;
    mem_auto char *address = NULL;
    int code;
    int err = resolve(d, host, &address, why);

    if (err)
        return err;
    mem_auto char *pin = mem_fmt("%s:%s:%s", host, port, address);
    mem_auto char *url = mem_fmt("http://%s:%s/", host, port);
    char *const argv[] = {"curl", "-sS", "-f", "-m", "10", "--noproxy", "*", "--resolve", pin, url, NULL};
    err = run_and_print(d, argv, &page, &code, why);
    if (err)
        return err;
    bool is_right = code == 0 && (!wants || strstr(buf_cstr(&page), wants));
    note(d, is_right, url, wants ? wants : "a page");
    return 0;
}
