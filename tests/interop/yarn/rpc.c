#include "rpc.h"
#include "base/mem.h"
#include "base/str.h"
#include "run/conf.h"
#include "run/file.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_MAX_LEN = 4096 };

/* ---- answers ---- */

static void print(struct rpc *r)
{
    jw_object_end(&r->w);
    puts(buf_cstr(&r->out));
    fflush(stdout);
}

void rpc_begin_output(struct rpc *r)
{
    r->has_failed = false;
    buf_clear(&r->out);
    r->w = jw_on(&r->out);
    jw_object(&r->w);
}

static void put_failure(struct rpc *r, const struct err_info *why, const struct yarn_failure *failure)
{
    r->has_failed = true;
    jw_kstr(&r->w, "error", err_name(why->code));
    jw_kstr(&r->w, "text", why->text);
    if (!failure)
        return;
    jw_kstr(&r->w, "class", failure->class_name);
    jw_kbool(&r->w, "not_done", failure->is_not_done);
}

static void on_done(void *arg, const struct yarn_answer *a)
{
    struct rpc *r = obj_cast(arg, struct rpc, RPC_MAGIC);
    r->is_done = true;
    if (a->failure)
        put_failure(r, &a->failure->why, a->failure);
    else if (r->read)
        r->read(r, a);
}

struct yarn_call *rpc_begin(struct rpc *r)
{
    r->call = (struct yarn_call){.done = on_done, .arg = r};
    return &r->call;
}

void rpc_wait(struct rpc *r, int err, const struct err_info *why,
              void (*read)(struct rpc *r, const struct yarn_answer *a))
{
    r->is_done = err != 0;
    r->read = read;
    if (err != 0)
        put_failure(r, why, NULL);
    while (!r->is_done)
        uv_run(run_loop_uv(r->loop), UV_RUN_ONCE);
}

static void on_pause(void *arg)
{
    obj_cast(arg, struct rpc, RPC_MAGIC)->is_done = true;
}

void rpc_pause(struct rpc *r, uint64_t ms)
{
    struct run_timer *timer = run_timer_new(r->loop, on_pause, r);
    r->is_done = false;
    run_timer_start(timer, ms, 0);
    while (!r->is_done)
        uv_run(run_loop_uv(r->loop), UV_RUN_ONCE);
    run_timer_free(timer);
}

/* ---- links ---- */

static void on_closed(void *arg)
{
    obj_cast(arg, struct rpc, RPC_MAGIC)->n_closing--;
}

void rpc_close(struct rpc *r, struct yarn_link **link)
{
    if (!*link)
        return;
    r->n_closing++;
    yarn_link_close(*link, on_closed, r);
    *link = NULL;
    while (r->n_closing)
        uv_run(run_loop_uv(r->loop), UV_RUN_ONCE);
}

static const char *text_of(void *arg, const char *key)
{
    struct rpc *r = obj_cast(arg, struct rpc, RPC_MAGIC);
    const struct conf_item *item = conf_get(r->conf, key);
    return item ? item->text : NULL;
}

static struct yarn_link *open_link(struct rpc *r, const struct yarn_link_config *config,
                                   const struct yarn_addresses *list)
{
    struct err_info why;
    struct yarn_link *link = NULL;
    if (yarn_link_open(r->loop, config, list, &link, &why) != 0) {
        fprintf(stderr, "yarn-rpc: %s\n", why.text);
        exit(1);
    }
    return link;
}

static struct yarn_link *open_rm(struct rpc *r, enum yarn_rm_port port, const struct yarn_link_config *config)
{
    struct err_info why;
    struct yarn_addresses list = ADDRESSES_EMPTY;
    const struct yarn_keys keys = {text_of, r};
    if (yarn_rm_addresses(&keys, port, &list, &why) != 0) {
        fprintf(stderr, "yarn-rpc: %s: %s\n", why.where, why.text);
        exit(1);
    }
    struct yarn_link *link = open_link(r, config, &list);
    yarn_addresses_fini(&list);
    return link;
}

struct yarn_link *rpc_client(struct rpc *r)
{
    const struct yarn_link_config config = {YARN_LINK_DEFAULTS, .noun = "resource manager",
                                            .protocol = yarn_client_protocol, .user = r->user};
    if (!r->client)
        r->client = open_rm(r, YARN_RM_CLIENT, &config);
    return r->client;
}

struct yarn_link *rpc_master(struct rpc *r)
{
    struct yarn_link_config config = {YARN_LINK_DEFAULTS, .noun = "resource manager",
                                      .protocol = yarn_master_protocol, .auth = YARN_AUTH_TOKEN,
                                      .token = &r->token};
    config.wish = r->wish;
    if (!r->master)
        r->master = open_rm(r, YARN_RM_SCHEDULER, &config);
    return r->master;
}

struct yarn_link *rpc_node(struct rpc *r, const struct yarn_token *token)
{
    struct yarn_addresses list = ADDRESSES_EMPTY;
    mem_auto char *id = mem_fmt("%s:%d", r->node_host, r->node_port);
    struct yarn_link_config config = {YARN_LINK_DEFAULTS, .noun = "node manager",
                                      .protocol = yarn_container_protocol, .auth = YARN_AUTH_TOKEN,
                                      .token = token ? token : map_get(&r->node_tokens, id)};
    config.wish = r->wish;
    if (r->node)
        return r->node;
    yarn_addresses_add(&list, r->node_host, (uint16_t)r->node_port);
    r->node = open_link(r, &config, &list);
    yarn_addresses_fini(&list);
    return r->node;
}

void rpc_launch(Yarn__LaunchContext *out, char **command)
{
    yarn__launch_context__init(out);
    out->command = command;
    out->n_command = 1;
}

/* ---- commands of the program itself ---- */

static void put_error(struct rpc *r, const struct err_info *why)
{
    put_failure(r, why, NULL);
}

/* conf DIR: a HADOOP_CONF_DIR */
static void set_conf(struct rpc *r, char *rest)
{
    buf_auto struct buf errors = BUF_EMPTY;
    conf_load_dir(r->conf, rest, &errors);
    if (errors.len)
        jw_kstr(&r->w, "error", buf_cstr(&errors));
}

/* set KEY=VALUE */
static void set_key(struct rpc *r, char *rest)
{
    buf_auto struct buf errors = BUF_EMPTY;
    conf_set(r->conf, rest, &errors);
}

static void set_user(struct rpc *r, char *rest)
{
    free(r->user);
    r->user = mem_str(rest);
}

/* protection TEXT: as hadoop.rpc.protection */
static void set_protection(struct rpc *r, char *rest)
{
    struct err_info why;
    if (sasl_wish_read(rest, &r->wish, &why) != 0)
        put_error(r, &why);
}

/* token-file: the master's token, as the node manager left it */
static void read_token_file(struct rpc *r, char *rest)
{
    (void)rest;
    struct err_info why;
    struct yarn_credentials all = CREDENTIALS_EMPTY;
    buf_auto struct buf blob = BUF_EMPTY;
    const char *path = getenv("HADOOP_TOKEN_FILE_LOCATION");
    int err = path ? file_read(path, &blob, &why)
                   : err_set(&why, ERR_NOTFOUND, NULL, "HADOOP_TOKEN_FILE_LOCATION is not set");
    if (err == 0)
        err = yarn_credentials_read(blob.bytes, blob.len, &all, &why);
    const struct yarn_token *token = err == 0 ? yarn_credentials_find(&all, TOKEN_KIND_MASTER) : NULL;
    if (err != 0) {
        put_error(r, &why);
    } else if (token) {
        yarn_token_fini(&r->token);
        yarn_token_copy(&r->token, token);
        jw_kstr(&r->w, "kind", token->kind);
    }
    yarn_credentials_fini(&all);
}

/* disconnect: the next call makes a new connection */
static void disconnect(struct rpc *r, char *rest)
{
    (void)rest;
    rpc_close(r, &r->client);
    rpc_close(r, &r->master);
    rpc_close(r, &r->node);
}

static const struct {
    const char *word;
    void (*run)(struct rpc *r, char *rest);
} commands[] = {
    {"conf", set_conf},
    {"set", set_key},
    {"user", set_user},
    {"protection", set_protection},
    {"token-file", read_token_file},
    {"disconnect", disconnect},
    {"new", rpc_new},
    {"submit", rpc_submit},
    {"submit-unmanaged", rpc_submit_unmanaged},
    {"report", rpc_report},
    {"until-report", rpc_until_report},
    {"applications", rpc_applications},
    {"attempts", rpc_attempts},
    {"nodes", rpc_nodes},
    {"timeout", rpc_timeout},
    {"kill", rpc_kill},
    {"register", rpc_register},
    {"ask", rpc_ask},
    {"allocate", rpc_allocate},
    {"until-allocated", rpc_until_allocated},
    {"until-completed", rpc_until_completed},
    {"finish", rpc_finish},
    {"start", rpc_start},
    {"status", rpc_status},
    {"until", rpc_until},
    {"reinit", rpc_re_initialize},
    {"roll-back", rpc_roll_back},
    {"commit", rpc_commit},
    {"signal", rpc_signal},
    {"stop", rpc_stop},
    {"wrong-token", rpc_wrong_token},
};

static void run_line(struct rpc *r, char *line)
{
    line[strcspn(line, "\n")] = 0;
    size_t len = strcspn(line, " ");
    char *rest = line[len] ? line + len + 1 : line + len;
    line[len] = 0;
    for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
        if (strcmp(line, commands[i].word) != 0)
            continue;
        rpc_begin_output(r);
        commands[i].run(r, rest);
        print(r);
        return;
    }
    fprintf(stderr, "yarn-rpc: no command %s\n", line);
    exit(2);
}

static void free_token(void *arg)
{
    struct yarn_token *token = arg;
    yarn_token_fini(token);
    free(token);
}

int main(void)
{
    struct rpc r = {.wish = {{SASL_AUTHENTICATION, SASL_INTEGRITY}}};
    char line[LINE_MAX_LEN];
    obj_init(&r.obj, RPC_MAGIC);
    signal(SIGPIPE, SIG_IGN);
    r.loop = run_loop_new();
    r.conf = conf_new();
    while (fgets(line, sizeof line, stdin))
        run_line(&r, line);
    disconnect(&r, NULL);
    run_loop_free(r.loop);
    conf_free(r.conf);
    yarn_token_fini(&r.token);
    yarn_token_fini(&r.container_token);
    map_fini(&r.node_tokens, free_token);
    buf_fini(&r.out);
    free(r.user);
    free(r.node_host);
    return 0;
}
