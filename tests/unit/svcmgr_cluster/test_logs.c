/** How long logs stay: cluster/local_logs.h, with marks as an earlier moment, boot or crash has left them. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/obj.h"
#include "cluster/local_logs.h"
#include "cluster/local_tree.h"
#include "run/file.h"
#include "run/loop.h"

#define HOUR_MS 3600000

struct place {
    char dir[64];
    char *logs, *containers, *app, *own, *mark; /* `own`: the logs of container c1 of the application a1 */
};

static void make_place(struct place *p)
{
    strcpy(p->dir, "/tmp/local-logs-XXXXXX");
    assert_non_null(mkdtemp(p->dir));
    p->logs = mem_fmt("%s/logs", p->dir);
    p->containers = mem_fmt("%s/containers", p->dir);
    p->app = mem_fmt("%s/a1", p->logs);
    p->own = mem_fmt("%s/c1", p->app);
    p->mark = mem_fmt("%s/.c1.ended", p->app);
    assert_int_equal(file_make_dir(p->own, 0755, NULL), 0);
    assert_int_equal(file_make_dir(p->containers, 0755, NULL), 0);
}

static void drop_place(struct place *p)
{
    assert_int_equal(local_remove_tree(p->dir, NULL), 0);
    free(p->logs);
    free(p->containers);
    free(p->app);
    free(p->own);
    free(p->mark);
}

static bool is_there(const char *path)
{
    return access(path, F_OK) == 0;
}

/** Note that they were `age_ms` old `ago_ms` ago, in this boot or in another. */
static void note(const struct place *p, int64_t age_ms, int64_t ago_ms, bool this_boot)
{
    char boot[RUN_BOOT_ID_LEN] = "another";
    FILE *f = fopen(p->mark, "w");
    assert_non_null(f);
    if (this_boot)
        run_boot_id(boot);
    fprintf(f, "%lld %lld %s\n", (long long)(run_boot_ms() - ago_ms), (long long)age_ms, boot);
    fclose(f);
}

static void expire(const struct place *p)
{
    local_logs_expire(p->logs, p->containers, HOUR_MS);
}

static void the_time_begins_when_the_container_is_gone(void **state)
{
    (void)state;
    struct place p;
    make_place(&p);
    mem_auto char *container = mem_fmt("%s/c1", p.containers);
    assert_int_equal(mkdir(container, 0700), 0);
    expire(&p);
    assert_false(is_there(p.mark));
    rmdir(container);
    expire(&p);
    assert_true(is_there(p.own) && is_there(p.mark));
    drop_place(&p);
}

static void age_is_counted_over_moments_and_boots(void **state)
{
    (void)state;
    static const struct {
        int64_t age_ms, ago_ms;
        bool this_boot, stays;
    } rows[] = {
        {0, HOUR_MS / 2, true, true},
        {0, HOUR_MS + 1, true, false},
        {HOUR_MS / 2, HOUR_MS / 2 + 1, true, false},
        {HOUR_MS / 2, HOUR_MS, false, true}, /* nobody knows how long that was: not counted */
        {HOUR_MS, 0, false, false},
        {HOUR_MS / 2, -HOUR_MS, true, true}, /* a clock that is behind: as another boot */
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct place p;
        make_place(&p);
        note(&p, rows[i].age_ms, rows[i].ago_ms, rows[i].this_boot);
        expire(&p);
        if (is_there(p.own) != rows[i].stays || is_there(p.app) != rows[i].stays)
            fail_msg("row %zu: the logs %s", i, rows[i].stays ? "are gone" : "are still there");
        expire(&p); /* what was noted anew holds */
        assert_int_equal(is_there(p.own), rows[i].stays);
        drop_place(&p);
    }
}

static void a_mark_that_is_none_begins_anew(void **state)
{
    (void)state;
    static const char *const texts[] = {"", "1", "1 99999999", "1 99999999 half", "x y z\n", "1 -5 b\n"};
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct place p;
        make_place(&p);
        FILE *f = fopen(p.mark, "w");
        assert_non_null(f);
        fputs(texts[i], f);
        fclose(f);
        expire(&p);
        if (!is_there(p.own))
            fail_msg("the logs are gone by a mark of \"%s\"", texts[i]);
        drop_place(&p);
    }
}

static void a_mark_without_logs_goes(void **state)
{
    (void)state;
    struct place p;
    make_place(&p);
    note(&p, 0, 0, true);
    assert_int_equal(rmdir(p.own), 0);
    expire(&p);
    expire(&p);
    assert_false(is_there(p.app));
    drop_place(&p);
}

struct sweeps {
    const struct place *place;
    atomic_bool stop;
};

static void *sweep_on(void *arg)
{
    struct sweeps *s = arg;
    while (!atomic_load(&s->stop))
        local_logs_expire(s->place->logs, s->place->containers, 0);
    return NULL;
}

/** Directories that come and go, and sweeps meanwhile: none fails to be made, and none is without its note. */
static void a_directory_is_made_while_an_empty_one_is_removed(void **state)
{
    (void)state;
    struct place p;
    make_place(&p);
    struct sweeps s = {.place = &p};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, sweep_on, &s), 0);
    for (int i = 0; i < 1000; i++) {
        struct err_info why = {0};
        mem_auto char *container = mem_fmt("%s/d%d", p.containers, i);
        mem_auto char *own = mem_fmt("%s/d%d", p.app, i);
        assert_int_equal(mkdir(container, 0700), 0);
        if (local_logs_make(own, "alice/one", &why))
            fail_msg("%d: %s: %s", i, why.where, why.text);
        mem_auto char *service = local_logs_service_of(p.app);
        assert_string_equal(service, "alice/one");
        assert_true(is_there(own));
        assert_int_equal(rmdir(container), 0);
    }
    atomic_store(&s.stop, true);
    assert_int_equal(pthread_join(thread, NULL), 0);
    drop_place(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_time_begins_when_the_container_is_gone),
        cmocka_unit_test(age_is_counted_over_moments_and_boots),
        cmocka_unit_test(a_mark_that_is_none_begins_anew),
        cmocka_unit_test(a_mark_without_logs_goes),
        cmocka_unit_test(a_directory_is_made_while_an_empty_one_is_removed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
