/* A process that writes is killed: what it acknowledged is there, and nothing is half there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "store_kit.h"

#define WRITER_MAGIC OBJ_MAGIC('W', 'R', 'I', 'T')

enum { ROUNDS = 6, IN_FLIGHT = 40 };

/** In the child: one of several writers that go on until they are killed. */
struct writer {
    struct obj obj;
    struct store *store;
    int pipe_fd;
    uint32_t round, n, step;
};

/** What is acknowledged, one pipe write each. */
struct ack {
    uint32_t round, n;
    int64_t zxid;
};

static void write_next(struct writer *w);

static void on_written(void *arg, int err, const struct store_result *r)
{
    struct writer *w = obj_cast(arg, struct writer, WRITER_MAGIC);
    struct ack ack = {w->round, w->n, r->zxid};
    if (err) {
        fprintf(stderr, "%s: %s %s\n", err_name(err), r->why.where, r->why.text);
        _exit(2);
    }
    if (write(w->pipe_fd, &ack, sizeof ack) != sizeof ack)
        _exit(3);
    w->n += w->step;
    write_next(w);
}

/** A pair that must be there together, and a counter in the root that moves with it. */
static void write_next(struct writer *w)
{
    char left[32], right[32], text[32];
    snprintf(left, sizeof left, "/l-%u-%u", w->round, w->n);
    snprintf(right, sizeof right, "/r-%u-%u", w->round, w->n);
    snprintf(text, sizeof text, "%u", w->n);
    const struct store_op ops[] = {{STORE_OP_CREATE, left, text, strlen(text), -1, NULL, 0, NULL},
                                   {STORE_OP_SET, "/", text, strlen(text), -1, NULL, 0, NULL},
                                   {STORE_OP_CREATE, right, text, strlen(text), -1, NULL, 0, NULL}};
    store_multi(w->store, ops, 3, on_written, w);
}

static int child_main(const char *dir, uint32_t round, int pipe_fd)
{
    static struct writer writers[IN_FLIGHT];
    mem_auto char *url = mem_fmt("file:%s", dir);
    struct err_info why;
    struct store *store = NULL;
    struct run_loop *loop = run_loop_new();
    if (store_open(loop, url, NULL, &store, &why)) {
        fprintf(stderr, "%s: %s\n", why.where, why.text);
        _exit(1);
    }
    for (uint32_t i = 0; i < IN_FLIGHT; i++) {
        writers[i] = (struct writer){{0}, store, pipe_fd, round, i, IN_FLIGHT};
        obj_init(&writers[i].obj, WRITER_MAGIC);
        write_next(&writers[i]);
    }
    run_loop_run(loop);
    return 4;
}

/** Become this program again as a writer: a fresh process, as threads do not survive a fork. */
static void child_exec(const char *dir, uint32_t round, int pipe_fd)
{
    char round_text[16], fd_text[16];
    snprintf(round_text, sizeof round_text, "%u", round);
    snprintf(fd_text, sizeof fd_text, "%d", pipe_fd);
    execl("/proc/self/exe", "test_store_lmdb_crash", dir, round_text, fd_text, (char *)NULL);
    _exit(5);
}

/** Let a child write, kill it after some acknowledgements, and collect all of them. @return how many. */
static size_t write_and_kill(const char *dir, uint32_t round, struct ack **acks)
{
    int fds[2];
    size_t n_acks = 0, wanted = 60 + round * 97;
    assert_int_equal(pipe(fds), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        close(fds[0]);
        child_exec(dir, round, fds[1]);
    }
    close(fds[1]);
    struct ack ack;
    ssize_t got;
    while ((got = read(fds[0], &ack, sizeof ack)) > 0) {
        assert_int_equal(got, sizeof ack);
        *acks = mem_resize(*acks, n_acks + 1, sizeof **acks);
        (*acks)[n_acks++] = ack;
        if (n_acks == wanted)
            assert_int_equal(kill(pid, SIGKILL), 0);
    }
    close(fds[0]);
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    assert_true(n_acks >= wanted);
    return n_acks;
}

static void assert_acknowledged_are_there(struct kit *kit, const struct ack *acks, size_t n_acks)
{
    for (size_t i = 0; i < n_acks; i++) {
        mem_auto char *left = mem_fmt("/l-%u-%u", acks[i].round, acks[i].n);
        mem_auto char *right = mem_fmt("/r-%u-%u", acks[i].round, acks[i].n);
        mem_auto char *text = mem_fmt("%u", acks[i].n);
        assert_err(kit_get(kit, left), 0);
        struct outcome *o = kit_get(kit, right);
        assert_err(o, 0);
        assert_string_equal(o->data, text);
        assert_int_equal(o->stat.czxid, acks[i].zxid);
    }
}

static void assert_pairs_are_whole(struct kit *kit)
{
    struct outcome *o = kit_children(kit, "/");
    assert_err(o, 0);
    size_t n = o->n_children;
    mem_auto char *names = buf_take(&o->children);
    size_t n_left = 0;
    for (const char *name = names; *name; name = strchr(name, '\n') + 1)
        n_left += name[0] == 'l';
    assert_int_equal(n_left * 2, n);
    /* In byte order all left ones come first, and the right ones in the same order. */
    const char *left = names, *right = names;
    for (size_t i = 0; i < n_left; i++)
        right = strchr(right, '\n') + 1;
    for (size_t i = 0; i < n_left; i++) {
        size_t len = strcspn(left, "\n");
        assert_memory_equal(left + 1, right + 1, len);
        left += len + 1;
        right += len + 1;
    }
}

static void killed_writer_loses_nothing_acknowledged(void **state)
{
    char *dir = kit_dir_new();
    struct kit *kit = kit_open_dir(dir, NULL);
    int64_t last_zxid = 0;
    (void)state;
    assert_err(kit_create(kit, "/", "0"), 0);
    kit_free(kit);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        mem_auto struct ack *acks = NULL;
        size_t n_acks = write_and_kill(dir, round, &acks);
        kit = kit_open_dir(dir, NULL);
        assert_true(acks[0].zxid > last_zxid);
        last_zxid = acks[n_acks - 1].zxid;
        assert_acknowledged_are_there(kit, acks, n_acks);
        assert_pairs_are_whole(kit);
        kit_mirror(kit);
        assert_true(mirror_applied(kit->mirror) >= last_zxid);
        last_zxid = mirror_applied(kit->mirror);
        kit_free(kit);
    }
    kit_dir_remove(dir);
    free(dir);
}

int main(int argc, char **argv)
{
    if (argc == 4)
        return child_main(argv[1], (uint32_t)atoi(argv[2]), atoi(argv[3]));
    const struct CMUnitTest tests[] = {cmocka_unit_test(killed_writer_loses_nothing_acknowledged)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
