/**
 * The feed client against a scripted registryd: the notifications of a follower, and how it comes back after each kind of loss.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/obj.h"
#include "bobbin/registry.h"
#include "script_server.h"

/** How long a server may be silent: longer than a machine stands still, and shorter in tests of silence, which take so long. */
enum { IDLE_MS = 60000, SHORT_IDLE_MS = 3000 };
static int64_t idle_ms = IDLE_MS;

struct fixture {
    struct run_loop *loop;
    struct script_server server;
    struct script_server other; /* begin_pair: the second one in the list */
    struct reg *reg;
    struct reg_watch *watch;
    struct buf seen;   /* one word a callback */
    struct buf failed; /* one line a failed connection */
    const char *awaited;
    const char *stop_at; /* stop the watch inside the callback that writes this */
    bool gives_up;       /* what a refusal is answered with */
    size_t drained_at;   /* length of `seen` when everything that had come was delivered */
};

/* ---- a follower that writes down its notifications ---- */

static void note(struct fixture *f, const char *fmt, ...)
{
    va_list ap;
    size_t before = f->seen.len;

    va_start(ap, fmt);
    buf_vaddf(&f->seen, fmt, ap);
    va_end(ap);
    if (f->stop_at && strstr(buf_cstr(&f->seen) + before, f->stop_at)) {
        reg_watch_stop(f->watch);
        f->watch = NULL;
    }
}

static void on_reset(void *arg)
{
    note(arg, "reset\n");
}

static void on_put(void *arg, const char *path, const struct reg_record *record, const char *revision)
{
    note(arg, "put %s %s %s\n", path, record ? record->description : "-", revision);
}

static void on_deleted(void *arg, const char *path, const char *revision)
{
    note(arg, "deleted %s %s\n", path, revision);
}

static void on_synced(void *arg, const char *revision)
{
    note(arg, "synced %s\n", revision);
}

static void on_progress(void *arg, const char *revision)
{
    note(arg, "progress %s\n", revision);
}

static void on_state(void *arg, const struct err_info *why)
{
    note(arg, "%s\n", why ? err_name(why->code) : "up");
}

static void on_stale(void *arg, bool is_stale)
{
    note(arg, "%s\n", is_stale ? "stale" : "current");
}

static void on_drained(void *arg)
{
    struct fixture *f = arg;

    f->drained_at = f->seen.len;
}

static bool on_refused(void *arg, const struct err_info *why)
{
    struct fixture *f = arg;

    note(f, "refused %s %s: %s\n", err_name(why->code), why->where, why->text);
    return f->gives_up;
}

static void on_failed(void *arg, const char *url, const struct err_info *why)
{
    struct fixture *f = arg;

    buf_addf(&f->failed, "%s %s\n", url, err_name(why->code));
}

static const struct reg_watch_ops ops = {on_reset, on_put,   on_deleted, on_synced,  on_progress,
                                         on_state, on_stale, on_drained, on_refused, on_failed};

static bool is_seen(void *arg)
{
    struct fixture *f = arg;

    return strstr(buf_cstr(&f->seen), f->awaited) != NULL;
}

static void await_seen(struct fixture *f, const char *text)
{
    f->awaited = text;
    script_await(f->loop, is_seen, f);
}

static void watch(struct fixture *f, const char *urls, const char *since)
{
    struct reg_options options = {.url = urls, .user = "u", .idle_ms = idle_ms};

    assert_int_equal(reg_open(f->loop, &options, &f->reg, NULL), 0);
    f->watch = reg_watch_start(f->reg, "/users/", since, &ops, f);
    assert_non_null(f->watch);
}

static void begin_with(struct fixture *f, const struct step *steps, size_t n_steps, const char *since,
                       const char *more_urls)
{
    mem_auto char *urls = NULL;

    *f = (struct fixture){0};
    f->loop = run_loop_new();
    script_start(&f->server, f->loop, steps, n_steps);
    urls = mem_fmt("%s%s", more_urls, f->server.url);
    watch(f, urls, since);
}

/** Two servers, the one with `steps` is asked first. */
static void begin_pair(struct fixture *f, const struct step *steps, size_t n_steps, const struct step *others,
                       size_t n_others)
{
    mem_auto char *urls = NULL;

    *f = (struct fixture){0};
    f->loop = run_loop_new();
    script_start(&f->server, f->loop, steps, n_steps);
    script_start(&f->other, f->loop, others, n_others);
    urls = mem_fmt("%s,%s", f->server.url, f->other.url);
    watch(f, urls, NULL);
}

static void begin(struct fixture *f, const struct step *steps, size_t n_steps)
{
    begin_with(f, steps, n_steps, NULL, "");
}

/** Stop, and check that no notification comes afterwards. */
static void end(struct fixture *f)
{
    idle_ms = IDLE_MS;
    size_t seen = f->seen.len;

    reg_watch_stop(f->watch);
    reg_close(f->reg);
    script_stop(&f->server);
    if (f->other.server)
        script_stop(&f->other);
    assert_int_equal(f->seen.len, seen);
    buf_fini(&f->seen);
    buf_fini(&f->failed);
    run_loop_free(f->loop);
}

#define HELLO     "{\"type\":\"hello\",\"store\":\"S\",\"oldest\":\"S.1\",\"revision\":\"S.9\"}\n"
#define RECORD(d) "{\"type\":\"JSONServiceRecord\",\"description\":\"" d "\",\"external\":[],\"internal\":[]}"
#define PUT(path, rev)                                                                                       \
    "{\"type\":\"put\",\"path\":\"" path "\",\"revision\":\"" rev "\",\"time\":1,\"size\":9,\"children\":0}" \
    "\n"
#define PUT_RECORD(path, rev, d)                                                                             \
    "{\"type\":\"put\",\"path\":\"" path "\",\"revision\":\"" rev "\",\"service\":" RECORD(d) "}\n"
#define DELETE(path, rev) "{\"type\":\"delete\",\"path\":\"" path "\",\"revision\":\"" rev "\"}\n"
#define SYNC(rev)         "{\"type\":\"sync\",\"revision\":\"" rev "\"}\n"
#define PROGRESS(rev)     "{\"type\":\"progress\",\"revision\":\"" rev "\"}\n"
#define GONE              "{\"type\":\"gone\",\"oldest\":\"S.7\"}\n"
#define STREAM(...)                                                                                          \
    {                                                                                                        \
        .status = 200, .body = __VA_ARGS__, .stream = true                                                   \
    }
#define HELD_STREAM(...)                                                                                     \
    {                                                                                                        \
        .status = 200, .body = __VA_ARGS__, .stream = true, .hold = true                                     \
    }
#define FIRST_ASKED      "GET /ws/v1/registry/users user.name=u watch=true\n"
#define ASKED_SINCE(rev) "GET /ws/v1/registry/users user.name=u watch=true since=" rev "\n"

/* ---- notifications ---- */

/* A registry whose store is away says so with every mark; silence about it means that the store is there. */
static void test_store_away_and_back(void **state)
{
    static const struct step steps[] = {
        HELD_STREAM(
            HELLO "{\"type\":\"sync\",\"revision\":\"S.4\",\"stale\":true}\n"
                  "{\"type\":\"progress\",\"revision\":\"S.4\",\"stale\":true}\n"
                  "{\"type\":\"progress\",\"revision\":\"S.4\",\"stale\":false}\n" PROGRESS(
                      "S.5") "{\"type\":\"progress\",\"revision\":\"S.5\",\"stale\":true}\n" PROGRESS("S.6")),
    };
    struct fixture f;

    (void)state;
    begin(&f, steps, ARRAY_LEN(steps));
    await_seen(&f, "progress S.6");
    assert_string_equal(f.seen.bytes, "up\nreset\nstale\nsynced S.4\nprogress S.4\ncurrent\nprogress S.4\n"
                                      "progress S.5\nstale\nprogress S.5\ncurrent\nprogress S.6\n");
    end(&f);
}

static void test_snapshot_then_changes(void **state)
{
    static const struct step steps[] = {
        HELD_STREAM(HELLO PUT("/users", "S.2") PROGRESS("S.2") PUT_RECORD("/users/a", "S.3", "one")
                        DELETE("/users/b", "S.4") SYNC("S.4")
                            PUT_RECORD("/users/a", "S.5", "two") "{\"type\":\"newer\",\"x\":[1]}\n" DELETE(
                                "/users/a", "S.6") PROGRESS("S.6")),
    };
    struct fixture f;

    (void)state;
    begin(&f, steps, ARRAY_LEN(steps));
    await_seen(&f, "progress S.6");
    assert_string_equal(f.seen.bytes,
                        "up\nreset\nput /users - S.2\nput /users/a one S.3\ndeleted /users/b S.4\n"
                        "synced S.4\nput /users/a two S.5\ndeleted /users/a S.6\nprogress S.6\n");
    assert_int_equal(f.drained_at, f.seen.len);
    assert_string_equal(f.server.log.bytes, FIRST_ASKED);
    end(&f);
}

static void test_lines_come_in_pieces(void **state)
{
    static const struct step steps[] = {
        {.status = 200,
         .stream = true,
         .hold = true,
         .piece = 7,
         .body = HELLO PUT_RECORD("/users/a", "S.3", "one") SYNC("S.4") PROGRESS("S.6")},
    };
    struct fixture f;

    (void)state;
    begin(&f, steps, ARRAY_LEN(steps));
    await_seen(&f, "progress S.6\n");
    assert_string_equal(f.seen.bytes, "up\nreset\nput /users/a one S.3\nsynced S.4\nprogress S.6\n");
    end(&f);
}

static void test_given_since_needs_no_snapshot(void **state)
{
    static const struct step steps[] = {HELD_STREAM(HELLO PUT("/users/a", "S.9") PROGRESS("S.9"))};
    struct fixture f;

    (void)state;
    begin_with(&f, steps, ARRAY_LEN(steps), "S.8", "");
    await_seen(&f, "progress S.9\n");
    assert_string_equal(f.seen.bytes, "up\nput /users/a - S.9\nprogress S.9\n");
    assert_string_equal(f.server.log.bytes, ASKED_SINCE("S.8"));
    end(&f);
}

/* ---- coming back ---- */

static void test_resumes_after_the_last_progress(void **state)
{
    static const struct step steps[] = {
        STREAM(HELLO SYNC("S.4") PROGRESS("S.5") PUT("/users/a", "S.6")),
        HELD_STREAM(HELLO PUT("/users/a", "S.6") PROGRESS("S.6")),
    };
    struct fixture f;

    (void)state;
    begin(&f, steps, ARRAY_LEN(steps));
    await_seen(&f, "progress S.6\n");
    assert_string_equal(f.seen.bytes,
                        "up\nreset\nsynced S.4\nprogress S.5\nput /users/a - S.6\nERR_UNAVAILABLE\nup\n"
                        "put /users/a - S.6\nprogress S.6\n");
    assert_string_equal(f.server.log.bytes, FIRST_ASKED ASKED_SINCE("S.5"));
    end(&f);
}

static void test_half_a_snapshot_is_begun_anew(void **state)
{
    static const struct step steps[] = {
        STREAM(HELLO PUT("/users/a", "S.1") PROGRESS("S.2")),
        HELD_STREAM(HELLO PUT("/users/a", "S.1") SYNC("S.3")),
    };
    struct fixture f;

    (void)state;
    begin(&f, steps, ARRAY_LEN(steps));
    await_seen(&f, "synced S.3\n");
    assert_string_equal(f.seen.bytes, "up\nreset\nput /users/a - S.1\nERR_UNAVAILABLE\nup\nreset\n"
                                      "put /users/a - S.1\nsynced S.3\n");
    assert_string_equal(f.server.log.bytes, FIRST_ASKED FIRST_ASKED);
    end(&f);
}

static void test_refused_since_gives_a_snapshot(void **state)
{
    static const struct step steps[] = {
        {.status = 410, .body = "{\"type\":\"urn:bobbin:error:revision-gone\",\"detail\":\"not held\"}"},
        HELD_STREAM(HELLO SYNC("T.3")),
    };
    struct fixture f;

    (void)state;
    begin_with(&f, steps, ARRAY_LEN(steps), "S.8", "");
    await_seen(&f, "synced T.3\n");
    assert_string_equal(f.seen.bytes, "up\nreset\nsynced T.3\n");
    assert_string_equal(f.server.log.bytes, ASKED_SINCE("S.8") FIRST_ASKED);
    end(&f);
}

static void test_gone_gives_a_snapshot(void **state)
{
    static const struct step steps[] = {STREAM(HELLO SYNC("S.4") PUT("/users/a", "S.5") GONE),
                                        HELD_STREAM(HELLO SYNC("S.9"))};
    struct fixture f;

    (void)state;
    begin(&f, steps, ARRAY_LEN(steps));
    await_seen(&f, "synced S.9\n");
    assert_string_equal(f.seen.bytes, "up\nreset\nsynced S.4\nput /users/a - S.5\nreset\nsynced S.9\n");
    assert_string_equal(f.server.log.bytes, FIRST_ASKED FIRST_ASKED);
    end(&f);
}

/* ---- refused ---- */

#define REFUSAL                                                                                              \
    {                                                                                                        \
        .status = 400, .body = "{\"type\":\"urn:bobbin:error:malformed\",\"detail\":\"no revision\","        \
                               "\"where\":\"since\"}"                                                        \
    }

/** The watch is over with the server's words: it neither says that it is lost, nor asks again. */
static void test_refusal_ends_the_watch(void **state)
{
    static const struct step steps[] = {REFUSAL};
    struct fixture f;

    (void)state;
    begin_with(&f, steps, ARRAY_LEN(steps), "zz.1", "");
    f.gives_up = true;
    await_seen(&f, "no revision\n");
    end(&f);
}

static void test_refused_follower_may_go_on(void **state)
{
    static const struct step steps[] = {REFUSAL, REFUSAL, HELD_STREAM(HELLO PROGRESS("S.9"))};
    struct fixture f;

    (void)state;
    begin_with(&f, steps, ARRAY_LEN(steps), "S.8", "");
    await_seen(&f, "progress S.9\n");
    end(&f);
}

/* What is no registry says 404, what stands before one 401 or 403: all the same from a second time. */
static void test_what_is_a_refusal(void **state)
{
    static const struct step steps[][1] = {
        {{.status = 401, .body = "{}"}},
        {{.status = 403, .body = "{\"type\":\"urn:bobbin:error:no-permission\"}"}},
        {{.status = 404, .body = "<html>"}},
        {{.status = 405, .body = ""}},
    };
    struct fixture f;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
        begin(&f, steps[i], 1);
        f.gives_up = true;
        await_seen(&f, "refused ");
        assert_null(strstr(f.seen.bytes, "\nERR_"));
        end(&f);
    }
}

#define MAY_PASS(...)                                                                                        \
    {                                                                                                        \
        {.status = __VA_ARGS__}, HELD_STREAM(HELLO SYNC("S.4"))                                              \
    }

static void test_what_may_pass_is_no_refusal(void **state)
{
    static const struct step steps[][2] = {
        MAY_PASS(408, .body = ""), MAY_PASS(425, .body = ""), MAY_PASS(429, .body = ""),
        MAY_PASS(500, .body = ""), MAY_PASS(501, .body = ""), MAY_PASS(200, .body = "{\n", .stream = true),
    };
    struct fixture f;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
        begin(&f, steps[i], 2);
        f.gives_up = true;
        await_seen(&f, "synced S.4\n");
        assert_null(strstr(f.seen.bytes, "refused"));
        end(&f);
    }
}

static void test_stopped_inside_a_refusal(void **state)
{
    static const struct step steps[] = {REFUSAL};
    struct fixture f;

    (void)state;
    begin(&f, steps, ARRAY_LEN(steps));
    f.stop_at = "refused";
    await_seen(&f, "refused");
    assert_null(strstr(f.seen.bytes, "\nERR_PARSE"));
    end(&f);
}

/* ---- several servers ---- */

static void test_next_server_resumes(void **state)
{
    static const struct step first[] = {STREAM(HELLO SYNC("S.4") PROGRESS("S.5") PUT("/users/a", "S.6"))};
    static const struct step second[] = {HELD_STREAM(HELLO PUT("/users/a", "S.6") PROGRESS("S.7"))};
    struct fixture f;

    (void)state;
    begin_pair(&f, first, ARRAY_LEN(first), second, ARRAY_LEN(second));
    await_seen(&f, "progress S.7\n");
    assert_string_equal(f.seen.bytes,
                        "up\nreset\nsynced S.4\nprogress S.5\nput /users/a - S.6\nERR_UNAVAILABLE\nup\n"
                        "put /users/a - S.6\nprogress S.7\n");
    assert_string_equal(f.server.log.bytes, FIRST_ASKED);
    assert_string_equal(f.other.log.bytes, ASKED_SINCE("S.5"));
    end(&f);
}

static void test_silent_server_is_left_for_the_next(void **state)
{
    static const struct step first[] = {HELD_STREAM(HELLO SYNC("S.4"))};
    static const struct step second[] = {HELD_STREAM(HELLO PROGRESS("S.6"))};
    struct fixture f;

    (void)state;
    idle_ms = SHORT_IDLE_MS;
    begin_pair(&f, first, ARRAY_LEN(first), second, ARRAY_LEN(second));
    await_seen(&f, "progress S.6\n");
    assert_string_equal(f.seen.bytes, "up\nreset\nsynced S.4\nERR_TIMEOUT\nup\nprogress S.6\n");
    assert_string_equal(f.server.log.bytes, FIRST_ASKED);
    assert_string_equal(f.other.log.bytes, ASKED_SINCE("S.4"));
    end(&f);
}

static void test_next_server_refuses_and_gives_a_snapshot(void **state)
{
    static const struct step first[] = {STREAM(HELLO SYNC("S.4"))};
    static const struct step second[] = {
        {.status = 410, .body = "{\"type\":\"urn:bobbin:error:revision-gone\"}"},
        HELD_STREAM(HELLO PUT("/users", "T.2") SYNC("T.3"))};
    struct fixture f;

    (void)state;
    begin_pair(&f, first, ARRAY_LEN(first), second, ARRAY_LEN(second));
    await_seen(&f, "synced T.3\n");
    assert_string_equal(f.seen.bytes, "up\nreset\nsynced S.4\nERR_UNAVAILABLE\nup\nreset\nput /users - T.2\n"
                                      "synced T.3\n");
    assert_string_equal(f.server.log.bytes, FIRST_ASKED);
    assert_string_equal(f.other.log.bytes, ASKED_SINCE("S.4") FIRST_ASKED);
    end(&f);
}

static void test_gone_stays_with_its_server(void **state)
{
    static const struct step first[] = {STREAM(HELLO SYNC("S.4") GONE), HELD_STREAM(HELLO SYNC("S.9"))};
    struct fixture f;

    (void)state;
    begin_pair(&f, first, ARRAY_LEN(first), NULL, 0);
    await_seen(&f, "synced S.9\n");
    assert_string_equal(f.seen.bytes, "up\nreset\nsynced S.4\nreset\nsynced S.9\n");
    assert_int_equal(f.other.n_asked, 0);
    end(&f);
}

static void test_broken_line_ends_the_connection(void **state)
{
    static const struct step steps[] = {
        HELD_STREAM(HELLO SYNC("S.4") "{\"type\":\"put\",\"path\":}\n" PUT("/users/never", "S.5")),
        HELD_STREAM(HELLO "{\"type\":\"put\",\"revision\":\"S.5\"}\n" PUT("/users/never", "S.5")),
        HELD_STREAM(HELLO PUT("/users/a", "S.6") PROGRESS("S.6")),
    };
    struct fixture f;

    (void)state;
    begin(&f, steps, ARRAY_LEN(steps));
    await_seen(&f, "progress S.6\n");
    assert_string_equal(f.seen.bytes,
                        "up\nreset\nsynced S.4\nERR_JSON\nup\nERR_JSON\nup\nput /users/a - S.6\n"
                        "progress S.6\n");
    assert_string_equal(f.server.log.bytes, FIRST_ASKED ASKED_SINCE("S.4") ASKED_SINCE("S.4"));
    end(&f);
}

static void test_silence_is_a_loss(void **state)
{
    static const struct step steps[] = {HELD_STREAM(HELLO SYNC("S.4")), HELD_STREAM(HELLO PROGRESS("S.5"))};
    struct fixture f;

    (void)state;
    idle_ms = SHORT_IDLE_MS;
    begin(&f, steps, ARRAY_LEN(steps));
    await_seen(&f, "progress S.5\n");
    assert_string_equal(f.seen.bytes, "up\nreset\nsynced S.4\nERR_TIMEOUT\nup\nprogress S.5\n");
    end(&f);
}

static void test_errors_and_dead_servers_are_reported_once(void **state)
{
    static const struct step steps[] = {
        {.status = 503, .body = "{\"type\":\"urn:bobbin:error:unavailable\",\"detail\":\"loading\"}"},
        HELD_STREAM(HELLO SYNC("S.4")),
    };
    struct fixture f;
    char dead[64];
    mem_auto char *first = NULL;

    (void)state;
    script_dead_url(dead);
    first = mem_fmt("%s,", dead);
    begin_with(&f, steps, ARRAY_LEN(steps), NULL, first);
    await_seen(&f, "synced S.4\n");
    assert_string_equal(f.seen.bytes, "ERR_UNAVAILABLE\nup\nreset\nsynced S.4\n");
    mem_auto char *failed = mem_fmt("%s ERR_UNAVAILABLE\n%s ERR_UNAVAILABLE\n", dead, f.server.url);
    assert_int_equal(strncmp(f.failed.bytes, failed, strlen(failed)), 0); /* each one, with its URL */
    assert_string_equal(reg_server(f.reg), f.server.url);
    end(&f);
}

/* ---- stopping ---- */

static void test_stopped_inside_a_callback(void **state)
{
    static const char *const moments[] = {"up", "reset", "put", "synced", "deleted", "progress", "ERR_"};
    static const struct step steps[] = {
        STREAM(HELLO PUT("/users/a", "S.3") SYNC("S.4") DELETE("/users/a", "S.5") PROGRESS("S.6")),
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(moments); i++) {
        struct fixture f;

        begin(&f, steps, ARRAY_LEN(steps));
        f.stop_at = moments[i];
        await_seen(&f, moments[i]);
        assert_null(f.watch);
        end(&f);
    }
}

static void test_close_ends_watches(void **state)
{
    static const struct step steps[] = {HELD_STREAM(HELLO SYNC("S.4"))};
    struct fixture f;

    (void)state;
    begin(&f, steps, ARRAY_LEN(steps));
    await_seen(&f, "synced S.4\n");
    assert_int_equal(f.drained_at, f.seen.len);
    f.watch = NULL; /* left to reg_close */
    end(&f);
}

static void test_bad_path_is_no_watch(void **state)
{
    struct fixture f;

    (void)state;
    begin(&f, NULL, 0);
    assert_null(reg_watch_start(f.reg, "/a//b", NULL, &ops, &f));
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_snapshot_then_changes),
        cmocka_unit_test(test_store_away_and_back),
        cmocka_unit_test(test_lines_come_in_pieces),
        cmocka_unit_test(test_given_since_needs_no_snapshot),
        cmocka_unit_test(test_resumes_after_the_last_progress),
        cmocka_unit_test(test_half_a_snapshot_is_begun_anew),
        cmocka_unit_test(test_refused_since_gives_a_snapshot),
        cmocka_unit_test(test_gone_gives_a_snapshot),
        cmocka_unit_test(test_refusal_ends_the_watch),
        cmocka_unit_test(test_refused_follower_may_go_on),
        cmocka_unit_test(test_what_is_a_refusal),
        cmocka_unit_test(test_what_may_pass_is_no_refusal),
        cmocka_unit_test(test_stopped_inside_a_refusal),
        cmocka_unit_test(test_broken_line_ends_the_connection),
        cmocka_unit_test(test_silence_is_a_loss),
        cmocka_unit_test(test_errors_and_dead_servers_are_reported_once),
        cmocka_unit_test(test_next_server_resumes),
        cmocka_unit_test(test_silent_server_is_left_for_the_next),
        cmocka_unit_test(test_next_server_refuses_and_gives_a_snapshot),
        cmocka_unit_test(test_gone_stays_with_its_server),
        cmocka_unit_test(test_stopped_inside_a_callback),
        cmocka_unit_test(test_close_ends_watches),
        cmocka_unit_test(test_bad_path_is_no_watch),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
