/** A uid for each owner: which ranges are free, that an assignment is for good, and what is said when none is left. */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/mem.h"
#include "base/obj.h"
#include "cluster/local_tree.h"
#include "cluster/local_users.h"
#include "run/file.h"
#include "run/shortage.h"

static int set_up(void **state)
{
    char dir[] = "/tmp/users-test-XXXXXX";

    assert_non_null(mkdtemp(dir));
    *state = mem_str(dir);
    return 0;
}

static int tear_down(void **state)
{
    assert_int_equal(local_remove_tree(*state, NULL), 0);
    free(*state);
    return 0;
}

static char *write_file(const char *dir, const char *name, const char *text)
{
    char *path = mem_fmt("%s/%s", dir, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
    return path;
}

static void a_range_must_be_free(void **state)
{
    const char *dir = *state;
    static const struct {
        const char *range, *where, *says; /* NULL: it is fine */
    } cases[] = {
        {"1000-1999", NULL, NULL},
        {" 5 - 5 ", NULL, NULL},
        {"", "yarn.service.local.user-range", "is no range of uids; write it as 200000-200999"},
        {"1000", "yarn.service.local.user-range", "is no range"},
        {"0-10", "yarn.service.local.user-range", "is no range"},
        {"20-10", "yarn.service.local.user-range", "is no range"},
        {"10-20-30", "yarn.service.local.user-range", "is no range"},
        {"10-4294967294", "yarn.service.local.user-range", "is no range"},
        {"1-1000001", "yarn.service.local.user-range", "has more than 1000000 uids"},
        {"490-500", "passwd:2", "it has numbers of \"alice\". Choose another range."},
        {"500-500", "passwd:2", "alice"},
        {"501-599", NULL, NULL},
        {"600-610", "group:1", "staff"},
        {"165535-165540", "subuid:2", "bob"},
        {"165536-165540", NULL, NULL},
        {"90000-100000", "subuid:2", "bob"},
        {"300000-300001", "subgid:1", "carol"},
    };

    free(write_file(dir, "passwd", "root:x:0:0::/:/bin/sh\nalice:x:500:500::/:/bin/sh\nbroken\n+::::::\n"));
    free(write_file(dir, "group", "staff:x:605:alice\n"));
    free(write_file(dir, "subuid", "# none\nbob:100000:65536\n"));
    free(write_file(dir, "subgid", "carol:300001:1\n"));
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct err_info why = {0};
        int err = local_users_check(cases[i].range, dir, &why);
        assert_int_equal(err, cases[i].where ? ERR_CONFIG : 0);
        if (cases[i].where && (!strstr(why.where, cases[i].where) || !strstr(why.text, cases[i].says)))
            fail_msg("%s: %s: %s", cases[i].range, why.where, why.text);
    }
}

static uid_t uid_of(struct local_users *u, const char *owner)
{
    struct err_info why = {0};
    uid_t uid = 0;

    if (local_users_find(u, owner, &uid, &why))
        fail_msg("%s", why.text);
    return uid;
}

static void an_assignment_is_for_good(void **state)
{
    mem_auto char *file = mem_fmt("%s/users", (const char *)*state);
    struct local_users *u = NULL;
    struct err_info why = {0};
    uid_t uid = 7;

    assert_int_equal(local_users_open("1900000000-1900000001", file, &u, &why), 0);
    assert_int_equal(uid_of(u, "bob"), 1900000000);
    assert_int_equal(uid_of(u, "alice smith"), 1900000001);
    assert_int_equal(uid_of(u, "bob"), 1900000000);
    assert_int_equal(local_users_find(u, "carol", &uid, &why), ERR_CONFIG);
    assert_string_equal(
        why.text, "All uids of yarn.service.local.user-range are assigned, none is left for carol; make the "
                  "range longer.");
    assert_int_equal(uid, 7);
    local_users_close(u);

    /* Another life, and the range has moved: who has a uid keeps it. */
    assert_int_equal(local_users_open("1900000001-1900000002", file, &u, &why), 0);
    assert_int_equal(uid_of(u, "carol"), 1900000002);
    assert_int_equal(uid_of(u, "bob"), 1900000000);
    assert_int_equal(uid_of(u, "alice smith"), 1900000001);
    local_users_close(u);
}

static void what_is_not_on_the_disk_is_not_assigned(void **state)
{
    mem_auto char *file = mem_fmt("%s/missing/users", (const char *)*state);
    struct local_users *u = NULL;
    struct err_info why = {0};
    uid_t uid = 7;

    assert_int_equal(local_users_open("1900000000-1900000001", file, &u, &why), 0);
    assert_int_equal(local_users_find(u, "bob", &uid, &why), ERR_IO);
    assert_int_equal(uid, 7);
    mem_auto char *dir = mem_fmt("%s/missing", (const char *)*state);
    assert_int_equal(file_make_dir(dir, 0755, &why), 0);
    assert_int_equal(uid_of(u, "bob"), 1900000000);
    local_users_close(u);
}

/** A full disk, here a limit on the size of files: a reason to wait, and nobody has a uid meanwhile. */
static void a_full_disk_is_a_shortage(void **state)
{
    mem_auto char *file = mem_fmt("%s/users", (const char *)*state);
    struct local_users *u = NULL;
    struct err_info why = {0};
    struct rlimit before, none;
    uid_t uid = 7;

    assert_int_equal(local_users_open("1900000000-1900000001", file, &u, &why), 0);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    none = (struct rlimit){0, before.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
    int err = local_users_find(u, "bob", &uid, &why);
    int silent = file_write(file, "x", 1, NULL); /* The error comes without a reason, too. */
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(err, ERR_NOSPC);
    assert_int_equal(silent, ERR_NOSPC);
    assert_true(shortage_is(err));
    assert_non_null(strstr(why.where, "/users"));
    assert_int_equal(uid, 7);
    assert_int_equal(uid_of(u, "bob"), 1900000000);
    local_users_close(u);
}

/** 65534 is nobody's everywhere; a range with it in is refused at the start, but a user can also be made later. */
static void a_number_that_got_a_name_is_left_out(void **state)
{
    mem_auto char *file = mem_fmt("%s/users", (const char *)*state);
    struct local_users *u = NULL;
    struct err_info why = {0};

    assert_int_equal(local_users_open("65534-1900000000", file, &u, &why), ERR_CONFIG); /* Too long. */
    assert_int_equal(local_users_open("65534-65600", file, &u, &why), 0);
    assert_true(uid_of(u, "bob") > 65534);
    local_users_close(u);
}

static void names_that_fit_no_line_are_refused(void **state)
{
    mem_auto char *file = mem_fmt("%s/users", (const char *)*state);
    static const char *const names[] = {"", "a\nb", " a", "a\x7f"};
    struct local_users *u = NULL;
    struct err_info why = {0};
    uid_t uid;

    assert_int_equal(local_users_open("1900000000-1900000001", file, &u, &why), 0);
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        assert_int_equal(local_users_find(u, names[i], &uid, &why), ERR_INVALID);
    local_users_close(u);
}

static void a_damaged_file_is_not_guessed_at(void **state)
{
    static const struct {
        const char *text, *where;
    } cases[] = {
        {"1900000000 a\nx b\n", "users:2"},
        {"1900000000\n", "users:1"},
        {"1900000000 a\n1900000000 b\n", "users:2"},
        {"1900000000 a\n1900000001 a\n", "users:2"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        mem_auto char *file = write_file(*state, "users", cases[i].text);
        struct local_users *u = NULL;
        struct err_info why = {0};
        assert_int_equal(local_users_open("1900000000-1900000009", file, &u, &why), ERR_CONFIG);
        assert_non_null(strstr(why.where, cases[i].where));
        assert_null(u);
    }
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_range_must_be_free),
        CASE(an_assignment_is_for_good),
        CASE(what_is_not_on_the_disk_is_not_assigned),
        CASE(a_full_disk_is_a_shortage),
        CASE(a_number_that_got_a_name_is_left_out),
        CASE(names_that_fit_no_line_are_refused),
        CASE(a_damaged_file_is_not_guessed_at),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
