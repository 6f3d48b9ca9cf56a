/**
 * What comes out of archives, and what does not: hostile names, links and sizes.
 */
#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/obj.h"
#include "localizer/localizer.h"
#include "tree_kit.h"

#define MANY                                                                                                 \
    {                                                                                                        \
        1 << 20, 1000, 1000                                                                                  \
    }

/** An entry that a test writes. */
struct one {
    const char *name;
    mode_t type;      /* AE_IF*; 0: a regular file */
    const char *text; /* content, or where a link leads */
    bool is_hardlink;
    mode_t mode; /* 0: 0644 */
};

static char top[40];

static int set_up(void **state)
{
    snprintf(top, sizeof top, "/tmp/unpack-test-XXXXXX");
    assert_non_null(mkdtemp(top));
    mem_auto char *in = mem_fmt("%s/in", top);
    assert_int_equal(mkdir(in, 0755), 0);
    *state = NULL;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    return kit_remove_tree(top);
}

static void add(struct archive *a, const struct one *o)
{
    struct archive_entry *e = archive_entry_new();
    bool has_content = !o->type && !o->is_hardlink && o->text;

    archive_entry_set_pathname(e, o->name);
    archive_entry_set_perm(e, o->mode ? o->mode : 0644);
    archive_entry_set_filetype(e, o->type ? o->type : AE_IFREG);
    if (o->type == AE_IFLNK)
        archive_entry_set_symlink(e, o->text);
    if (o->is_hardlink)
        archive_entry_set_hardlink(e, o->text);
    if (has_content)
        archive_entry_set_size(e, (la_int64_t)strlen(o->text));
    assert_int_equal(archive_write_header(a, e), ARCHIVE_OK);
    if (has_content)
        assert_int_equal(archive_write_data(a, o->text, strlen(o->text)), (ssize_t)strlen(o->text));
    archive_entry_free(e);
}

/** An archive of entries up to one without a name. @return descriptor at its begin */
static int archive_of(const struct one *entries, int format, int filter)
{
    struct archive *a = archive_write_new();
    int fd = memfd_create("archive", MFD_CLOEXEC);

    assert_int_equal(archive_write_set_format(a, format), ARCHIVE_OK);
    assert_int_equal(archive_write_add_filter(a, filter), ARCHIVE_OK);
    assert_int_equal(archive_write_open_fd(a, fd), ARCHIVE_OK);
    for (; entries->name; entries++)
        add(a, entries);
    assert_int_equal(archive_write_free(a), ARCHIVE_OK);
    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    return fd;
}

/** Unpack and close it. @return "" or the line of the fault, without its number; free() */
static char *unpack(int fd, struct unpack_limits limits)
{
    struct source_fault f = {.source = 0};
    buf_auto struct buf line = BUF_EMPTY;
    mem_auto char *in = mem_fmt("%s/in", top);
    int to = open(in, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int failed = localizer_unpack(fd, to, &limits, &f);

    close(to);
    close(fd);
    if (!failed)
        return mem_str("");
    source_fault_write(&f, &line);
    return mem_strn(buf_cstr(&line) + 2, line.len - 3);
}

static char *content(const char *name, struct stat *st)
{
    mem_auto char *path = mem_fmt("%s/in/%s", top, name);
    char text[256];
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return NULL;
    ssize_t n = read(fd, text, sizeof text);
    assert_true(n >= 0);
    assert_int_equal(fstat(fd, st), 0);
    close(fd);
    return mem_strn(text, (size_t)n);
}

static void every_format_comes_out(void **state)
{
    (void)state;
    static const struct {
        int format, filter;
    } cases[] = {
        {ARCHIVE_FORMAT_TAR_PAX_RESTRICTED, ARCHIVE_FILTER_NONE},
        {ARCHIVE_FORMAT_TAR_USTAR, ARCHIVE_FILTER_GZIP},
        {ARCHIVE_FORMAT_TAR_GNUTAR, ARCHIVE_FILTER_BZIP2},
        {ARCHIVE_FORMAT_TAR_PAX_RESTRICTED, ARCHIVE_FILTER_XZ},
        {ARCHIVE_FORMAT_TAR_PAX_RESTRICTED, ARCHIVE_FILTER_ZSTD},
        {ARCHIVE_FORMAT_ZIP, ARCHIVE_FILTER_NONE},
    };
    static const struct one entries[] = {{.name = "./d/", .type = AE_IFDIR, .mode = 0555},
                                         {.name = "d/file", .text = "text"},
                                         {.name = "bin/run", .text = "#!", .mode = 04755},
                                         {.name = "d/l", .type = AE_IFLNK, .text = "../bin/run"},
                                         {.name = NULL}};

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct stat st;
        set_up(state);
        mem_auto char *said =
            unpack(archive_of(entries, cases[i].format, cases[i].filter), (struct unpack_limits)MANY);
        assert_string_equal(said, "");
        mem_auto char *file = content("d/file", &st);
        assert_string_equal(file, "text");
        mem_auto char *run = content("d/l", &st);
        assert_string_equal(run, "#!");
        assert_int_equal(st.st_mode & 07777, 0755);
        assert_int_equal(tear_down(state), 0);
    }
    set_up(state);
}

static void nothing_leads_outside(void **state)
{
    (void)state;
    static const struct {
        struct one first, second;
        const char *says;
    } cases[] = {
        {{"../x", .text = "x"}, {.name = NULL}, "entry-outside 0 ../x"},
        {{"a/../../x", .text = "x"}, {.name = NULL}, "entry-outside 0 a/../../x"},
        {{"/tmp/x", .text = "x"}, {.name = NULL}, "entry-outside 0 /tmp/x"},
        {{"..", .type = AE_IFDIR}, {.name = NULL}, "entry-outside 0 ../"},
        {{"l", .type = AE_IFLNK, .text = "/etc"}, {.name = NULL}, "entry-outside 0 l"},
        {{"l", .type = AE_IFLNK, .text = "../x"}, {.name = NULL}, "entry-outside 0 l"},
        {{"d/l", .type = AE_IFLNK, .text = "../../x"}, {.name = NULL}, "entry-outside 0 d/l"},
        {{"l", .type = AE_IFLNK, .text = "d/../x"}, {.name = NULL}, "entry-outside 0 l"},
        {{"l", .type = AE_IFLNK, .text = "."}, {"l/x", .text = "x"}, "entry-outside 20 l/x"},
        {{"l", .type = AE_IFLNK, .text = "."}, {"l", .type = AE_IFDIR}, "entry-outside 20 l"},
        {{"f", .text = "x"}, {"f/x", .text = "x"}, "entry-outside 20 f/x"},
        {{"h", .text = "/etc/passwd", .is_hardlink = true}, {.name = NULL}, "entry-outside 0 h"},
        {{"h", .text = "../x", .is_hardlink = true}, {.name = NULL}, "entry-outside 0 h"},
        {{"h", .text = "missing", .is_hardlink = true}, {.name = NULL}, "entry-outside 0 h"},
        {{"l", .type = AE_IFLNK, .text = "x"}, {"h", .text = "l", .is_hardlink = true}, "entry-outside 0 h"},
        {{"dev", .type = AE_IFCHR}, {.name = NULL}, "entry-kind 0 dev"},
        {{"disk", .type = AE_IFBLK}, {.name = NULL}, "entry-kind 0 disk"},
        {{"fifo", .type = AE_IFIFO}, {.name = NULL}, "entry-kind 0 fifo"},
        {{"a\nb/../x", .text = "x"}, {.name = NULL}, "entry-outside 0 a?b/../x"},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct one entries[] = {cases[i].first, cases[i].second, {.name = NULL}};
        mem_auto char *in = mem_fmt("%s/in", top);
        mem_auto char *said =
            unpack(archive_of(entries, ARCHIVE_FORMAT_TAR_PAX_RESTRICTED, ARCHIVE_FILTER_NONE),
                   (struct unpack_limits)MANY);
        if (strcmp(said, cases[i].says))
            fail_msg("%zu: \"%s\", not \"%s\"", i, said, cases[i].says);
        assert_int_equal(kit_remove_tree(in), 0);
        assert_int_equal(rmdir(top), 0); /* nothing is beside it */
        assert_int_equal(mkdir(top, 0755), 0);
        assert_int_equal(mkdir(in, 0755), 0);
    }
}

static void links_inside_are_made(void **state)
{
    (void)state;
    struct stat a, b;
    static const struct one entries[] = {{.name = "d/e/file", .text = "x"},
                                         {.name = "d/again", .text = "d/e/file", .is_hardlink = true},
                                         {.name = "d/up", .type = AE_IFLNK, .text = "../d/e"},
                                         {.name = "nowhere", .type = AE_IFLNK, .text = "not/there"},
                                         {.name = "d/e/twice", .text = "old"},
                                         {.name = "d/e/twice", .text = "new"},
                                         {.name = NULL}};
    mem_auto char *said = unpack(archive_of(entries, ARCHIVE_FORMAT_TAR_GNUTAR, ARCHIVE_FILTER_GZIP),
                                 (struct unpack_limits)MANY);
    assert_string_equal(said, "");
    mem_auto char *file = content("d/up/file", &a);
    mem_auto char *again = content("d/again", &b);
    assert_string_equal(file, "x");
    assert_string_equal(again, "x");
    assert_int_equal(a.st_ino, b.st_ino);
    mem_auto char *twice = content("d/e/twice", &a);
    assert_string_equal(twice, "new");
}

static void what_comes_out_is_bounded(void **state)
{
    (void)state;
    mem_auto char *zeros = mem_zalloc((4 << 20) + 1);
    memset(zeros, '0', 4 << 20);
    const struct one entries[] = {
        {.name = "a", .text = "0123456789"}, {.name = "b", .text = "0123456789"}, {.name = NULL}};
    const struct one bomb[] = {{.name = "zeros", .text = zeros}, {.name = NULL}};
    const struct {
        const struct one *entries;
        struct unpack_limits limits;
        const char *says;
    } cases[] = {
        {entries, {20, 2, 1}, ""},
        {entries, {19, 2, 1}, "expands 0 b"},
        {entries, {20, 1, 1}, "entries 0 b"},
        {bomb, {8 << 20, 1, 100}, "ratio 0 zeros"},
        {bomb, {8 << 20, 1, 10000}, ""},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        mem_auto char *said = unpack(
            archive_of(cases[i].entries, ARCHIVE_FORMAT_TAR_USTAR, ARCHIVE_FILTER_GZIP), cases[i].limits);
        assert_string_equal(said, cases[i].says);
    }
}

static int file_of(const void *bytes, size_t len)
{
    int fd = memfd_create("archive", MFD_CLOEXEC);

    assert_int_equal(write(fd, bytes, len), (ssize_t)len);
    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    return fd;
}

static void what_is_none_is_refused(void **state)
{
    (void)state;
    static const struct one entries[] = {{.name = "a", .text = "0123456789"}, {.name = NULL}};
    int whole = archive_of(entries, ARCHIVE_FORMAT_TAR_USTAR, ARCHIVE_FILTER_GZIP);
    char bytes[65536];
    ssize_t n = read(whole, bytes, sizeof bytes);

    close(whole);
    assert_true(n > 60);
    mem_auto char *text = unpack(file_of("no archive at all", 17), (struct unpack_limits)MANY);
    assert_non_null(strstr(text, "no-archive 0 "));
    mem_auto char *cut = unpack(file_of(bytes, 60), (struct unpack_limits)MANY);
    assert_non_null(strstr(cut, "no-archive 0 "));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_format_comes_out, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nothing_leads_outside, set_up, tear_down),
        cmocka_unit_test_setup_teardown(links_inside_are_made, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_comes_out_is_bounded, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_none_is_refused, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
