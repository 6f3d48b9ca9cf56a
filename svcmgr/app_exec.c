/** Commands that are executed in containers: how many there may be, and who did what. */
#include <stdlib.h>

#include "base/mem.h"
#include "svcmgr/app.h"
#include "svcmgr/events.h"
#include "svcmgr/options.h"

LOG_DECLARE(SVCMGR_EVENTS)

#define SESSION_MAGIC OBJ_MAGIC('A', 'E', 'X', 'E')
#define PROGRAM_MAX   128 /* bytes of the first word that the log has */

struct face_session {
    struct obj obj;
    struct app *app;
    struct cluster_session *session;
    char *user, *service, *instance, *program;
    int64_t begun_us;
    void (*done)(void *arg); /* NULL: nobody wants to know */
    void *arg;
};

static void on_done(void *arg, int code)
{
    struct face_session *s = obj_cast(arg, struct face_session, SESSION_MAGIC);

    s->app->n_execs--;
    log_emit(&ev_exec_ended, LOG_STR("user", s->user), LOG_STR("service", s->service),
             LOG_STR("instance", s->instance), LOG_STR("program", s->program), LOG_INT("code", code),
             LOG_INT("took_ms", (run_now_us() - s->begun_us) / 1000));
    if (s->done)
        s->done(s->arg);
    free(s->user);
    free(s->service);
    free(s->instance);
    free(s->program);
    obj_fini(&s->obj);
    free(s);
}

int app_refuse_on_yarn(const char *container_id, const char *remedy, struct err_info *why)
{
    return err_set(why, ERR_UNSUPPORTED, container_id, "The container is on a node of YARN: %s", remedy);
}

int app_exec_check(void *app, const char *container_id, struct err_info *why)
{
    struct app *a = obj_cast(app, struct app, APP_MAGIC);

    if (a->role != ROLE_WHOLE) {
        mem_auto char *remedy = mem_fmt(
            "`yarn container -shell %s` opens a shell in it, where the cluster allows that", container_id);
        return app_refuse_on_yarn(container_id, remedy, why);
    }
    int64_t max = opt_int(daemon_options(a->daemon), OPT_EXEC_MAX);

    if (!max)
        return err_set(why, ERR_UNSUPPORTED, "exec",
                       "svcmgr executes no commands in containers (yarn.service.exec.max-sessions is 0)");
    if ((int64_t)a->n_execs >= max)
        return err_set(why, ERR_LIMIT, "exec",
                       "%zu commands are executed already, more may not be "
                       "(yarn.service.exec.max-sessions): try again later",
                       a->n_execs);
    return cluster_exec(a->cluster, container_id, NULL, NULL, NULL, NULL, why);
}

static struct face_session *session_new(struct app *a, const struct face_exec *what)
{
    struct face_session *s = mem_new(struct face_session);

    obj_init(&s->obj, SESSION_MAGIC);
    s->app = a;
    s->user = mem_str(what->user);
    s->service = mem_str(what->service);
    s->instance = mem_str(what->instance);
    s->program = what->n_words ? mem_fmt("%.*s", PROGRAM_MAX, what->words[0]) : mem_str("");
    s->begun_us = run_now_us();
    return s;
}

int app_exec(void *app, const struct face_exec *what, void (*done)(void *arg), void *arg,
             struct face_session **out, struct err_info *why)
{
    struct app *a = obj_cast(app, struct app, APP_MAGIC);
    const struct cluster_exec exec = {.words = what->words,
                                      .n_words = what->n_words,
                                      .has_terminal = what->has_terminal,
                                      .rows = what->rows,
                                      .columns = what->columns,
                                      .term = what->term,
                                      .fd = what->fd,
                                      .early = what->early,
                                      .early_len = what->early_len};
    int err = app_exec_check(a, what->container_id, why);

    if (err)
        return err;
    struct face_session *s = session_new(a, what);
    a->n_execs++;
    err = cluster_exec(a->cluster, what->container_id, &exec, on_done, s, &s->session, why);
    if (err) {
        on_done(s, err_exit_code(err));
        return err;
    }
    metric_add(daemon_metrics(a->daemon), M_EXECS, 1);
    log_emit(&ev_exec_begun, LOG_STR("user", s->user), LOG_STR("service", s->service),
             LOG_STR("instance", s->instance), LOG_STR("container", what->container_id),
             LOG_STR("program", s->program), LOG_INT("terminal", what->has_terminal));
    s->done = done;
    s->arg = arg;
    *out = s;
    return 0;
}

void app_exec_end(void *app, struct face_session *take_session)
{
    const struct app *a = obj_cast(app, struct app, APP_MAGIC);
    struct face_session *s = obj_cast(take_session, struct face_session, SESSION_MAGIC);

    s->done = NULL;
    cluster_exec_end(a->cluster, s->session);
}
