/* Who writes the state: see state.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "json/json.h"
#include "run/file.h"
#include "shim/wire.h"
#include "state/state_priv.h"

#define LOOKS_PER_LEASE 5
/* Of who runs one service. */
#define LOOK_MS     200
#define PATIENCE_MS 60000

/* ---- processes ---- */

/** "pid start boot": names a process uniquely on this host; "": it is not known. */
char *state_process_name(void)
{
    struct shim_proc proc;
    char boot[SHIM_BOOT_MAX];

    if (shim_proc_read(getpid(), &proc) || shim_boot_id(boot))
        return mem_str("");
    return mem_fmt("%ld %llu %s", (long)getpid(), (unsigned long long)proc.start, boot);
}

/** The process of that name has ended, for sure. */
static bool has_ended(const char *process)
{
    struct shim_proc proc;
    char boot[SHIM_BOOT_MAX], its_boot[SHIM_BOOT_MAX];
    long pid;
    unsigned long long start;

    if (sscanf(process, "%ld %llu %36s", &pid, &start, its_boot) != 3 || shim_boot_id(boot))
        return false;
    int err = shim_proc_read((pid_t)pid, &proc);
    return strcmp(boot, its_boot) != 0 || err == ERR_NOTFOUND ||
           (!err && (proc.start != start || proc.state == 'Z'));
}

/* ---- whose the embedded store is ---- */

/** File beside the embedded store in which its writer says where it answers. */
static char *holder_path(const char *url)
{
    return mem_fmt("%s/writer.json", strchr(url, ':') + 1);
}

static void write_holder(struct state *s)
{
    mem_auto char *path = holder_path(store_url(s->store));
    mem_auto char *text = state_writer_text(s);

    file_write(path, text, strlen(text), NULL); /* Without it those that stand by do not know whom to ask. */
}

/* ---- becoming the writer ---- */

static void look(void *arg);

static void look_later(struct state *s)
{
    if (s->closed)
        return; /* state_close came meanwhile. */
    run_timer_start(s->look_timer, s->scope ? LOOK_MS : (uint64_t)(s->lease_ms / LOOKS_PER_LEASE) + 1, 0);
}

static void claim_ended(struct state *s, int err, const struct err_info *why)
{
    s->is_busy = false;
    run_timer_free(s->look_timer);
    s->look_timer = NULL;
    if (!err && !s->is_shared)
        write_holder(s);
    s->claimed(s->done_arg, err, why);
}

static void on_taken(void *arg, int err, const struct store_result *r)
{
    struct state *s = obj_cast(arg, struct state, STATE_MAGIC);

    if (!err) {
        state_saw_node(s, s->writer_path, &r->stat);
        state_hold(s);
        claim_ended(s, 0, NULL);
    } else if (state_is_of_another(err) || err == ERR_UNAVAILABLE || err == ERR_UNKNOWN_OUTCOME) {
        look_later(s); /* Another was faster, or the next look sees our own node. */
    } else {
        claim_ended(s, err, &r->why);
    }
}

static void take(struct state *s, const struct store_result *there)
{
    s->sent_ms = run_boot_ms();
    s->change++;
    mem_auto char *text = state_writer_text(s);
    if (there)
        store_set(s->store, s->writer_path, text, strlen(text), there->stat.version, on_taken, s);
    else
        store_create(s->store, s->writer_path, text, strlen(text), state_acl(s, s->writer_path), on_taken, s);
}

static const char *member(const json_t *doc, const char *name)
{
    const char *text = json_string_value(json_object_get(doc, name));

    return text ? text : "";
}

/** The node is unchanged for longer than its lease, by our clock. */
static bool is_over(struct state *s, const json_t *doc, int32_t version)
{
    int64_t lease_ms = json_integer_value(json_object_get(doc, "lease_ms"));

    if (!s->seen_ms || version != s->seen_version) {
        s->seen_version = version;
        s->seen_ms = run_boot_ms();
    }
    return run_boot_ms() - s->seen_ms > (lease_ms > s->lease_ms ? lease_ms : s->lease_ms);
}

/** Another's node: take it when its writer is gone and its place allows, else stand by. */
static void judge(struct state *s, const json_t *doc, const struct store_result *r)
{
    const struct state_holder holder = {.url = member(doc, "url"), .place = member(doc, "place")};
    bool is_here = !holder.place[0] || strcmp(holder.place, s->place) == 0;
    bool is_given_up = s->take_from && strcmp(holder.place, s->take_from) == 0;
    bool is_free =
        !s->is_shared || (is_here && has_ended(member(doc, "process"))) || is_over(s, doc, r->stat.version);

    if (is_free && (is_here || is_given_up || !s->is_shared)) {
        take(s, r);
        return;
    }
    mem_auto char *refused =
        is_here || is_given_up
            ? NULL
            : mem_fmt(
                  "the containers are those of %s: start svcmgr there, or, if that host will not come back, "
                  "here with yarn.service.state.take-over-from=%s",
                  holder.place, holder.place);
    s->standing_by(s->done_arg, &holder, refused);
    look_later(s);
}

/** @return 0; ERR_UNSUPPORTED: a newer version has written the node. */
static int check_format(const struct state *s, const json_t *doc, struct err_info *why)
{
    json_int_t format = json_integer_value(json_object_get(doc, "version"));

    if (format <= STATE_WRITER_FORMAT)
        return 0;
    return err_set(
        why, ERR_UNSUPPORTED, s->writer_path,
        "%s has format %lld, this version reads formats up to %d: start the version that wrote it, "
        "or a newer one",
        s->writer_path, (long long)format, STATE_WRITER_FORMAT);
}

static void on_writer(void *arg, int err, const struct store_result *r)
{
    struct state *s = obj_cast(arg, struct state, STATE_MAGIC);
    json_auto json_t *doc = NULL;
    struct err_info why = {0};

    if (err == ERR_NOTFOUND) {
        take(s, NULL);
    } else if (err == ERR_UNAVAILABLE) {
        look_later(s);
    } else if (err) {
        claim_ended(s, err, &r->why);
    } else if (json_read(r->data, r->data_len, &doc, NULL)) {
        take(s, r); /* It names no writer. */
    } else if ((err = check_format(s, doc, &why))) {
        claim_ended(s, err, &why);
    } else if (strcmp(member(doc, "writer"), s->me) == 0) {
        state_set_node(&s->known, s->writer_path, r->stat.version,
                       false); /* The answer to our claim was lost. */
        state_hold(s);
        claim_ended(s, 0, NULL);
    } else {
        judge(s, doc, r);
    }
}

/* ---- one service ---- */

/** The attempt node of the service that we run: a lower attempt's, or nobody's. */
static void on_attempt(void *arg, int err, const struct store_result *r)
{
    struct state *s = obj_cast(arg, struct state, STATE_MAGIC);
    json_auto json_t *doc = NULL;
    struct err_info why = {0};

    if (err == ERR_UNAVAILABLE) {
        look_later(s);
        return;
    }
    if (!err)
        err = json_read(r->data, r->data_len, &doc, &why);
    if (!err)
        err = check_format(s, doc, &why);
    json_int_t number = json_integer_value(json_object_get(doc, "attempt"));
    bool is_over = json_is_true(json_object_get(doc, "ended"));
    if (!err && number == s->attempt && is_over)
        err = err_set(&why, ERR_WRONGSTATE, s->writer_path, "attempt %lld has ended", (long long)number);
    if (!err && number > s->attempt)
        err = err_set(&why, ERR_WRONGSTATE, s->writer_path,
                      "attempt %lld runs the service, this is attempt %lld", (long long)number,
                      (long long)s->attempt);
    if (err)
        claim_ended(s, err, why.code ? &why : &r->why);
    else
        take(s, r);
}

/** What the service is, as who started us has written it: for us, or not yet. */
static void on_service(void *arg, int err, const struct store_result *r)
{
    struct state *s = obj_cast(arg, struct state, STATE_MAGIC);
    struct err_info why = {0};

    if (err == ERR_UNAVAILABLE) {
        s->patience_end_ms = 0; /* That time does not count. */
        look_later(s);
    } else if (err) {
        claim_ended(s, err, &r->why);
    } else if (s->is_ours(s->is_ours_arg, r->data, r->data_len)) {
        store_get(s->store, s->writer_path, on_attempt, s);
    } else if (!s->patience_end_ms || run_boot_ms() < s->patience_end_ms) {
        s->patience_end_ms = s->patience_end_ms ? s->patience_end_ms : run_boot_ms() + PATIENCE_MS;
        look_later(s);
    } else {
        err_set(&why, ERR_TIMEOUT, s->scope, "the service was not given to this attempt within %d s",
                PATIENCE_MS / 1000);
        claim_ended(s, ERR_TIMEOUT, &why);
    }
}

/* ---- all ---- */

static void on_root_made(void *arg, int err, const struct store_result *r)
{
    struct state *s = obj_cast(arg, struct state, STATE_MAGIC);

    (void)r;
    if (err)
        look_later(s);
    else
        store_get(s->store, s->writer_path, on_writer, s);
}

static void on_root(void *arg, int err, const struct store_result *r)
{
    struct state *s = obj_cast(arg, struct state, STATE_MAGIC);

    if (err == ERR_NOTFOUND)
        store_create(s->store, "/", "", 0, state_acl(s, "/"), on_root_made, s);
    else if (err == ERR_UNAVAILABLE)
        look_later(s);
    else if (err)
        claim_ended(s, err, &r->why);
    else
        store_get(s->store, s->writer_path, on_writer, s);
}

static void look(void *arg)
{
    struct state *s = obj_cast(arg, struct state, STATE_MAGIC);

    if (s->is_ours)
        store_get(s->store, s->scope, on_service, s);
    else if (s->scope)
        store_get(s->store, s->writer_path, on_attempt, s);
    else
        store_stat(s->store, "/", on_root, s);
}

void state_claim(struct state *s, const struct state_holder *self, const char *take_from,
                 void (*standing_by)(void *arg, const struct state_holder *holder, const char *refused),
                 void (*claimed)(void *arg, int err, const struct err_info *why), void *arg)
{
    BUG_IF(s->is_busy);
    s->is_busy = true;
    s->url = mem_str(self->url);
    s->place = mem_str(self->place);
    s->take_from = mem_str(take_from);
    s->lease_ms = self->lease_ms;
    s->standing_by = standing_by;
    s->claimed = claimed;
    s->done_arg = arg;
    s->look_timer = run_timer_new(s->loop, look, s);
    look(s);
}

struct state_holder state_holder_of(const char *url)
{
    mem_auto char *path = holder_path(url);
    buf_auto struct buf text = BUF_EMPTY;
    json_auto json_t *doc = NULL;

    if (!file_read(path, &text, NULL) && text.len > 0)
        json_read(text.bytes, text.len, &doc, NULL);
    return (struct state_holder){.url = mem_str(member(doc, "url")), .place = mem_str(member(doc, "place"))};
}
