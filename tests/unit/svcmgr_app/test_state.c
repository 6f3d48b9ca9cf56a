/** Documents of services in an embedded store: written together, found again, also after a failed write. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <cmocka.h>

#include "base/mem.h"
#include "base/obj.h"
#include "state/state.h"
#include "tree_kit.h"

struct desk {
    struct run_loop *loop;
    struct state *state;
    char dir[64];
    char story[2048];   /* "key=text " of each document read, as far as there is room */
    size_t n_docs;      /* documents read */
    char last[64];      /* key of the last one */
    bool is_disordered; /* one came before its parent, or after a later sibling */
    int err;            /* of the load */
    enum state_outcome outcome;
    struct err_info why;
};

/** By elements: a parent before what is below it, and that before the parent's next sibling. */
static int compare_paths(const char *a, const char *b)
{
    while (*a && *a == *b) {
        a++;
        b++;
    }
    return (*a == '/' ? 1 : *a == '\0' ? 0 : *a) - (*b == '/' ? 1 : *b == '\0' ? 0 : *b);
}

static void on_one(void *arg, const char *key, const char *bytes, size_t len)
{
    struct desk *d = arg;
    size_t at = strlen(d->story);

    d->n_docs++;
    d->is_disordered = d->is_disordered || compare_paths(d->last, key) >= 0;
    snprintf(d->last, sizeof d->last, "%s", key);
    snprintf(d->story + at, sizeof d->story - at, "%s=%.*s ", key, (int)len, bytes);
}

static void on_loaded(void *arg, int err, const struct err_info *why)
{
    struct desk *d = arg;

    (void)why;
    d->err = err;
    run_loop_stop(d->loop);
}

static void on_done(void *arg, enum state_outcome outcome, const struct err_info *why)
{
    struct desk *d = arg;

    d->outcome = outcome;
    d->why = why ? *why : (struct err_info){0};
    run_loop_stop(d->loop);
}

static void on_closed(void *arg)
{
    struct desk *d = arg;

    run_loop_stop(d->loop);
}

static void on_standing_by(void *arg, const struct state_holder *holder, const char *refused)
{
    (void)arg;
    (void)refused;
    fail_msg("the embedded store is %s's", holder->url);
}

static void open_and_load(struct desk *d)
{
    mem_auto char *url = mem_fmt("file:%s/state", d->dir);
    struct err_info why = {0};

    d->loop = run_loop_new();
    d->story[0] = d->last[0] = '\0';
    d->n_docs = 0;
    if (state_open(d->loop, url, NULL, &d->state, &why))
        fail_msg("%s", why.text);
    const struct state_holder self = {.url = "http://127.0.0.1:1", .place = "here:/x", .lease_ms = 10000};
    state_claim(d->state, &self, NULL, on_standing_by, on_loaded, d);
    run_loop_run(d->loop);
    assert_int_equal(d->err, 0);
    assert_true(state_is_held(d->state));
    state_load(d->state, on_one, on_loaded, d);
    run_loop_run(d->loop);
    assert_int_equal(d->err, 0);
}

static void close_it(struct desk *d)
{
    state_close(d->state, on_closed, d);
    run_loop_run(d->loop);
    run_loop_free(d->loop);
}

static enum state_outcome write_docs(struct desk *d, const struct state_doc *docs, size_t n)
{
    state_write(d->state, docs, n, on_done, d);
    run_loop_run(d->loop);
    return d->outcome;
}

static int set_up(void **state)
{
    struct desk *d = mem_new(struct desk);

    snprintf(d->dir, sizeof d->dir, "/tmp/state-test-XXXXXX");
    assert_non_null(mkdtemp(d->dir));
    open_and_load(d);
    *state = d;
    return 0;
}

static int tear_down(void **state)
{
    struct desk *d = *state;

    close_it(d);
    assert_int_equal(kit_remove_tree(d->dir), 0);
    free(d);
    return 0;
}

static void documents_survive(void **state)
{
    struct desk *d = *state;
    const struct state_doc docs[] = {
        {"engine", "e1", 2}, {"services/alice/web", "w1", 2}, {"services/alice/db", "d1", 2}};
    const struct state_doc more[] = {{"services/alice/web", "w22", 3}, {"services/bob/web", "b1", 2}};

    assert_string_equal(d->story, "");
    assert_int_equal(write_docs(d, docs, 3), STATE_WRITTEN);
    assert_int_equal(write_docs(d, more, 2), STATE_WRITTEN);
    close_it(d);
    open_and_load(d);
    assert_non_null(strstr(d->story, "engine=e1 "));
    assert_non_null(strstr(d->story, "services/alice/web=w22 "));
    assert_non_null(strstr(d->story, "services/alice/db=d1 "));
    assert_non_null(strstr(d->story, "services/bob/web=b1 "));
    assert_null(strstr(d->story, "=w1 "));
}

static void documents_come_in_the_order_of_their_names(void **state)
{
    struct desk *d = *state;
    const struct state_doc docs[] = {{"services/bob/web", "3", 1},
                                     {"services/bob/web/hello-0", "4", 1},
                                     {"services/alice/web", "2", 1},
                                     {"definitions/services/bob/web", "1", 1}};

    assert_int_equal(write_docs(d, docs, 4), STATE_WRITTEN);
    close_it(d);
    open_and_load(d);
    assert_string_equal(d->story, "definitions/services/bob/web=1 services/alice/web=2 services/bob/web=3 "
                                  "services/bob/web/hello-0=4 ");
}

#define N_SERVICES  5
#define N_INSTANCES 600

/** More than are read at once: each comes once, in order. */
static void many_documents_come_in_order(void **state)
{
    struct desk *d = *state;
    static char keys[N_INSTANCES + 1][64];
    struct state_doc docs[N_INSTANCES + 1];

    for (int i = 0; i < N_SERVICES; i++) {
        snprintf(keys[0], sizeof keys[0], "services/alice/s%d", i);
        for (int k = 1; k <= N_INSTANCES; k++)
            snprintf(keys[k], sizeof keys[k], "services/alice/s%d/hello-%d", i, k);
        for (int k = 0; k <= N_INSTANCES; k++)
            docs[k] = (struct state_doc){keys[k], "{}", 2};
        assert_int_equal(write_docs(d, docs, N_INSTANCES + 1), STATE_WRITTEN);
    }
    close_it(d);
    open_and_load(d);
    assert_int_equal(d->n_docs, N_SERVICES * (N_INSTANCES + 1));
    assert_false(d->is_disordered);
}

static void deleted_documents_are_gone(void **state)
{
    struct desk *d = *state;
    const struct state_doc docs[] = {{"services/alice/web", "w1", 2}};
    const struct state_doc gone[] = {{"services/alice/web", NULL, 0}, {"services/alice/never", NULL, 0}};
    const struct state_doc again[] = {{"services/alice/web", "w2", 2}};

    assert_int_equal(write_docs(d, docs, 1), STATE_WRITTEN);
    assert_int_equal(write_docs(d, gone, 2), STATE_WRITTEN);
    close_it(d);
    open_and_load(d);
    assert_string_equal(d->story, "");
    assert_int_equal(write_docs(d, again, 1), STATE_WRITTEN);
    close_it(d);
    open_and_load(d);
    assert_string_equal(d->story, "services/alice/web=w2 ");
}

static void a_document_goes_with_those_below_it(void **state)
{
    struct desk *d = *state;
    const struct state_doc docs[] = {{"services/alice/web", "w1", 2},
                                     {"services/alice/web/hello-0", "i0", 2},
                                     {"services/alice/web/hello-1", "i1", 2}};
    const struct state_doc one[] = {{"services/alice/web", "w2", 2}, {"services/alice/web/hello-1", NULL, 0}};
    const struct state_doc gone[] = {{"services/alice/web", NULL, 0},
                                     {"services/alice/web/hello-0", NULL, 0},
                                     {"services/alice/web/never", NULL, 0}};

    assert_int_equal(write_docs(d, docs, 3), STATE_WRITTEN);
    assert_int_equal(write_docs(d, one, 2), STATE_WRITTEN);
    close_it(d);
    open_and_load(d);
    assert_string_equal(d->story, "services/alice/web=w2 services/alice/web/hello-0=i0 "); /* parents first */
    assert_int_equal(write_docs(d, gone, 3), STATE_WRITTEN);
    close_it(d);
    open_and_load(d);
    assert_string_equal(d->story, "");
}

/** A service is removed and one of its name made in one write: what the new one has already is below the node of the old one. */
static void a_document_goes_when_others_are_written_below_it(void **state)
{
    struct desk *d = *state;
    const struct state_doc docs[] = {{"launchers/alice/web", "w1", 2},
                                     {"launchers/alice/web/hello-0", "i0", 2},
                                     {"launchers/alice/web/past", "p1", 2},
                                     {"launchers/alice/web-2", "x1", 2}};
    const struct state_doc anew[] = {{"launchers/alice/web", NULL, 0},
                                     {"launchers/alice/web-2", NULL, 0},
                                     {"launchers/alice/web/hello-0", NULL, 0},
                                     {"launchers/alice/web/past", "p2", 2}};
    const struct state_doc next[] = {{"launchers/alice/web", "w2", 2}};
    const struct state_doc gone[] = {{"launchers/alice/web", NULL, 0}, {"launchers/alice/web/past", NULL, 0}};

    assert_int_equal(write_docs(d, docs, 4), STATE_WRITTEN);
    assert_int_equal(write_docs(d, anew, 4), STATE_WRITTEN);
    close_it(d);
    open_and_load(d);
    assert_string_equal(d->story, "launchers/alice/web/past=p2 ");
    assert_int_equal(write_docs(d, next, 1), STATE_WRITTEN);
    close_it(d);
    open_and_load(d);
    assert_string_equal(d->story, "launchers/alice/web=w2 launchers/alice/web/past=p2 ");
    assert_int_equal(write_docs(d, gone, 2), STATE_WRITTEN);
    close_it(d);
    open_and_load(d);
    assert_string_equal(d->story, "");
}

static void a_refused_write_leaves_nothing_and_the_next_one_works(void **state)
{
    struct desk *d = *state;
    /* An element of 300 bytes is more than a store takes: the whole transaction is refused. */
    char key[400];
    snprintf(key, sizeof key, "services/%0300d/x", 0);
    const struct state_doc bad[] = {{"engine", "e1", 2}, {key, "x", 1}};
    const struct state_doc good[] = {{"engine", "e2", 2}, {"services/alice/web", "w1", 2}};

    assert_int_equal(write_docs(d, bad, 2), STATE_REFUSED);
    assert_int_equal(d->why.code, ERR_PATH);
    assert_int_equal(write_docs(d, good, 2), STATE_WRITTEN);
    close_it(d);
    open_and_load(d);
    assert_non_null(strstr(d->story, "engine=e2 "));
    assert_non_null(strstr(d->story, "services/alice/web=w1 "));
    assert_null(strstr(d->story, "=x "));
}

static void a_write_that_is_too_large_is_refused_for_good(void **state)
{
    struct desk *d = *state;
    size_t len = 2 << 20;
    mem_auto char *bytes = mem_alloc(len);
    memset(bytes, 'x', len);
    const struct state_doc large[] = {{"services/alice/web", bytes, len}};
    const struct state_doc good[] = {{"services/alice/web", "w1", 2}};

    assert_int_equal(write_docs(d, large, 1), STATE_REFUSED);
    assert_int_equal(d->why.code, ERR_TOOBIG);
    assert_int_equal(write_docs(d, NULL, 0), STATE_WRITTEN);
    assert_int_equal(write_docs(d, good, 1), STATE_WRITTEN);
}

/** A full disk: nothing is there, and what comes when there is room again is. */
static void a_write_without_room_fails_and_the_next_one_works(void **state)
{
    struct desk *d = *state;
    const struct state_doc first[] = {{"services/alice/web", "w1", 2}};
    const struct state_doc second[] = {{"services/alice/web", "w2", 2},
                                       {"services/alice/web/hello-0", "i0", 2}};
    struct rlimit whole, none;

    assert_int_equal(write_docs(d, first, 1), STATE_WRITTEN);
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &whole);
    none = whole;
    none.rlim_cur = 1;
    setrlimit(RLIMIT_FSIZE, &none);
    enum state_outcome full = write_docs(d, second, 2), probed = write_docs(d, NULL, 0);
    setrlimit(RLIMIT_FSIZE, &whole);
    assert_int_equal(full, STATE_FAILED);
    assert_int_equal(d->why.code, ERR_NOSPC);
    assert_int_equal(probed, STATE_FAILED);
    close_it(d);
    open_and_load(d);
    assert_string_equal(d->story, "services/alice/web=w1 ");
    assert_int_equal(write_docs(d, second, 2), STATE_WRITTEN);
    close_it(d);
    open_and_load(d);
    assert_string_equal(d->story, "services/alice/web=w2 services/alice/web/hello-0=i0 ");
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(documents_survive),
        CASE(documents_come_in_the_order_of_their_names),
        CASE(many_documents_come_in_order),
        CASE(deleted_documents_are_gone),
        CASE(a_document_goes_with_those_below_it),
        CASE(a_document_goes_when_others_are_written_below_it),
        CASE(a_write_that_is_too_large_is_refused_for_good),
        CASE(a_write_without_room_fails_and_the_next_one_works),
        CASE(a_refused_write_leaves_nothing_and_the_next_one_works),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
