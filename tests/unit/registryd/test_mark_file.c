/* The persisted mark: who opens the file next learns what readers had seen. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/obj.h"
#include "fake.h"
#include "feed/mark_file.h"

struct place {
    struct fake *f;
    char dir[64], copy[80];
};

static int set_up(void **state)
{
    struct place *p = mem_new(struct place);
    void *fake = NULL;
    fake_set_up(&fake);
    p->f = fake;
    snprintf(p->dir, sizeof p->dir, "/tmp/bobbin-mark-XXXXXX");
    assert_non_null(mkdtemp(p->dir));
    snprintf(p->copy, sizeof p->copy, "%s/copy", p->dir);
    *state = p;
    return 0;
}

static void remove_in(const char *dir)
{
    mem_auto char *file = mem_fmt("%s/registryd/shown", dir);
    mem_auto char *own = mem_fmt("%s/registryd", dir);
    (void)unlink(file);
    (void)rmdir(own);
    (void)rmdir(dir);
}

static int tear_down(void **state)
{
    struct place *p = *state;
    void *fake = p->f;
    fake_tear_down(&fake);
    remove_in(p->copy);
    remove_in(p->dir);
    free(p);
    return 0;
}

static size_t file_read(const char *dir, char *to, size_t max)
{
    mem_auto char *path = mem_fmt("%s/registryd/shown", dir);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    size_t n = fread(to, 1, max, f);
    fclose(f);
    return n;
}

static void file_write(const char *dir, const char *bytes, size_t n)
{
    mem_auto char *path = mem_fmt("%s/registryd/shown", dir);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    fclose(f);
}

/* What a process learns that starts after this one was killed at this point. */
static struct mirror_past after_a_kill(const struct place *p)
{
    struct mirror_past past;
    char bytes[4096];
    mark_file_free(mark_file_open(p->copy, &past)); /* makes the directories */
    file_write(p->copy, bytes, file_read(p->dir, bytes, sizeof bytes));
    struct mark_file *f = mark_file_open(p->copy, &past);
    assert_non_null(f);
    mark_file_free(f);
    return past;
}

static void what_the_mirror_shows_is_kept(void **state)
{
    struct place *p = *state;
    struct mirror_past past = {.tree_id = "ab", .newest = 1};
    struct mark_file *f = mark_file_open(p->dir, &past);
    assert_non_null(f);
    assert_string_equal(past.tree_id, "");
    mark_file_keep(f, p->f->mirror);
    fake_begin(p->f, "51");
    assert_string_equal(after_a_kill(p).tree_id, "");
    fake_end(p->f);
    past = after_a_kill(p);
    assert_string_equal(past.tree_id, "51");
    assert_string_equal(past.store_id, "51");
    assert_int_equal(past.newest, mirror_newest(p->f->mirror));
    fake_put(p->f, "/more", "");
    assert_true(mirror_newest(p->f->mirror) > past.newest);
    past = after_a_kill(p);
    assert_int_equal(past.newest, mirror_newest(p->f->mirror));
    fake_begin(p->f, "60b");
    fake_end(p->f);
    past = after_a_kill(p);
    assert_string_equal(past.tree_id, "60b");
    assert_string_equal(past.store_id, "60b");
    assert_int_equal(past.newest, mirror_newest(p->f->mirror));
    mark_file_free(f); /* the mirror notifies it no more */
}

static void one_process_keeps_a_file(void **state)
{
    struct place *p = *state;
    struct mirror_past past;
    struct mark_file *f = mark_file_open(p->dir, &past);
    assert_non_null(f);
    assert_null(mark_file_open(p->dir, &past));
    assert_string_equal(past.tree_id, "");
    mark_file_free(f);
    f = mark_file_open(p->dir, &past);
    assert_non_null(f);
    mark_file_free(f);
}

static void what_is_no_such_file_says_nothing(void **state)
{
    struct place *p = *state;
    static const char *const texts[] = {"", "x", "bobbin shown 1\n",
                                        "something else altogether that is long enough"};
    struct mirror_past past;
    mark_file_free(mark_file_open(p->dir, &past)); /* makes the directories */
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        file_write(p->dir, texts[i], strlen(texts[i]));
        struct mark_file *f = mark_file_open(p->dir, &past);
        assert_non_null(f);
        assert_string_equal(past.tree_id, "");
        assert_int_equal(past.newest, 0);
        mark_file_free(f);
    }
}

static void a_place_that_cannot_be_used_is_no_error(void **state)
{
    (void)state;
    struct mirror_past past;
    assert_null(mark_file_open("/dev/null/below", &past));
    assert_string_equal(past.tree_id, "");
    mark_file_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_the_mirror_shows_is_kept, set_up, tear_down),
        cmocka_unit_test_setup_teardown(one_process_keeps_a_file, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_no_such_file_says_nothing, set_up, tear_down),
        cmocka_unit_test(a_place_that_cannot_be_used_is_no_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
