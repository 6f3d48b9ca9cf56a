/** The three daemons as children of `bobbin dev`: see dev.h. */
#include "dev.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "kit/options.h"
#include "kit/progress.h"

#define READY_LIMIT_MS  60000
#define READY_LOOK_MS   20
#define READY_CALL_MS   2000
#define END_LIMIT_MS    10000
#define SVCMGR_LIMIT_MS 30000 /* it ends its containers first */

/** A command line that grows. */
struct words {
    char **items;
    size_t n;
};

static void add_word(struct words *w, char *take_word)
{
    w->items = mem_resize(w->items, w->n + 2, sizeof(char *));
    w->items[w->n++] = take_word;
    w->items[w->n] = NULL;
}

static void add_set(struct words *w, char *take_assignment)
{
    add_word(w, mem_str("-D"));
    add_word(w, take_assignment);
}

static void free_words(struct words *w)
{
    for (size_t i = 0; i < w->n; i++)
        free(w->items[i]);
    free(w->items);
}

/** A key gets our value unless the user gave one, in a file or with -D. */
static void add_default(const struct dev *d, struct words *w, enum cli_key id, const char *key,
                        const char *value)
{
    if (!opt_is_set(d->cli->options, (int)id))
        add_set(w, mem_fmt("%s=%s", key, value));
}

/** What all daemons get: where things are, who the user is, and what the user said. */
static void add_configuration(const struct dev *d, struct words *w)
{
    mem_auto char *data = dev_path(d, "data");
    const struct options *o = d->cli->options;

    if (d->cli->config_dir) {
        add_word(w, mem_str("--config"));
        add_word(w, mem_str(d->cli->config_dir));
    }
    add_default(d, w, KEY_DATA_DIR, "bobbin.data.dir", data);
    add_default(d, w, KEY_STORE, "hadoop.registry.store", d->store);
    add_default(d, w, KEY_REGISTRY_URL, "hadoop.registry.url", d->registry_url);
    add_default(d, w, KEY_DOMAIN, "hadoop.registry.dns.domain-name", d->domain);
    add_default(d, w, KEY_DNS_ENABLED, "hadoop.registry.dns.enabled", "true");
    add_default(d, w, KEY_SUBNET, "hadoop.registry.dns.zone-subnet", opt_text(o, KEY_ADDRESSES));
    add_default(d, w, KEY_STATIC_USER, "hadoop.http.staticuser.user", d->user);
    add_default(d, w, KEY_STOP_ON_EXIT, "yarn.service.stop-containers-on-exit", "true");
    add_default(d, w, KEY_DRAIN_DNS, "yarn.service.drain.dns-urls", d->dns_url);
    if (d->zones)
        add_default(d, w, KEY_ZONES_DIR, "hadoop.registry.dns.zones-dir", d->zones);
    for (size_t i = 0; d->cli->sets[i]; i++)
        add_set(w, mem_str(d->cli->sets[i]));
}

static int start_program(struct dev *d, const char *name, struct child *child, struct err_info *why)
{
    struct words words = {0};
    mem_auto char *file = mem_fmt("log/%s.log", name);
    mem_auto char *log = dev_path(d, file);

    add_word(&words, mem_fmt("%s/%s", d->bin, name));
    add_configuration(d, &words);
    const struct child_def def = {.name = name, .argv = words.items, .log = log};
    int err = child_start(&def, child, why);
    free_words(&words);
    return err;
}

int dev_runs(struct child *c, struct err_info *why)
{
    char end[40];

    if (!c->name || child_runs(c))
        return 0;
    mem_auto char *line = child_last_line(c);
    return err_set(why, ERR_UNAVAILABLE, c->name, "ended (%s); its last message: %s", child_end_text(c, end),
                   line[0] ? line : "none");
}

int dev_all_run(void *arg, struct err_info *why)
{
    struct dev *d = obj_cast(arg, struct dev, DEV_MAGIC);
    struct child *const all[] = {&d->zookeeper, &d->registryd, &d->dnsd, &d->svcmgr, &d->am};
    int err = 0;

    for (size_t i = 0; i < ARRAY_LEN(all) && !err; i++)
        err = dev_runs(all[i], why);
    return err;
}

/** One look at /readyz. *is_ready: 200; else `reason` says what it waits for, new text. @return 0; as wait_http when
 *  interrupted. */
static int look(struct dev *d, const char *url, bool *is_ready, char **reason, struct err_info *why)
{
    struct wait_answer answer;
    const struct http_call_def def = {.url = url, .timeout_ms = READY_CALL_MS};
    int err = wait_http(&d->wait, &def, &answer, why);

    *is_ready = !err && answer.status == 200;
    *reason = mem_strn(buf_cstr(&answer.body), strcspn(buf_cstr(&answer.body), "\r\n"));
    wait_answer_fini(&answer);
    return err == ERR_CANCELLED ? err : 0; /* nobody listens yet: not ready */
}

static int wait_ready(struct dev *d, struct child *child, const char *base_url, struct err_info *why)
{
    mem_auto char *url = mem_fmt("%s/readyz", base_url);
    mem_auto char *starting = mem_fmt("%s: starting", child->name);
    int64_t end_ms = run_now_ms() + READY_LIMIT_MS;
    struct progress progress;
    bool is_ready = false;
    int err = 0;

    progress_begin(&progress, false);
    progress_show(&progress, starting);
    while (!err && !is_ready) {
        mem_auto char *reason = NULL;
        err = dev_runs(child, why);
        if (!err)
            err = look(d, url, &is_ready, &reason, why);
        if (!err && !is_ready && run_now_ms() > end_ms)
            err = err_set(why, ERR_TIMEOUT, child->name, "not ready within %d s: %s", READY_LIMIT_MS / 1000,
                          reason);
        if (!err && !is_ready && wait_ms(&d->wait, READY_LOOK_MS))
            err = err_set(why, ERR_CANCELLED, child->name, "interrupted");
    }
    mem_auto char *done = err ? NULL : mem_fmt("%s: ready at %s", child->name, base_url);
    progress_end(&progress, done);
    return err;
}

static int start_daemon(struct dev *d, const char *name, struct child *child, const char *url,
                        struct err_info *why)
{
    int err = start_program(d, name, child, why);

    return err ? err : wait_ready(d, child, url, why);
}

int dev_registryd_start(struct dev *d, struct err_info *why)
{
    return start_daemon(d, "registryd", &d->registryd, d->registry_url, why);
}

void dev_registryd_stop(struct dev *d)
{
    child_end(&d->registryd, END_LIMIT_MS);
    child_fini(&d->registryd);
}

int dev_dnsd_start(struct dev *d, struct err_info *why)
{
    return start_daemon(d, "dnsd", &d->dnsd, d->dns_url, why);
}

void dev_dnsd_stop(struct dev *d)
{
    child_end(&d->dnsd, END_LIMIT_MS);
    child_fini(&d->dnsd);
}

int dev_svcmgr_start(struct dev *d, struct err_info *why)
{
    return start_daemon(d, "svcmgr", &d->svcmgr, d->services_url, why);
}

void dev_svcmgr_stop(struct dev *d)
{
    child_end(&d->svcmgr, SVCMGR_LIMIT_MS);
    child_fini(&d->svcmgr);
}
