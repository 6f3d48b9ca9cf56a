#include "run/daemon.h"
#include "base/mem.h"
#include "base/obj.h"
#include "run/args.h"
#include "run/completion.h"
#include "run/degraded.h"
#include "run/fdlimit.h"
#include "run/manual.h"
#include "run/log.h"
#include "run/log_writer.h"
#include "run/notify.h"
#include "run/quote.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define DAEMON_MAGIC OBJ_MAGIC('D', 'M', 'O', 'N')

/* While a part loads its data the service manager's patience is extended by this much, this often. */
#define PATIENCE_EVERY_MS 10000
#define PATIENCE_MESSAGE  "EXTEND_TIMEOUT_USEC=30000000"

#define DAEMON_EVENTS(X)                                                                                     \
    X(config_error, LOG_ERROR, "The configuration has an error.")                                            \
    X(config_warning, LOG_WARN, "The configuration has something that may not be meant.")                    \
    X(config_kept, LOG_WARN, "These changed keys take effect at the next start.")                            \
    X(config_reloaded, LOG_INFO, "The configuration was reloaded.")                                          \
    X(config_reload_failed, LOG_ERROR, "The configuration has errors; the previous one stays in effect.")    \
    X(fdlimit_raised, LOG_INFO, "Raised the limit of open file descriptors.")                                \
    X(fdlimit_not_raised, LOG_WARN, "Cannot raise the limit of open file descriptors.")                      \
    X(daemon_started, LOG_INFO, "All parts have started.")                                                   \
    X(daemon_ready, LOG_INFO, "Ready.")                                                                      \
    X(daemon_not_ready, LOG_WARN, "No longer ready.")                                                        \
    X(daemon_start_failed, LOG_ERROR, "A part failed to start.")                                             \
    X(daemon_stopping, LOG_INFO, "Stopping.")                                                                \
    X(daemon_still_stopping, LOG_WARN, "Stop requested again; a part is still stopping.")                    \
    X(daemon_stopped, LOG_INFO, "Stopped.")                                                                  \
    X(notify_failed, LOG_WARN, "Cannot notify the service manager.")
LOG_DECLARE(DAEMON_EVENTS)

struct fact {
    char *key, *value;
};

struct daemon {
    struct obj obj;
    const struct daemon_def *def;
    struct args *args;
    struct options *options;
    struct metrics *metrics;
    struct run_loop *loop;
    struct run_timer *patience;
    void *app;
    int signal_fd;
    uv_poll_t signals; /* watches signal_fd */
    size_t n_started;  /* steps that are up: 0..n_started-1 */
    bool is_stopping;
    bool awaits_step; /* stop of step n_started was called and has not answered */
    bool was_ready;
    int result; /* 0 or ERR_* the program ends with */
    char *not_ready_reason;
    struct degraded *shortages;
    char *degraded_reason; /* what is short, or NULL */
    struct outages *outages;
    struct fact *facts;
    size_t n_facts;
};

struct run_loop *daemon_loop(struct daemon *d)
{
    return d->loop;
}

const struct options *daemon_options(struct daemon *d)
{
    return d->options;
}

struct metrics *daemon_metrics(struct daemon *d)
{
    return d->metrics;
}

const char *daemon_name(struct daemon *d)
{
    return d->def->name;
}

struct outages *daemon_outages(struct daemon *d)
{
    return d->outages;
}

const char *daemon_not_ready_reason(struct daemon *d)
{
    return d->not_ready_reason ? d->not_ready_reason : d->degraded_reason;
}

void daemon_version_fact(struct daemon *d, const char *key, const char *value)
{
    for (size_t i = 0; i < d->n_facts; i++)
        if (strcmp(d->facts[i].key, key) == 0) {
            free(d->facts[i].value);
            d->facts[i].value = mem_str(value);
            return;
        }
    d->facts = mem_resize(d->facts, d->n_facts + 1, sizeof *d->facts);
    d->facts[d->n_facts++] = (struct fact){mem_str(key), mem_str(value)};
}

void daemon_version_json(struct daemon *d, struct buf *out)
{
    buf_add_char(out, '{');
    for (size_t i = 0; i < d->n_facts; i++) {
        if (i)
            buf_add_char(out, ',');
        quote_json(out, d->facts[i].key);
        buf_add_char(out, ':');
        quote_json(out, d->facts[i].value);
    }
    buf_add_char(out, '}');
}

static void notify_manager(const char *lines)
{
    struct err_info why;
    if (notify_send(lines, &why))
        log_emit(&ev_notify_failed, LOG_ERR(&why));
}

static void on_patience(void *arg)
{
    (void)obj_cast(arg, struct daemon, DAEMON_MAGIC);
    notify_manager(PATIENCE_MESSAGE);
}

static void notify_ready(struct daemon *d)
{
    if (!d->was_ready)
        notify_manager("READY=1\nSTATUS=ready");
    else
        notify_manager("STATUS=ready");
    d->was_ready = true;
    run_timer_stop(d->patience);
    log_emit0(&ev_daemon_ready);
}

static void notify_not_ready(const char *reason, bool was_ready)
{
    mem_auto char *status = mem_fmt("STATUS=%s", reason);
    notify_manager(status);
    if (was_ready)
        log_emit(&ev_daemon_not_ready, LOG_STR("reason", reason));
}

void daemon_ready(struct daemon *d, const char *reason)
{
    if (d->is_stopping)
        return;
    mem_auto char *before = d->not_ready_reason;
    d->not_ready_reason = mem_str(reason);
    if (!reason && before)
        notify_ready(d);
    else if (reason && (!before || strcmp(before, reason) != 0))
        notify_not_ready(reason, !before);
}

static void on_degraded(void *arg, const char *reason)
{
    struct daemon *d = obj_cast(arg, struct daemon, DAEMON_MAGIC);
    mem_auto char *before = d->degraded_reason;
    d->degraded_reason = mem_str(reason);
    bool is_same = before && reason ? strcmp(before, reason) == 0 : !before && !reason;
    if (is_same || d->not_ready_reason)
        return;
    mem_auto char *status = mem_fmt("STATUS=%s", reason ? reason : "ready");
    notify_manager(status);
}

/* Stop the last started step; called again when it says that it is finished. */
static void stop_next(void *arg)
{
    struct daemon *d = obj_cast(arg, struct daemon, DAEMON_MAGIC);
    d->awaits_step = false;
    while (d->n_started > 0) {
        const struct daemon_step *step = &d->def->steps[--d->n_started];
        if (step->stop) {
            d->awaits_step = true;
            step->stop(d, d->app);
            return;
        }
    }
    run_loop_stop(d->loop);
}

void daemon_stopped(struct daemon *d)
{
    BUG_IF(!d->awaits_step);
    run_post(d->loop, stop_next, d);
}

void daemon_quit(struct daemon *d, int code)
{
    if (d->is_stopping)
        return;
    d->is_stopping = true;
    free(d->not_ready_reason);
    d->not_ready_reason = mem_str("stopping");
    d->result = code;
    run_timer_stop(d->patience);
    notify_manager("STOPPING=1");
    log_emit(&ev_daemon_stopping, LOG_STR("result", err_name(code)));
    run_post(d->loop, stop_next, d);
}

static void each_line(const struct log_event *ev, const char *field, struct buf *lines)
{
    char *rest = lines->bytes, *line;
    while (rest && (line = strsep(&rest, "\n")))
        if (line[0])
            log_emit(ev, LOG_STR(field, line));
}

/* Read and check the options of a daemon. @return them; or NULL: the report has errors. */
static struct options *read_options(const struct daemon_def *def, const struct args *args,
                                    struct opt_report *report)
{
    struct options *o = options_load(def->options, def->n_options, args->config_dir, args->sets, report);
    if (def->known)
        known_check(o, def->known, args->is_strict, report);
    for (size_t i = 0; i < def->n_steps; i++)
        if (def->steps[i].check)
            def->steps[i].check(o, report);
    if (!report->errors.len)
        return o;
    options_free(o);
    return NULL;
}

/* As read_options; the report goes into the log. */
static struct options *read_and_log(const struct daemon_def *def, const struct args *args,
                                    enum opt_purpose purpose)
{
    struct opt_report report = OPT_REPORT_FOR(purpose);
    struct options *o = read_options(def, args, &report);
    each_line(&ev_config_error, "error", &report.errors);
    each_line(&ev_config_warning, "warning", &report.warnings);
    opt_report_fini(&report);
    return o;
}

static void reload(struct daemon *d)
{
    buf_auto struct buf kept = BUF_EMPTY;
    struct options *fresh = read_and_log(d->def, d->args, OPT_FOR_RELOAD);
    if (!fresh) {
        log_emit0(&ev_config_reload_failed);
        return;
    }
    mem_auto char *begun = mem_fmt("RELOADING=1\nMONOTONIC_USEC=%lld", (long long)run_now_us());
    if (d->was_ready)
        notify_manager(begun);
    options_reload(d->options, fresh, &kept);
    if (kept.len)
        log_emit(&ev_config_kept, LOG_STR("keys", kept.bytes));
    if (d->def->reload)
        d->def->reload(d, d->app);
    if (d->was_ready)
        notify_manager("READY=1");
    log_emit0(&ev_config_reloaded);
}

static void take_signal(struct daemon *d, int number)
{
    if (!d->is_stopping && number == SIGHUP)
        reload(d);
    else if (!d->is_stopping)
        daemon_quit(d, 0);
    else if (d->awaits_step)
        log_emit(&ev_daemon_still_stopping, LOG_STR("part", d->def->steps[d->n_started].name));
}

static void on_signals(uv_poll_t *handle, int status, int events)
{
    struct daemon *d = obj_cast(handle->data, struct daemon, DAEMON_MAGIC);
    struct signalfd_siginfo taken;
    (void)events;
    BUG_IF(status != 0);
    while (read(d->signal_fd, &taken, sizeof taken) == (ssize_t)sizeof taken)
        take_signal(d, (int)taken.ssi_signo);
}

/* A signal is an event of the loop like others: no handler runs between two instructions of somebody. Threads that
 * the steps start inherit the mask, so none of them is interrupted either. */
static void open_signals(struct daemon *d)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    BUG_IF(pthread_sigmask(SIG_BLOCK, &set, NULL) != 0);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    d->signal_fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
    BUG_IF(d->signal_fd < 0);
    BUG_IF(uv_poll_init(run_loop_uv(d->loop), &d->signals, d->signal_fd) != 0);
    d->signals.data = d;
    BUG_IF(uv_poll_start(&d->signals, UV_READABLE, on_signals) != 0);
}

static void start_steps(struct daemon *d)
{
    for (; d->n_started < d->def->n_steps; d->n_started++) {
        const struct daemon_step *step = &d->def->steps[d->n_started];
        struct err_info why = {0, "", ""};
        int err = step->start(d, d->app, &why);
        if (err) {
            log_emit(&ev_daemon_start_failed, LOG_STR("part", step->name), LOG_ERR(&why));
            daemon_quit(d, err);
            return;
        }
        /* A part that already asked for the end takes no further ones with it. */
        if (d->is_stopping) {
            d->n_started++;
            return;
        }
    }
    log_emit0(&ev_daemon_started);
}

/* Connections, stores and, in svcmgr, containers take a descriptor each. */
static void raise_fdlimit(void)
{
    struct err_info why;
    if (fdlimit_raise(&why)) {
        log_emit(&ev_fdlimit_not_raised, LOG_ERR(&why));
        return;
    }
    struct rlimit first = fdlimit_first();
    log_emit(&ev_fdlimit_raised, LOG_INT("soft_before", first.rlim_cur), LOG_INT("soft", first.rlim_max));
}

static void daemon_open(struct daemon *d)
{
    const struct daemon_def *def = d->def;
    raise_fdlimit();
    d->metrics = metrics_new(def->metrics, def->n_metrics);
    d->outages = outages_new(d->metrics);
    d->loop = run_loop_new();
    d->patience = run_timer_new(d->loop, on_patience, d);
    if (notify_is_wanted())
        run_timer_start(d->patience, PATIENCE_EVERY_MS, PATIENCE_EVERY_MS);
    d->app = mem_zalloc(def->app_size);
    if (def->app_magic)
        obj_init(d->app, def->app_magic);
    d->not_ready_reason = mem_str("starting");
    daemon_version_fact(d, "name", def->name);
    daemon_version_fact(d, "version", BOBBIN_VERSION);
    d->shortages = degraded_watch(d->loop, d->metrics, def->metrics, def->n_metrics, on_degraded, d);
    open_signals(d);
    log_writer_start(); /* with the signals blocked */
}

static void daemon_close(struct daemon *d)
{
    uv_close((uv_handle_t *)&d->signals, NULL);
    degraded_unwatch(d->shortages);
    run_timer_free(d->patience);
    run_loop_free(d->loop);
    close(d->signal_fd);
    outages_free(d->outages);
    metrics_free(d->metrics);
    options_free(d->options);
    for (size_t i = 0; i < d->n_facts; i++) {
        free(d->facts[i].key);
        free(d->facts[i].value);
    }
    free(d->facts);
    free(d->not_ready_reason);
    free(d->degraded_reason);
    free(d->app);
    obj_fini(&d->obj);
}

static void print_lines(const char *kind, struct buf *lines)
{
    char *rest = lines->bytes, *line;
    while (rest && (line = strsep(&rest, "\n")))
        if (line[0])
            fprintf(stderr, "%s%s\n", kind, line);
}

static int run(const struct daemon_def *def, struct args *args, struct options *take_options)
{
    struct daemon d = {.def = def, .args = args, .options = take_options};
    obj_init(&d.obj, DAEMON_MAGIC);
    daemon_open(&d);
    start_steps(&d);
    run_loop_run(d.loop);
    int result = d.result;
    daemon_close(&d);
    log_emit(&ev_daemon_stopped, LOG_STR("result", err_name(result)));
    log_writer_stop();
    return err_exit_code(result);
}

/* -t: what a start would log stands on stderr. */
static int check(const struct daemon_def *def, const struct args *args)
{
    struct opt_report report = OPT_REPORT_FOR(OPT_FOR_TEST);
    struct options *o = read_options(def, args, &report);
    print_lines("", &report.errors);
    print_lines("warning: ", &report.warnings);
    if (o)
        puts("configuration is fine");
    opt_report_fini(&report);
    options_free(o);
    return o ? 0 : err_exit_code(ERR_CONFIG);
}

static int start(const struct daemon_def *def, struct args *args)
{
    struct options *o = read_and_log(def, args, OPT_FOR_START);
    return o ? run(def, args, o) : err_exit_code(ERR_CONFIG);
}

static void show_completion(const struct daemon_def *def, struct buf *text)
{
    args_completion(def->name, text);
    completion_keys(text, def->name, def->options, def->n_options);
    completion_end(text, def->name);
}

static int show(const struct daemon_def *def, enum args_action action)
{
    buf_auto struct buf text = BUF_EMPTY;
    if (action == ARGS_VERSION)
        buf_addf(&text, "%s %s\n", def->name, BOBBIN_VERSION);
    else if (action == ARGS_HELP)
        args_help(def->name, def->summary, &text);
    else if (action == ARGS_SHOW_XML)
        manual_xml(def, &text);
    else if (action == ARGS_MAN)
        manual_page(def, &text);
    else if (action == ARGS_COMPLETION)
        show_completion(def, &text);
    else
        options_show(def->options, def->n_options, &text);
    fputs(buf_cstr(&text), stdout);
    return 0;
}

static int act(const struct daemon_def *def, struct args *args)
{
    if (args->action == ARGS_RUN)
        return start(def, args);
    if (args->action == ARGS_TEST)
        return check(def, args);
    return show(def, args->action);
}

/* A standard descriptor that is closed would be that of the next socket or database, which then gets the log. */
static void open_standard_fds(void)
{
    int fd;
    do
        fd = open("/dev/null", O_RDWR);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        close(fd);
}

int daemon_main(const struct daemon_def *def, int argc, char **argv)
{
    struct args args;
    struct err_info why;
    int code;
    open_standard_fds();
    if (args_read(argc, argv, &args, &why)) {
        fprintf(stderr, "%s: %s: %s\nTry '%s --help'.\n", def->name, why.where, why.text, def->name);
        code = err_exit_code(why.code);
    } else {
        log_setup(def->name, args.level, args.format);
        code = act(def, &args);
    }
    args_fini(&args);
    if (fflush(stdout) != 0 && code == 0)
        code = err_exit_code(ERR_IO);
    return code;
}
