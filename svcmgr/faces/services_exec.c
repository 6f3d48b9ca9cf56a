/** Commands that are executed in the container of an instance: the request, the upgrade of its connection, the end. */
#include <stdlib.h>
#include <string.h>

#include <sys/socket.h>

#include "exec/frame.h"
#include "faces/services_kit.h"

#define EXEC_MAGIC       OBJ_MAGIC('F', 'E', 'X', 'C')
#define TERM_MAX         64
#define TERM_CHARS       "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-._"
#define UPGRADE_REQUIRED 426

/** A connection that is upgraded, or going to be. */
struct execution {
    struct obj obj;
    const struct face *face;
    struct http_req *req;         /* until its connection is closed */
    struct face_exec what;        /* its texts are owned; fd and early are set when it begins */
    struct face_session *session; /* while the command runs; else NULL */
};

static void execution_free(struct execution *x)
{
    for (size_t i = 0; i < x->what.n_words; i++)
        free((char *)x->what.words[i]);
    free((void *)x->what.words);
    free((char *)x->what.user);
    free((char *)x->what.service);
    free((char *)x->what.instance);
    free((char *)x->what.container_id);
    free((char *)x->what.term);
    obj_fini(&x->obj);
    free(x);
}

/** The command has ended, and its parent has said so to the client. */
static void on_ended(void *arg)
{
    struct execution *x = obj_cast(arg, struct execution, EXEC_MAGIC);

    http_upgrade_end(x->req);
    execution_free(x);
}

/** It could not be begun after all: the answer is one of the new protocol. */
static void refuse_begun(struct execution *x, const struct err_info *why)
{
    buf_auto struct buf out = BUF_EMPTY;

    exec_frame_put(&out, EXEC_ERROR, why->text, strlen(why->text));
    exec_frame_put_number(&out, EXEC_EXIT, EXEC_NOT_EXECUTABLE);
    /* Nothing was sent before but the head: there is room, unless the client has gone. */
    (void)send(x->what.fd, out.bytes, out.len, MSG_DONTWAIT | MSG_NOSIGNAL);
    http_upgrade_end(x->req);
    execution_free(x);
}

static void on_begun(void *arg, int fd, const char *early, size_t len)
{
    struct execution *x = obj_cast(arg, struct execution, EXEC_MAGIC);
    const struct face *face = x->face;
    struct err_info why = {0};

    x->what.fd = fd;
    x->what.early = early;
    x->what.early_len = len;
    if (face->ops->exec(face->app, &x->what, on_ended, x, &x->session, &why))
        refuse_begun(x, &why);
}

static void on_closed(void *arg)
{
    struct execution *x = obj_cast(arg, struct execution, EXEC_MAGIC);

    if (x->session)
        x->face->ops->exec_end(x->face->app, x->session);
    execution_free(x);
}

static const struct http_upgrade_ops upgrade_ops = {on_begun, on_closed};

/* ---- the request ---- */

static void refuse(struct http_req *req, int code, const char *where, const char *text)
{
    struct err_info why;

    err_set(&why, code, where, "%s", text);
    http_reply_error(req, code, &why);
}

/** Whether the connection can leave HTTP; replies itself when not. */
static bool can_upgrade(struct http_req *req)
{
    struct err_info why;

    if (http_header(req, "X-Forwarded-Context")) {
        refuse(req, ERR_UNSUPPORTED, "exec",
               "a gateway passes no upgraded connections: ask svcmgr itself for a command in a container");
        return false;
    }
    if (http_wants_upgrade(req, EXEC_PROTOCOL))
        return true;
    err_set(&why, ERR_USAGE, "Upgrade",
            "send Connection: Upgrade and Upgrade: " EXEC_PROTOCOL
            " in HTTP/1.1; bobbin app exec is a client");
    http_reply_header(req, "Upgrade", EXEC_PROTOCOL);
    http_reply_error_status(req, UPGRADE_REQUIRED, ERR_USAGE, &why);
    return false;
}

static bool is_term(const char *term)
{
    size_t len = strlen(term);

    return len && len <= TERM_MAX && strspn(term, TERM_CHARS) == len;
}

static struct execution *execution_new(struct http_req *req, const struct face *face, const char *service,
                                       const struct eng_instance *inst)
{
    struct execution *x = mem_new(struct execution);
    const char *word;
    size_t n = 0;

    obj_init(&x->obj, EXEC_MAGIC);
    x->face = face;
    x->req = req;
    while (http_query_nth(req, "command", n))
        n++;
    const char **words = mem_array(n + 1, sizeof *words);
    for (size_t i = 0; (word = http_query_nth(req, "command", i)); i++)
        words[i] = mem_str(word);
    x->what = (struct face_exec){.user = mem_str(http_user(req)),
                                 .service = mem_str(service),
                                 .instance = mem_str(inst->name),
                                 .container_id = mem_str(inst->container_id),
                                 .words = words,
                                 .n_words = n,
                                 .has_terminal = http_param_bool(req, EXEC_TTY),
                                 .rows = http_param_int(req, EXEC_ROWS),
                                 .columns = http_param_int(req, EXEC_COLUMNS),
                                 .term = mem_str(http_param_text(req, EXEC_TERM))};
    return x;
}

static void execute(struct http_req *req, const struct face *face, const struct eng_service *s,
                    const char *instance)
{
    const struct eng_instance *inst = services_find_placed(req, s, instance);
    const char *term = http_param_text(req, EXEC_TERM);
    struct err_info why = {0};

    if (!inst)
        return;
    if (term && !is_term(term)) {
        refuse(req, ERR_INVALID, "term", "a kind of terminal is written as in TERM: xterm-256color");
        return;
    }
    int err = face->ops->exec_check(face->app, inst->container_id, &why);
    if (err) {
        http_reply_error(req, err, &why);
        return;
    }
    http_upgrade_start(req, EXEC_PROTOCOL, &upgrade_ops, execution_new(req, face, s->name, inst));
}

void instance_exec(struct http_req *req, void *app)
{
    const struct face *face = obj_cast(app, struct face, FACE_MAGIC);

    if (!can_upgrade(req))
        return;
    mem_auto char *service = services_path_name(req);
    mem_auto char *instance = service ? services_path_element(req, "i") : NULL;
    const struct eng_service *s = instance ? services_find(req, face, service, 0) : NULL;

    if (s)
        execute(req, face, s, instance);
}
