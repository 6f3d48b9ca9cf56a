/**
 * The real container-localizer: what it copies, what it refuses and why, and with whose rights.
 */
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/mem.h"
#include "base/obj.h"
#include "shim/sources_wire.h"
#include "tree_kit.h"

#define COPIES "in"

/** A directory with sources in it, and where they are copied to. */
struct place {
    char dir[32];
    struct sources_ask ask;
    char answer[4096];
};

static char *in_place(const struct place *p, const char *name)
{
    return mem_fmt("%s/%s", p->dir, name);
}

static void make_file(const struct place *p, const char *name, const char *text, mode_t mode)
{
    mem_auto char *path = in_place(p, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    assert_int_equal(fchmod(fd, mode), 0);
    close(fd);
}

static int set_up(void **state)
{
    struct place *p = mem_new(struct place);

    snprintf(p->dir, sizeof p->dir, "/tmp/sources-test-XXXXXX");
    assert_non_null(mkdtemp(p->dir));
    assert_int_equal(chmod(p->dir, 0755), 0);
    mem_auto char *copies = in_place(p, COPIES);
    assert_int_equal(mkdir(copies, 0755), 0);
    p->ask.max_bytes = 1000;
    *state = p;
    return 0;
}

static int tear_down(void **state)
{
    struct place *p = *state;

    sources_ask_fini(&p->ask);
    assert_int_equal(kit_remove_tree(p->dir), 0);
    free(p);
    return 0;
}

static void ask_for(struct place *p, const char *path, int64_t max_bytes)
{
    mem_auto char *full = *path == '/' ? mem_str(path) : in_place(p, path);
    sources_ask_file(&p->ask, SOURCE_FILE, full, max_bytes);
}

/** Run the reader. @return its exit code; the answer is in p->answer. */
static int run_reader(struct place *p)
{
    buf_auto struct buf bytes = BUF_EMPTY;
    int in = memfd_create("request", MFD_CLOEXEC), out = memfd_create("answer", MFD_CLOEXEC), status;

    if (!p->ask.n_dirs)
        sources_ask_dir(&p->ask, "/");
    sources_ask_write(&p->ask, &bytes);
    assert_int_equal(write(in, bytes.bytes, bytes.len), (ssize_t)bytes.len);
    assert_int_equal(lseek(in, 0, SEEK_SET), 0);
    mem_auto char *copies = in_place(p, COPIES);
    pid_t pid = fork();
    if (!pid) {
        char *argv[] = {(char *)"container-localizer", NULL};
        if (!chdir(copies) && dup2(in, 0) == 0 && dup2(out, 1) == 1)
            execv(LOCALIZER_PATH, argv);
        _exit(99);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    ssize_t n = pread(out, p->answer, sizeof p->answer - 1, 0);
    assert_true(n >= 0);
    p->answer[n] = '\0';
    close(in);
    close(out);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static char *read_copy(const struct place *p, size_t i, struct stat *st)
{
    mem_auto char *path = mem_fmt("%s/" COPIES "/%zu", p->dir, i);
    char text[256];
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

    if (fd < 0)
        return NULL;
    ssize_t n = read(fd, text, sizeof text);
    assert_true(n >= 0);
    assert_int_equal(fstat(fd, st), 0);
    close(fd);
    return mem_strn(text, (size_t)n);
}

static bool set_nobody(struct place *p)
{
    const struct passwd *nobody = getpwnam("nobody");
    mem_auto char *copies = in_place(p, COPIES);

    if (geteuid() || !nobody)
        return false;
    p->ask.user = (struct shim_user){.is_set = true, .uid = nobody->pw_uid, .gid = nobody->pw_gid};
    assert_int_equal(chown(copies, nobody->pw_uid, nobody->pw_gid), 0);
    assert_int_equal(chmod(copies, 0700), 0);
    return true;
}

static void files_are_copied_with_their_modes(void **state)
{
    struct place *p = *state;
    struct stat st;

    make_file(p, "a", "first", 0644);
    make_file(p, "b", "second", 04755);
    ask_for(p, "a", 100);
    ask_for(p, "b", 100);
    assert_int_equal(run_reader(p), 0);
    assert_string_equal(p->answer, "");
    mem_auto char *a = read_copy(p, 0, &st);
    assert_string_equal(a, "first");
    assert_int_equal(st.st_mode & 07777, 0644);
    mem_auto char *b = read_copy(p, 1, &st);
    assert_string_equal(b, "second");
    assert_int_equal(st.st_mode & 07777, 0755);
}

static int mode_of(const struct place *p, const char *name)
{
    mem_auto char *path = mem_fmt("%s/" COPIES "/%s", p->dir, name);
    struct stat st;

    return lstat(path, &st) ? -1 : (int)st.st_mode;
}

static void ask_for_tree(struct place *p, const char *name)
{
    mem_auto char *path = in_place(p, name);

    sources_ask_file(&p->ask, SOURCE_TREE, path, 1000);
}

/** What a task names: everything may be executed, nothing written. */
static void a_tree_is_copied_to_be_executed(void **state)
{
    struct place *p = *state;
    mem_auto char *dir = in_place(p, "d"), *below = in_place(p, "d/e"), *link = in_place(p, "d/link");

    assert_int_equal(mkdir(dir, 0755) | mkdir(below, 0711), 0);
    assert_int_equal(symlink("e/f", link), 0);
    make_file(p, "d/e/f", "deep", 0644);
    make_file(p, "plain", "#!/bin/sh", 0600);
    p->ask.unpack.max_entries = 10;
    ask_for_tree(p, "d");
    ask_for_tree(p, "plain");
    assert_int_equal(run_reader(p), 0);
    assert_string_equal(p->answer, "");
    assert_int_equal(mode_of(p, "0"), S_IFDIR | 0700);
    assert_int_equal(mode_of(p, "0/e"), S_IFDIR | 0700);
    assert_int_equal(mode_of(p, "0/e/f"), S_IFREG | 0500);
    assert_true(S_ISLNK(mode_of(p, "0/link")));
    assert_int_equal(mode_of(p, "1"), S_IFREG | 0500);
}

static void make_many(const struct place *p)
{
    for (int i = 0; i < 5; i++) {
        mem_auto char *name = mem_fmt("d/%d", i);
        make_file(p, name, "0123456789", 0644);
    }
}

static void a_tree_has_bounds(void **state)
{
    struct place *p = *state;
    mem_auto char *dir = in_place(p, "d"), *out = in_place(p, "d/out"), *fifo = in_place(p, "d/fifo");

    assert_int_equal(mkdir(dir, 0755), 0);
    make_many(p);
    ask_for_tree(p, "d");
    p->ask.unpack.max_entries = 4;
    assert_int_equal(run_reader(p), 0);
    assert_non_null(strstr(p->answer, "0 entries 0"));

    mem_auto char *copy = mem_fmt("%s/" COPIES "/0", p->dir);
    assert_int_equal(kit_remove_tree(copy), 0);
    p->ask.unpack.max_entries = 10;
    p->ask.max_bytes = 45;
    assert_int_equal(run_reader(p), 0);
    assert_non_null(strstr(p->answer, "0 too-large"));

    assert_int_equal(kit_remove_tree(copy), 0);
    p->ask.max_bytes = 1000;
    assert_int_equal(symlink("../../etc/hostname", out), 0);
    assert_int_equal(run_reader(p), 0);
    assert_string_equal(p->answer, "0 link 0 out\n");

    assert_int_equal(kit_remove_tree(copy) | unlink(out) | mkfifo(fifo, 0666), 0);
    assert_int_equal(run_reader(p), 0);
    assert_string_equal(p->answer, "0 entry-kind 0 fifo\n");
}

/** By its name it is unpacked; an archive of another name is a file. */
static void an_archive_of_a_task_is_unpacked(void **state)
{
    struct place *p = *state;
    mem_auto char *command = mem_fmt(
        "cd %s && mkdir x && echo exit 3 > x/run.sh && chmod 644 x/run.sh && tar cf A.TAR -C x run.sh && "
        "cp A.TAR other",
        p->dir);

    assert_int_equal(system(command), 0);
    p->ask.max_bytes = p->ask.unpack.max_bytes = 1 << 20;
    p->ask.unpack.max_entries = 10;
    p->ask.unpack.max_ratio = 100;
    mem_auto char *archive = in_place(p, "A.TAR"), *other = in_place(p, "other");
    sources_ask_file(&p->ask, SOURCE_TREE, archive, 1 << 20);
    sources_ask_file(&p->ask, SOURCE_TREE, other, 1 << 20);
    assert_int_equal(run_reader(p), 0);
    assert_string_equal(p->answer, "");
    assert_int_equal(mode_of(p, "0/run.sh"), S_IFREG | 0500);
    assert_int_equal(mode_of(p, "1"), S_IFREG | 0500);
}

static void make_odd_ones(const struct place *p)
{
    static const struct {
        const char *name, *to;
    } links[] = {{"link", "file"}, {"dir-link", "dir"}, {"away", "/etc/hostname"}};
    mem_auto char *dir = in_place(p, "dir"), *fifo = in_place(p, "fifo");
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    make_file(p, "file", "0123456789", 0644);
    assert_int_equal(mkdir(dir, 0755), 0);
    make_file(p, "dir/below", "x", 0644);
    assert_int_equal(mkfifo(fifo, 0644), 0);
    snprintf(name.sun_path, sizeof name.sun_path, "%s/socket", p->dir);
    assert_int_equal(bind(fd, (struct sockaddr *)&name, sizeof name), 0);
    close(fd);
    for (size_t i = 0; i < ARRAY_LEN(links); i++) {
        mem_auto char *link = in_place(p, links[i].name);
        assert_int_equal(symlink(links[i].to, link), 0);
    }
}

#define NAME_64  "0123456789012345678901234567890123456789012345678901234567890123"
#define NAME_256 NAME_64 NAME_64 NAME_64 NAME_64 /* one more than a file can have */

/** One check of all: none of them blocks, each has its own problem. */
static void what_is_no_plain_file_is_refused(void **state)
{
    struct place *p = *state;
    static const struct {
        const char *path;
        int64_t max_bytes;
        const char *wanted; /* "" when it can be had */
    } cases[] = {
        {"file", 10, ""},
        {"dir//./below", 10, ""},
        {"missing", 10, "absent 2"},
        {"file/below", 10, "absent 20"},
        {NAME_256, 10, "absent 36"},
        {"dir", 10, "not-regular 0"},
        {"fifo", 10, "not-regular 0"},
        {"socket", 10, "not-regular 0"},
        {"/dev/zero", 10, "not-regular 0"},
        {"/", 10, "not-regular 0"},
        {"link", 10, "link 40"},
        {"away", 10, "link 40"},
        {"dir-link/below", 10, "link 40"},
        {"/proc/self/fd/0", 10, "link 40"},
        {"/proc/self/root/etc/hostname", 10, "link 40"},
        {"dir/../file", 10, "outside 0"},
        {"file", 9, "too-large 0"},
    };
    char wanted[1024] = "";

    make_odd_ones(p);
    p->ask.is_check = true;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        size_t at = strlen(wanted);
        ask_for(p, cases[i].path, cases[i].max_bytes);
        if (*cases[i].wanted)
            snprintf(wanted + at, sizeof wanted - at, "%zu %s\n", i, cases[i].wanted);
    }
    assert_int_equal(run_reader(p), 0);
    assert_string_equal(p->answer, wanted);
    struct stat st;
    assert_null(read_copy(p, 0, &st));
}

static void directories_bound_what_may_be_named(void **state)
{
    struct place *p = *state;
    mem_auto char *by_link = in_place(p, "dir-link");

    make_odd_ones(p);
    p->ask.is_check = true;
    sources_ask_dir(&p->ask, by_link); /* The administrator's own name may be a link. */
    ask_for(p, "dir-link/below", 10);
    ask_for(p, "file", 10);
    ask_for(p, "dir-link/../file", 10);
    ask_for(p, "dir-linked", 10);
    assert_int_equal(run_reader(p), 0);
    assert_string_equal(p->answer, "1 outside 0\n2 outside 0\n3 outside 0\n");
}

static void the_first_problem_ends_a_copy(void **state)
{
    struct place *p = *state;
    struct stat st;

    make_file(p, "a", "0123456789", 0644);
    ask_for(p, "a", 10);
    ask_for(p, "a", 10);
    ask_for(p, "missing", 10);
    p->ask.max_bytes = 19; /* of both together: one byte too few */
    assert_int_equal(run_reader(p), 0);
    assert_string_equal(p->answer, "1 too-large 0\n");
    mem_auto char *first = read_copy(p, 0, &st);
    assert_string_equal(first, "0123456789");
}

/** A file that has no size says nothing about how much comes out of it. */
static void what_comes_out_is_counted(void **state)
{
    struct place *p = *state;

    ask_for(p, "/proc/meminfo", 100);
    assert_int_equal(run_reader(p), 0);
    assert_string_equal(p->answer, "0 too-large 0\n");
}

static void files_are_read_with_the_rights_of_the_user(void **state)
{
    struct place *p = *state;
    struct stat st;

    make_file(p, "secret", "of root", 0600);
    make_file(p, "public", "for all", 0644);
    if (!set_nobody(p))
        skip(); /* Only root has rights to give up. */
    ask_for(p, "public", 100);
    ask_for(p, "secret", 100);
    assert_int_equal(run_reader(p), 0);
    assert_string_equal(p->answer, "1 no-right 13\n");
    mem_auto char *text = read_copy(p, 0, &st);
    assert_string_equal(text, "for all");
    assert_int_equal(st.st_uid, p->ask.user.uid);
    assert_int_equal(st.st_gid, p->ask.user.gid);
    assert_null(read_copy(p, 1, &st));
}

static void a_copy_that_cannot_be_written_is_reported(void **state)
{
    struct place *p = *state;

    make_file(p, "a", "x", 0644);
    make_file(p, COPIES "/0", "there already", 0644);
    ask_for(p, "a", 10);
    assert_int_equal(run_reader(p), 0);
    assert_string_equal(p->answer, "0 unwritten 17\n");
}

#define PROPERTY(inside) "<configuration><property>" inside "</property></configuration>"

static void configurations_become_objects(void **state)
{
    struct place *p = *state;
    static const struct {
        enum source_form form;
        const char *text, *wanted; /* the object, or the line of the fault */
    } cases[] = {
        {SOURCE_XML, PROPERTY("<name>a</name><value>&lt;1</value>"), "{\"a\":\"<1\"}"},
        {SOURCE_XML, PROPERTY("<name>a</name>"), "{}"},
        {SOURCE_XML, PROPERTY("<value>1</value>"), "0 no-config 0 line 1: a property without a name\n"},
        {SOURCE_XML, "<a/>", "0 no-config 0 the root element must be configuration\n"},
        {SOURCE_XML,
         "<!DOCTYPE configuration [<!ENTITY e SYSTEM 'file:///etc/passwd'>]>" PROPERTY(
             "<name>a</name><value>&e;</value>"),
         "0 no-config 0 a DOCTYPE is not allowed\n"},
        {SOURCE_XML, "<configuration xmlns:i='x'><i:include href='/etc/passwd'/></configuration>",
         "0 no-config 0 configuration has other elements than property\n"},
        {SOURCE_PROPERTIES, "a=1\nb : 2 \nc\n# d=3\na\\=\\\\=\\u0041",
         "{\"a\":\"1\",\"a=\\\\\":\"A\",\"b\":\"2 \",\"c\":\"\"}"},
        {SOURCE_PROPERTIES, "a=\\ud800x\\ude00", "{\"a\":\"\xef\xbf\xbdx\xef\xbf\xbd\"}"},
        {SOURCE_PROPERTIES, "a=\\u12", "0 no-config 0 a=\\u12\n"},
        {SOURCE_PROPERTIES, "a=\\u0000", "0 no-config 0 a=\\u0000\n"},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct stat st;
        mem_auto char *copy_path = in_place(p, COPIES "/0");
        make_file(p, "config", cases[i].text, 0644);
        mem_auto char *path = in_place(p, "config");
        sources_ask_file(&p->ask, cases[i].form, path, 1000);
        assert_int_equal(run_reader(p), 0);
        mem_auto char *made = read_copy(p, 0, &st);
        if (strcmp(*p->answer ? p->answer : made, cases[i].wanted))
            fail_msg("%zu: %s%s", i, p->answer, made);
        unlink(copy_path);
        sources_ask_fini(&p->ask);
        p->ask.max_bytes = 1000;
    }
}

static void requests_survive_a_round_trip(void **state)
{
    (void)state;
    struct sources_ask a = {.is_check = true, .max_bytes = 7, .user = {true, 5, 6, {8}, 1}}, back = {0};
    buf_auto struct buf bytes = BUF_EMPTY;
    struct err_info why = {0};

    sources_ask_dir(&a, "/d");
    sources_ask_file(&a, SOURCE_FILE, "/x:y=z\n", 9);
    sources_ask_file(&a, SOURCE_ARCHIVE, "https://host/a.tgz", 8);
    sources_ask_file(&a, SOURCE_FILE, "hdfs://ns/a b", 7);
    sources_ask_url(&a, "http://n1/a%20b");
    sources_ask_url(&a, "http://n2/a%20b");
    a.owner = mem_str("alice");
    a.unpack = (struct unpack_limits){1, 2, 3};
    a.has_cache = true;
    a.fresh_s = 4;
    sources_ask_write(&a, &bytes);
    assert_int_equal(sources_ask_read(buf_cstr(&bytes), bytes.len, &back, &why), 0);
    assert_true(back.is_check);
    assert_int_equal(back.max_bytes, 7);
    assert_int_equal(back.user.uid, 5);
    assert_int_equal(back.user.groups[0], 8);
    assert_string_equal(back.dirs[0], "/d");
    assert_string_equal(back.sources[0].path, "/x:y=z\n");
    assert_int_equal(back.sources[0].max_bytes, 9);
    assert_int_equal(back.sources[0].form, SOURCE_FILE);
    assert_string_equal(back.sources[1].path, "https://host/a.tgz");
    assert_int_equal(back.sources[1].form, SOURCE_ARCHIVE);
    assert_int_equal(back.sources[1].n_urls, 0);
    assert_string_equal(back.sources[2].path, "hdfs://ns/a b");
    assert_int_equal(back.sources[2].n_urls, 2);
    assert_string_equal(back.sources[2].urls[1], "http://n2/a%20b");
    assert_string_equal(back.owner, "alice");
    assert_memory_equal(&back.unpack, &a.unpack, sizeof a.unpack);
    assert_true(back.has_cache);
    assert_int_equal(back.fresh_s, 4);
    sources_ask_fini(&a);
    sources_ask_fini(&back);
}

static void bad_requests_are_refused(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "colour=red", "file=/x",      "file=5:x", "file=x:/y", "archive=5:ftp://host/x", "cache=2", "dir=d",
        "check=2",    "max_bytes=-1", "uid=-1",   "noequals",  "url=http://h/"};

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct sources_ask out = {0};
        struct err_info why = {0};
        assert_int_equal(sources_ask_read(cases[i], strlen(cases[i]) + 1, &out, &why), ERR_PARSE);
        assert_null(out.sources);
    }
    struct source_fault f;
    assert_int_equal(source_fault_read("3 strange 1\n", &f), ERR_PARSE);
    assert_int_equal(source_fault_read("3 link 40\n", &f), 0);
    assert_int_equal(f.problem, SOURCE_LINK);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(files_are_copied_with_their_modes),
        CASE(a_tree_is_copied_to_be_executed),
        CASE(a_tree_has_bounds),
        CASE(an_archive_of_a_task_is_unpacked),
        CASE(what_is_no_plain_file_is_refused),
        CASE(directories_bound_what_may_be_named),
        CASE(the_first_problem_ends_a_copy),
        CASE(what_comes_out_is_counted),
        CASE(files_are_read_with_the_rights_of_the_user),
        CASE(a_copy_that_cannot_be_written_is_reported),
        CASE(configurations_become_objects),
        cmocka_unit_test(requests_survive_a_round_trip),
        cmocka_unit_test(bad_requests_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
