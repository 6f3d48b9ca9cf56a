/**
 * The files of a container: a clean working directory for each launch, laid where nobody else can be, with what the caller has
 * named read by a process that has no rights but the container's.
 */
#include "local_kit.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/obj.h"
#include "cluster/local_priv.h"

#define C4 "container_1700000000000_0001_01_000004"

/** A launch of C1 with files; the story begins anew: of a process that ends at once the start may not be reported. */
static void launch_files(struct host *h, int64_t attempt, const char *command,
                         const struct cluster_file *files, size_t n_files)
{
    static const char *const env[] = {"PATH=/usr/bin:/bin", NULL};
    const struct cluster_launch l = {.attempt = attempt,
                                     .owner = "alice",
                                     .command = command,
                                     .env = env,
                                     .files = files,
                                     .n_files = n_files};
    struct err_info why = {0};

    h->story[0] = '\0';
    if (cluster_launch(h->cluster, C1, &l, &why))
        fail_msg("%s", why.text);
}

static void allocate(struct host *h)
{
    request(h, C1, 10, NULL);
    await(h, "allocated:1");
}

/** A file in the directory of the test. free() */
static char *make_source(const struct host *h, const char *name, const char *text, mode_t mode)
{
    char *path = mem_fmt("%s/%s", h->dir, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    assert_int_equal(fchmod(fd, mode), 0);
    close(fd);
    assert_int_equal(chmod(h->dir, 0755), 0); /* The containers' user must reach it. */
    return path;
}

static char *in_container(const struct host *h, const char *name)
{
    return mem_fmt("%s/containers/%s/%s", h->dir, C1, name);
}

static void files_are_laid_and_stay_inside(void **state)
{
    struct host *h = *state;
    const struct cluster_file files[] = {{.path = "conf/deep/a.txt", .bytes = "hello", .len = 5},
                                         {.path = "copy", .source = "/etc/passwd"}};
    const struct cluster_file bad = {.path = "conf/../../x", .bytes = ""},
                              relative = {.path = "x", .source = "etc/passwd"};
    struct cluster_launch l = {.attempt = 1, .command = "true", .files = &bad, .n_files = 1};
    struct err_info why = {0};

    allocate(h);
    assert_int_equal(cluster_launch(h->cluster, C1, &l, &why), ERR_INVALID);
    l.files = &relative;
    assert_int_equal(cluster_launch(h->cluster, C1, &l, &why), ERR_INVALID);
    assert_non_null(strstr(why.text, "absolute"));
    assert_int_equal(cluster_launch(h->cluster, C2, &l, &why), ERR_NOTFOUND);

    l.files = files;
    l.n_files = ARRAY_LEN(files);
    l.command = "cat conf/deep/a.txt; cmp copy /etc/passwd && echo; echo x >> conf/deep/a.txt";
    assert_int_equal(cluster_launch(h->cluster, C1, &l, &why), 0);
    assert_int_equal(cluster_launch(h->cluster, C1, &l, &why), ERR_WRONGSTATE);
    await(h, "exited:1");
    assert_int_equal(h->exit.raw, 0);
    mem_auto char *log = read_log(h, C1);
    assert_string_equal(log, "hello\n");
}

/* ---- a clean working directory ---- */

static void each_launch_begins_with_a_clean_directory(void **state)
{
    struct host *h = *state;
    const struct cluster_file first = {.path = "conf/a", .bytes = "one\n", .len = 4},
                              second = {.path = "conf/a", .bytes = "two\n", .len = 4};

    allocate(h);
    launch_files(h, 1, "cat conf/a; echo x > left; mkdir -p d/e; echo changed > conf/a; exit 1", &first, 1);
    await(h, "exited:1");
    launch_files(h, 2, "find . -type f; cat conf/a", &second, 1);
    await(h, "exited:1");
    mem_auto char *log = read_log(h, C1);
    assert_string_equal(log, "one\n./conf/a\ntwo\n");
    mem_auto char *staging = in_container(h, "staging"), *old = in_container(h, "old");
    assert_int_equal(access(staging, F_OK), -1);
    assert_int_equal(access(old, F_OK), -1);
}

/** What no path can name: directories much deeper than one descriptor for each level allows for. */
static void what_a_process_left_goes_however_deep(void **state)
{
    struct host *h = *state;

    allocate(h);
    launch_files(
        h, 1,
        "i=0; while [ $i -lt 700 ]; do mkdir directory; cd -P directory; i=$((i+1)); done 2>/dev/null; "
        "echo x > bottom && exit 1",
        NULL, 0);
    await(h, "exited:1");
    assert_int_equal(h->exit.raw, 1);
    launch_files(h, 2, "ls -A", NULL, 0);
    await(h, "exited:1");
    mem_auto char *log = read_log(h, C1);
    assert_string_equal(log, "");
}

static void links_of_an_earlier_launch_lead_nowhere(void **state)
{
    struct host *h = *state;
    const struct cluster_file file = {.path = "conf/a", .bytes = "laid", .len = 4};
    mem_auto char *victim = mem_fmt("%s/victim", h->dir), *harm = mem_fmt("%s/a", victim);
    mem_auto char *command = mem_fmt("rm -r conf; ln -s %s conf; exit 1", victim);

    assert_int_equal(mkdir(victim, 0777), 0);
    allocate(h);
    launch_files(h, 1, command, &file, 1);
    await(h, "exited:1");
    launch_files(h, 2, "cat conf/a", &file, 1);
    await(h, "exited:1");
    mem_auto char *log = read_log(h, C1);
    assert_string_equal(log, "laid");
    assert_int_equal(access(harm, F_OK), -1);
}

/* ---- sources ---- */

static void templates_and_copies_are_the_users(void **state)
{
    struct host *h = *state;
    json_t *values = json_pack("{s:s}", "ID", "7");
    mem_auto char *t = make_source(h, "template", "id=${ID} ${OTHER}\n", 0644);
    mem_auto char *c = make_source(h, "program", "#!/bin/sh\necho run\n", 04755);
    const struct cluster_file files[] = {{.path = "conf/t", .source = t, .values = values},
                                         {.path = "bin/p", .source = c}};

    allocate(h);
    launch_files(h, 1, "cat conf/t; bin/p; find . ! -user $(id -u); stat -c '%n %a' conf/t bin/p bin .",
                 files, ARRAY_LEN(files));
    await(h, "exited:1");
    json_decref(values);
    mem_auto char *log = read_log(h, C1);
    assert_string_equal(log, "id=7 ${OTHER}\nrun\nconf/t 640\nbin/p 755\nbin 750\n. 750\n");
}

static void a_template_does_not_grow_without_bound(void **state)
{
    struct host *h = *state;
    mem_auto char *big = mem_alloc(65537);
    memset(big, 'x', 65536);
    big[65536] = '\0';
    json_t *values = json_pack("{s:s}", "B", big);
    buf_auto struct buf text = BUF_EMPTY;
    for (int i = 0; i < 300; i++)
        buf_add_str(&text, "${B}");
    mem_auto char *t = make_source(h, "template", buf_cstr(&text), 0644);
    const struct cluster_file file = {.path = "conf/t", .source = t, .values = values};

    allocate(h);
    launch_files(h, 1, "true", &file, 1);
    await(h, "exited:1");
    json_decref(values);
    assert_int_equal(h->exit.cause, CAUSE_LAUNCH);
    assert_non_null(strstr(h->exit.text, "is larger than"));
}

static void what_cannot_be_had_is_an_exit_with_its_reason(void **state)
{
    struct host *h = *state;
    mem_auto char *fifo = mem_fmt("%s/fifo", h->dir), *link = mem_fmt("%s/link", h->dir);
    mem_auto char *secret = make_source(h, "secret", "of root", 0600);
    mem_auto char *large = make_source(h, "large", "", 0644);
    const struct {
        const char *path, *says;
        bool needs_root;
    } cases[] = {
        {"/no/such/file", "there is no such file", false},
        {fifo, "it is no regular file", false},
        {"/dev/zero", "it is no regular file", false},
        {link, "a symbolic link leads to it: name the file itself", false},
        {large, "it is too large", false},
        {secret, "may not read it: give him the right", true},
        {"/etc/shadow", "may not read it: give him the right", true},
    };

    assert_int_equal(mkfifo(fifo, 0666), 0);
    assert_int_equal(symlink("/etc/hostname", link), 0);
    assert_int_equal(truncate(large, 2 << 20), 0);
    allocate(h);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct cluster_file file = {.path = "x", .source = cases[i].path};
        if (cases[i].needs_root && geteuid())
            continue;
        launch_files(h, (int64_t)i + 1, "cat x", &file, 1);
        await(h, "exited:1");
        assert_int_equal(h->exit.cause, CAUSE_LAUNCH);
        mem_auto char *says = mem_fmt("src_file %s, as user %s: %s", cases[i].path,
                                      cluster_find(h->cluster, C1)->run_user, cases[i].says);
        if (!strstr(h->exit.text, cases[i].says) || !strstr(h->exit.text, cases[i].path))
            fail_msg("\"%s\" does not say \"%s\"", h->exit.text, says);
    }
}

/** A source of a task that is missing is so for every container of it. */
static void sources_of_a_task(void **state)
{
    struct host *h = *state;
    mem_auto char *script = make_source(h, "run", "#!/bin/sh\nexit 5\n", 0644);
    const struct cluster_file there = {.path = "run", .source = script, .is_source = true},
                              missing = {.path = "no", .source = "/no/such/file", .is_source = true};

    allocate(h);
    launch_files(h, 1, "./run", &there, 1);
    await(h, "exited:1");
    assert_int_equal(h->exit.cause, CAUSE_EXITED);
    assert_int_equal(h->exit.raw, 5);
    launch_files(h, 2, "./run", &missing, 1);
    await(h, "exited:1");
    assert_int_equal(h->exit.cause, CAUSE_SOURCE);
    assert_non_null(strstr(h->exit.text, "Source /no/such/file"));
}

/* ---- readers that take their time ---- */

/** A localizer that first does something else. */
static void use_reader(struct host *h, const char *first)
{
    mem_auto char *text = mem_fmt("#!/bin/sh\n%s\nexec %s\n", first, LOCALIZER_PATH);

    close_cluster(h);
    h->localizer_path = make_source(h, "localizer", text, 0755);
    open_cluster(h);
}

static int64_t await_pid(const char *path)
{
    int64_t pid = 0;

    for (int i = 0; i < DEADLINE_MS / 5 && pid <= 0; i++) {
        FILE *f = fopen(path, "r");
        char line[32] = "";
        if (f && fgets(line, sizeof line, f) && strchr(line, '\n'))
            pid = atoll(line);
        if (f)
            fclose(f);
        if (pid <= 0)
            usleep(5000);
    }
    assert_true(pid > 0);
    return pid;
}

static void await_end_of(int64_t pid)
{
    for (int i = 0; i < DEADLINE_MS / 5 && is_alive(pid); i++)
        usleep(5000);
    assert_false(is_alive(pid));
}

static void done_with_reader(struct host *h)
{
    free((char *)h->localizer_path);
    h->localizer_path = NULL;
}

/** Whether the containers' user can get at a path; only root can try. */
static int open_as_nobody(const char *path)
{
    const struct passwd *nobody = getpwnam("nobody");
    int status;

    assert_non_null(nobody);
    pid_t pid = fork();
    if (!pid) {
        if (setgid(nobody->pw_gid) || setuid(nobody->pw_uid))
            _exit(99);
        int fd = open(path, O_RDONLY | O_DIRECTORY);
        _exit(fd < 0 ? errno : 0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WEXITSTATUS(status);
}

/** While files are laid, no directory stands anywhere in which another container of the same user could change a name. */
static void nobody_enters_what_is_being_laid(void **state)
{
    struct host *h = *state;
    mem_auto char *pid_file = mem_fmt("%s/pid", h->dir), *go = mem_fmt("%s/go", h->dir);
    mem_auto char *wait = mem_fmt("echo $$ > %s; while ! [ -e %s ]; do sleep 0.01; done", pid_file, go);
    static const char *const hidden[] = {"staging", "staging/in", "staging/work"};
    const struct cluster_file files[] = {{.path = "conf/a", .bytes = "laid", .len = 4},
                                         {.path = "x", .source = "/etc/passwd"}};
    mem_auto char *work = in_container(h, "work");

    if (geteuid())
        skip(); /* Only root has another user's containers. */
    use_reader(h, wait);
    allocate(h);
    launch_files(h, 1, "cat conf/a", files, ARRAY_LEN(files));
    struct run_timer *tick = run_timer_new(h->loop, (void (*)(void *))run_loop_stop, h->loop);
    while (access(pid_file, F_OK)) {
        run_timer_start(tick, 5, 0);
        run_loop_run(h->loop);
    }
    run_timer_free(tick);
    await_pid(pid_file);
    for (size_t i = 0; i < ARRAY_LEN(hidden); i++) {
        mem_auto char *path = in_container(h, hidden[i]);
        assert_int_equal(access(path, F_OK), 0);
        assert_int_equal(open_as_nobody(path), EACCES);
    }
    assert_int_equal(open_as_nobody(work), ENOENT);
    close(open(go, O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
    await(h, "exited:1");
    assert_int_equal(open_as_nobody(work), 0);
    mem_auto char *log = read_log(h, C1);
    assert_string_equal(log, "laid");
    done_with_reader(h);
}

/** Launch C1 with a reader that does nothing, and allocate C2. @return file of the reader's pid; free() */
static char *launch_with_hanging_reader(struct host *h)
{
    char *pid_file = mem_fmt("%s/pid", h->dir);
    mem_auto char *hang = mem_fmt("echo $$ > %s; exec sleep 1000", pid_file);
    const struct cluster_file file = {.path = "x", .source = "/etc/passwd"};

    use_reader(h, hang);
    allocate(h);
    launch_files(h, 1, "true", &file, 1);
    request(h, C2, 10, NULL);
    await(h, "allocated:2");
    return pid_file;
}

static void a_reader_that_hangs_holds_nobody_up(void **state)
{
    struct host *h = *state;

    h->source_timeout_ms = 5000;
    mem_auto char *pid_file = launch_with_hanging_reader(h);
    launch(h, C2, 1, "exec sleep 1000");
    await(h, "exited:1");
    assert_non_null(strstr(h->story, "started:2"));
    assert_int_equal(h->exit.cause, CAUSE_LAUNCH);
    assert_non_null(
        strstr(h->exit.text, "/etc/passwd took longer than yarn.service.local.source-timeout (5 s)"));
    await_end_of(await_pid(pid_file));
    done_with_reader(h);
}

static void a_stop_does_not_wait_for_a_reader(void **state)
{
    struct host *h = *state;
    const struct cluster_file file = {.path = "x", .source = "/etc/passwd"};

    use_reader(h, "exec sleep 1000");
    allocate(h);
    launch_files(h, 1, "true", &file, 1);
    cluster_stop(h->cluster, C1, 5000);
    await(h, "exited:1");
    assert_true(h->exit.was_stopped);

    launch_files(h, 2, "true", &file, 1);
    cluster_release(h->cluster, C1);
    request(h, C2, 1000, NULL); /* Needs all the room: comes when C1 has gone. */
    await(h, "allocated:2");
    done_with_reader(h);
}

static void a_cluster_that_closes_takes_its_readers_along(void **state)
{
    struct host *h = *state;
    mem_auto char *pid_file = launch_with_hanging_reader(h);

    launch(h, C2, 1, "true"); /* What it does on the pool comes after what was done for the first. */
    await(h, "exited:2");
    int64_t pid = await_pid(pid_file);
    close_cluster(h);
    await_end_of(pid);
    done_with_reader(h);
    open_cluster(h);
}

/* ---- questions without a launch ---- */

/** What cluster_look said. */
struct seen {
    struct host *host;
    bool is_there[3]; /* while somebody could say */
    int problem;
    bool is_called, is_known;
    bool is_awaited; /* the loop runs for it */
};

static void on_looked(void *arg, const bool *absent, const struct err_info *problem)
{
    struct seen *s = arg;

    s->is_called = true;
    s->is_known = absent != NULL;
    for (size_t i = 0; absent && i < ARRAY_LEN(s->is_there); i++)
        s->is_there[i] = !absent[i];
    s->problem = problem->code;
    if (s->is_awaited)
        run_loop_stop(s->host->loop);
}

static void files_are_looked_for_without_a_launch(void **state)
{
    struct host *h = *state;
    mem_auto char *link = mem_fmt("%s/link", h->dir);
    const char *const plain[] = {"etc/passwd", "/etc/passwd", "/no/such"},
                      *const odd[] = {"/no/such", link, "/dev/zero"}, *const relative[] = {"a", "b", "c"};
    struct seen s = {.host = h, .is_awaited = true};

    assert_int_equal(symlink("/etc/passwd", link), 0);
    assert_int_equal(chmod(h->dir, 0755), 0);
    cluster_look(h->cluster, "alice", plain, 3, on_looked, &s);
    assert_false(s.is_called);
    run_loop_run(h->loop);
    assert_true(s.is_known && !s.is_there[0] && s.is_there[1] && !s.is_there[2]);
    assert_int_equal(s.problem, 0);
    cluster_look(h->cluster, "alice", odd, 3, on_looked, &s);
    run_loop_run(h->loop);
    assert_true(s.is_known && !s.is_there[0] && s.is_there[1] && s.is_there[2]);
    assert_int_equal(s.problem, ERR_INVALID);
    s = (struct seen){.host = h};
    cluster_look(h->cluster, "alice", relative, 3, on_looked, &s);
    assert_true(s.is_called && s.is_known && !s.is_there[0] && !s.is_there[1] && !s.is_there[2]);
}

static void nobody_waits_for_ever_for_a_look(void **state)
{
    struct host *h = *state;
    const char *const paths[] = {"/etc/passwd"};
    struct seen late = {.host = h, .is_awaited = true}, cut = {.host = h};

    h->source_timeout_ms = 1000;
    use_reader(h, "exec sleep 1000");
    cluster_look(h->cluster, "alice", paths, 1, on_looked, &late);
    run_loop_run(h->loop);
    assert_true(late.is_called && !late.is_known);
    assert_int_equal(late.problem, ERR_TIMEOUT);
    cluster_look(h->cluster, "alice", paths, 1, on_looked, &cut);
    close_cluster(h);
    assert_true(cut.is_called && !cut.is_known);
    assert_int_equal(cut.problem, ERR_CANCELLED);
    done_with_reader(h);
    open_cluster(h);
}

/* ---- who may look where ---- */

static mode_t mode_of(const char *path)
{
    struct stat st;

    assert_int_equal(stat(path, &st), 0);
    return st.st_mode & 07777;
}

static void directories_are_for_their_user_alone(void **state)
{
    struct host *h = *state;
    static const struct {
        const char *path;
        mode_t mode;
    } cases[] = {
        {"containers", 0711},
        {"containers/" C1, 0711},
        {"containers/" C1 "/work", 0750},
        {"logs", 0711},
        {"logs/" APP, 0711},
        {"logs/" APP "/" C1, 0750},
        {"logs/" APP "/" C1 "/stdout.txt", 0640},
    };

    allocate(h);
    launch(h, C1, 1, "true");
    await(h, "exited:1");
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        mem_auto char *path = mem_fmt("%s/%s", h->dir, cases[i].path);
        assert_int_equal(mode_of(path), cases[i].mode);
    }
}

/** After a change of the containers' user his logs cannot go into the other's directory, and the other's are kept. */
static void logs_of_another_user_are_put_aside(void **state)
{
    struct host *h = *state;
    mem_auto char *logs = mem_fmt("%s/logs/%s/%s", h->dir, APP, C1),
                  *aside = mem_fmt("%s.of-12345/stdout.txt", logs);
    mem_auto char *file = mem_fmt("%s/stdout.txt", logs);

    if (geteuid())
        skip(); /* Only root has containers of several users. */
    allocate(h);
    launch(h, C1, 1, "echo one; exit 1");
    await(h, "exited:1");
    assert_int_equal(chown(logs, 12345, 12345) || chown(file, 12345, 12345), 0);
    h->story[0] = '\0';
    launch(h, C1, 2, "echo two");
    await(h, "exited:1");
    mem_auto char *log = read_log(h, C1);
    assert_string_equal(log, "two\n");
    assert_int_equal(access(aside, F_OK), 0);
}

static void launch_owner(struct host *h, const char *id, const char *owner, const char *command)
{
    static const char *const env[] = {"PATH=/usr/bin:/bin", NULL};
    const struct cluster_launch l = {.attempt = 1, .owner = owner, .command = command, .env = env};
    struct err_info why = {0};

    assert_int_equal(cluster_launch(h->cluster, id, &l, &why), 0);
}

/** Launch a container for an owner, and wait for its end. @return what it wrote; free() */
static char *run_as_owner(struct host *h, const char *id, const char *owner, const char *command)
{
    mem_auto char *allocated = mem_fmt("allocated:%c", id[strlen(id) - 1]);
    mem_auto char *exited = mem_fmt("exited:%c", id[strlen(id) - 1]);

    request(h, id, 10, NULL);
    await(h, allocated);
    launch_owner(h, id, owner, command);
    await(h, exited);
    return read_log(h, id);
}

static void each_owner_is_a_user_of_his_own(void **state)
{
    struct host *h = *state;
    mem_auto char *spy =
        mem_fmt("cat ../../%s/work/secret %s/logs/%s/%s/stdout.txt 2>/dev/null || echo refused; id -u; id -G",
                C1, h->dir, APP, C1);

    if (geteuid())
        skip(); /* Only root has containers of several users. */
    close_cluster(h);
    assert_int_equal(chmod(h->dir, 0755), 0);
    h->user_range = "1900000000-1900000001";
    open_cluster(h);
    mem_auto char *first = run_as_owner(h, C1, "alice", "echo a > secret; id -u; id -g; id -G; umask");
    mem_auto char *second = run_as_owner(h, C2, "bob", spy);
    assert_string_equal(first, "1900000000\n1900000000\n1900000000\n0022\n");
    assert_string_equal(second, "refused\n1900000001\n1900000001\n");

    close_cluster(h); /* What was assigned is found again, and no third owner gets one of theirs. */
    open_cluster(h);
    mem_auto char *again = run_as_owner(h, C3, "bob", "id -u");
    assert_string_equal(again, "1900000001\n");
    cluster_release(h->cluster, C3);
    request(h, C4, 1000, NULL);
    for (int i = 1; i <= 2; i++)
        cluster_release(h->cluster, i == 1 ? C1 : C2);
    await(h, "allocated:4");
    launch_owner(h, C4, "carol", "true");
    await(h, "exited:4");
    assert_int_equal(h->exit.cause, CAUSE_LAUNCH);
    assert_non_null(strstr(h->exit.text, "none is left for carol; make the range longer"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(files_are_laid_and_stay_inside),
        CASE(each_launch_begins_with_a_clean_directory),
        CASE(what_a_process_left_goes_however_deep),
        CASE(links_of_an_earlier_launch_lead_nowhere),
        CASE(templates_and_copies_are_the_users),
        CASE(a_template_does_not_grow_without_bound),
        CASE(what_cannot_be_had_is_an_exit_with_its_reason),
        CASE(sources_of_a_task),
        CASE(nobody_enters_what_is_being_laid),
        CASE(a_reader_that_hangs_holds_nobody_up),
        CASE(a_stop_does_not_wait_for_a_reader),
        CASE(a_cluster_that_closes_takes_its_readers_along),
        CASE(files_are_looked_for_without_a_launch),
        CASE(nobody_waits_for_ever_for_a_look),
        CASE(directories_are_for_their_user_alone),
        CASE(logs_of_another_user_are_put_aside),
        CASE(each_owner_is_a_user_of_his_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
