/** Asking as a user asks, with dig and curl: see dev.h. */
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

/** Run a command, print it and its output. One that fails or prints nothing counts in d->n_failed. */
static int show(struct dev *d, char *const *argv, struct err_info *why)
{
    buf_auto struct buf out = BUF_EMPTY;
    int code;

    print_command(argv);
    int err = child_run(&d->wait, argv, &out, &code, why);
    if (err == ERR_IO)
        err_set(why, err, argv[0], "cannot be started (apt-get install bind9-dnsutils curl)");
    if (err)
        return err;
    printf("%s", buf_cstr(&out));
    fflush(stdout);
    d->n_asked++;
    if (code || !out.len) {
        d->n_failed++;
        fprintf(stderr, "%s: no answer\n", argv[0]);
    }
    return 0;
}

/** Ask dig with these switches, then these words; both NULL-terminated. */
static int dig(struct dev *d, const char *const *switches, const char *const *words, struct err_info *why)
{
    mem_auto char *server = mem_fmt("@%s", d->dns_address);
    char *argv[MAX_WORDS] = {"dig", server, "-p", d->dns_port, "+norecurse"};
    size_t n = 5;

    for (size_t i = 0; switches[i] && n < MAX_WORDS - 1; i++)
        argv[n++] = (char *)switches[i];
    for (size_t i = 0; words[i] && n < MAX_WORDS - 1; i++)
        argv[n++] = (char *)words[i];
    return show(d, argv, why);
}

int dev_dig(struct dev *d, const char *const *words, struct err_info *why)
{
    return dig(d, (const char *const[]){"+short", NULL}, words, why);
}

int dev_dig_records(struct dev *d, const char *const *words, struct err_info *why)
{
    static const char *const switches[] = {"+noall", "+answer", "+authority", "+additional", NULL};

    return dig(d, switches, words, why);
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

int dev_curl(struct dev *d, const char *host, const char *port, struct err_info *why)
{
    mem_auto char *address = NULL;
    int err = resolve(d, host, &address, why);

    if (err)
        return err;
    mem_auto char *pin = mem_fmt("%s:%s:%s", host, port, address);
    mem_auto char *url = mem_fmt("http://%s:%s/", host, port);
    char *const argv[] = {"curl", "-sS", "-f", "-m", "10", "--noproxy", "*", "--resolve", pin, url, NULL};
    return show(d, argv, why);
}
