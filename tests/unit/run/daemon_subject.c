/**
 * A daemon to be tested from outside: two parts, of which the second can be made to fail, to stop late, or to quit.
 * What it does it says on stdout, one line each.
 */
#include "base/mem.h"
#include "base/obj.h"
#include "run/daemon.h"
#include "run/log.h"

#include <stdio.h>
#include <string.h>

#define SUBJECT_OPTIONS(X)                                                                                   \
    X(O_FAIL, "s.fail", OPT_BOOL, "", "false", 0, 0, OPT_FIXED, "The second part fails.")                    \
    X(O_QUIT, "s.quit", OPT_BOOL, "", "false", 0, 0, OPT_FIXED, "The second part ends the program.")         \
    X(O_WORD, "s.word", OPT_TEXT, "", "one", 0, 0, OPT_RELOADABLE, "A word that is printed.")                \
    X(O_PORT, "s.port", OPT_INT, "", "1", 0, 9, OPT_FIXED, "A number.")                                      \
    X(O_MIN, "s.min", OPT_INT, "", "0", 0, 9, OPT_FIXED, "At most s.port.")
enum { OPTIONS_ENUM(SUBJECT_OPTIONS) };
static const struct opt_def options[] = {OPTIONS_ROWS(SUBJECT_OPTIONS)};

#define APP_MAGIC OBJ_MAGIC('S', 'U', 'B', 'J')

struct app {
    struct obj obj;
    struct daemon *daemon;
    struct run_timer *timer;
};

static void print(const char *what)
{
    puts(what);
    fflush(stdout);
}

static int first_start(struct daemon *d, void *arg, struct err_info *why)
{
    struct app *app = arg;
    (void)why;
    obj_init(&app->obj, APP_MAGIC);
    app->daemon = d;
    print("first up");
    return 0;
}

static void first_stop(struct daemon *d, void *arg)
{
    (void)obj_cast(arg, struct app, APP_MAGIC);
    print("first down");
    daemon_stopped(d);
}

static void be_ready(void *arg)
{
    struct app *app = obj_cast(arg, struct app, APP_MAGIC);
    const struct options *o = daemon_options(app->daemon);
    buf_auto struct buf version = BUF_EMPTY;
    mem_auto char *line = mem_fmt("ready after %s", daemon_not_ready_reason(app->daemon));
    daemon_version_fact(app->daemon, "store", "fi\"le");
    daemon_version_fact(app->daemon, "store", "zk");
    daemon_version_json(app->daemon, &version);
    print(version.bytes);
    daemon_ready(app->daemon, NULL);
    print(line);
    if (opt_bool(o, O_QUIT))
        daemon_quit(app->daemon, ERR_NOSPC);
}

static int second_start(struct daemon *d, void *arg, struct err_info *why)
{
    struct app *app = obj_cast(arg, struct app, APP_MAGIC);
    if (opt_bool(daemon_options(d), O_FAIL))
        return err_set(why, ERR_ADDRINUSE, "s.fail", "fails by request");
    app->timer = run_timer_new(daemon_loop(d), be_ready, app);
    run_timer_start(app->timer, 0, 0);
    print("second up");
    return 0;
}

static void second_is_down(void *arg)
{
    struct app *app = obj_cast(arg, struct app, APP_MAGIC);
    run_timer_free(app->timer);
    print("second down");
    daemon_stopped(app->daemon);
}

static void second_stop(struct daemon *d, void *arg)
{
    struct app *app = obj_cast(arg, struct app, APP_MAGIC);
    run_timer_free(app->timer);
    app->timer = run_timer_new(daemon_loop(d), second_is_down, app);
    run_timer_start(app->timer, 1, 0);
}

static void check_min(const struct options *o, struct opt_report *report)
{
    struct err_info why;
    if (opt_int(o, O_MIN) > opt_int(o, O_PORT)) {
        err_set(&why, ERR_CONFIG, "s.min", "larger than s.port");
        opt_error(o, "s.min", &why, report);
    }
}

static void check_word(const struct options *o, struct opt_report *report)
{
    struct err_info why;
    if (strcmp(opt_text(o, O_WORD), "odd") == 0) {
        err_set(&why, ERR_CONFIG, "odd", "an odd word");
        opt_warning(o, "s.word", &why, report);
    }
    if (strcmp(opt_text(o, O_WORD), "wrong") == 0) {
        err_set(&why, ERR_CONFIG, "/some/file:3", "a wrong\nword");
        opt_error(o, "s.word", &why, report);
    }
}

static void reload(struct daemon *d, void *arg)
{
    (void)obj_cast(arg, struct app, APP_MAGIC);
    mem_auto char *line = mem_fmt("word %s port %lld", opt_text(daemon_options(d), O_WORD),
                                  (long long)opt_int(daemon_options(d), O_PORT));
    print(line);
}

static int third_start(struct daemon *d, void *arg, struct err_info *why)
{
    (void)d;
    (void)arg;
    (void)why;
    return 0;
}

static const struct daemon_step steps[] = {
    {"first", first_start, first_stop, check_min},
    {"second", second_start, second_stop, check_word},
    {"third", third_start, NULL, NULL},
};

int main(int argc, char **argv)
{
    static const struct daemon_def def = {
        .name = "subject",
        .summary = "A daemon to be tested.",
        .options = options,
        .n_options = ARRAY_LEN(options),
        .steps = steps,
        .n_steps = ARRAY_LEN(steps),
        .reload = reload,
        .app_size = sizeof(struct app),
    };
    return daemon_main(&def, argc, argv);
}
