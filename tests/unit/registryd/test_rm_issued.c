/* The cluster timestamps that resource managers have issued ids with, kept in a file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "cleanup/rm_issued.h"
#include "run/file.h"

static const char *const both[] = {"http://a:8088", "http://b:8088", NULL};
static const char *const turned[] = {"http://b:8088", "http://a:8088", NULL};
static const char *const other[] = {"http://c:8088", NULL};

struct place {
    char dir[64];
    char *own, *path;
};

static int set_up(void **state)
{
    struct place *p = mem_new(struct place);
    snprintf(p->dir, sizeof p->dir, "/tmp/bobbin-issued-XXXXXX");
    assert_non_null(mkdtemp(p->dir));
    p->own = mem_fmt("%s/registryd", p->dir);
    p->path = mem_fmt("%s/rm-issued", p->own);
    *state = p;
    return 0;
}

static int tear_down(void **state)
{
    struct place *p = *state;
    (void)unlink(p->path);
    (void)rmdir(p->own);
    assert_int_equal(rmdir(p->dir), 0);
    free(p->own);
    free(p->path);
    free(p);
    return 0;
}

/* What a process does: it opens the set, puts these in (-1: the end) and ends; save: it says so in between. */
static void life(const struct place *p, const char *const *urls, const int64_t *added, bool save)
{
    struct run_loop *loop = run_loop_new();
    struct rm_issued *set = rm_issued_open(loop, p->dir, urls);
    for (; *added >= 0; added++) {
        rm_issued_add(set, *added);
        if (save)
            rm_issued_save(set);
    }
    rm_issued_free(set);
    run_loop_free(loop);
}

/* How many the next process finds. */
static size_t found(const struct place *p, const char *const *urls, int64_t wanted)
{
    struct run_loop *loop = run_loop_new();
    struct rm_issued *set = rm_issued_open(loop, p->dir, urls);
    size_t n = rm_issued_n(set);
    assert_true(wanted < 0 || rm_issued_has(set, wanted));
    assert_false(rm_issued_has(set, 6));
    assert_false(rm_issued_has(set, -1));
    rm_issued_free(set);
    run_loop_free(loop);
    return n;
}

static void the_next_process_finds_them(void **state)
{
    const struct place *p = *state;
    assert_int_equal(found(p, both, -1), 0);
    assert_int_not_equal(access(p->path, F_OK), 0); /* nothing to keep, no file */
    life(p, both, (const int64_t[]){7, 5, 1700000000000, 5, -1}, false);
    assert_int_equal(found(p, both, 5), 3);
    assert_int_equal(found(p, turned, 1700000000000), 3);
    life(p, turned, (const int64_t[]){9, 8, 4, -1}, true); /* the file is being written while more come */
    assert_int_equal(found(p, both, 4), 6);
}

static void other_rms_have_issued_nothing_of_it(void **state)
{
    const struct place *p = *state;
    life(p, both, (const int64_t[]){5, -1}, false);
    assert_int_equal(found(p, other, -1), 0);
    assert_int_equal(found(p, both, 5), 1); /* who only looks changes nothing */
    life(p, other, (const int64_t[]){8, -1}, false);
    assert_int_equal(found(p, other, 8), 1);
    assert_int_equal(found(p, both, -1), 0);
}

static void a_file_that_cannot_be_read_is_replaced(void **state)
{
    const struct place *p = *state;
    static const char *const texts[] = {
        "",
        "nonsense",
        "bobbin rm-issued 2\nrm http://a:8088 http://b:8088\n5\n",
        "bobbin rm-issued 1\nrm http://a:8088 http://b:8088\n5\nx\n",
        "bobbin rm-issued 1\nrm http://a:8088 http://b:8088\n5\n-1\n",
        "bobbin rm-issued 1\nrm http://a:8088 http://b:8088\n5\n99999999999999999999\n"};
    assert_int_equal(mkdir(p->own, 0755), 0);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_int_equal(file_write(p->path, texts[i], strlen(texts[i]), NULL), 0);
        assert_int_equal(found(p, both, -1), 0);
        life(p, both, (const int64_t[]){8, -1}, false);
        assert_int_equal(found(p, both, 8), 1);
    }
}

static void the_oldest_go_first(void **state)
{
    const struct place *p = *state;
    struct run_loop *loop = run_loop_new();
    struct rm_issued *set = rm_issued_open(loop, p->dir, both);
    for (int64_t i = 0; i < RM_ISSUED_MAX; i++)
        assert_true(rm_issued_add(set, 10 + i));
    assert_false(rm_issued_add(set, 5));
    assert_true(rm_issued_add(set, 10 + RM_ISSUED_MAX));
    assert_int_equal(rm_issued_n(set), RM_ISSUED_MAX);
    assert_false(rm_issued_has(set, 10));
    assert_true(rm_issued_has(set, 11) && rm_issued_has(set, 10 + RM_ISSUED_MAX));
    rm_issued_free(set);
    run_loop_free(loop);
    assert_int_equal(found(p, both, 11), RM_ISSUED_MAX);
}

/* Without the file the set is still one. */
static void a_directory_that_cannot_be_made(void **state)
{
    const struct place *p = *state;
    assert_int_equal(file_write(p->own, "x", 1, NULL), 0);
    life(p, both, (const int64_t[]){5, -1}, true);
    assert_int_equal(found(p, both, -1), 0);
    assert_int_equal(unlink(p->own), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define CASE(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)
        CASE(the_next_process_finds_them),
        CASE(other_rms_have_issued_nothing_of_it),
        CASE(a_file_that_cannot_be_read_is_replaced),
        CASE(the_oldest_go_first),
        CASE(a_directory_that_cannot_be_made),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
