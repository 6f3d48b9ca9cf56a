/**
 * `svcmgr am`: the application master of one service.
 *
 *     container of YARN: bobbin-site, token, ids ──> state of the service, taken when the manager has handed it over
 *         ──> cluster of kind yarn: registers ──> the engine runs the service as svcmgr does on one host
 *     its definition ──state_follow──> EV_FOLLOWED: orders of the manager
 *     the engine has ended it: EFF_FINISH ──> unregistered ──> the process ends, and the manager takes the service back
 *
 * Nothing is kept on this node's disk. A master that is killed leaves its containers; the next attempt finds them.
 */
#include "svcmgr/app_master.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "cluster/yarn.h"
#include "cluster/yarn_context.h"
#include "faces/services_routes.h"
#include "json/json.h"
#include "launcher/routes.h"
#include "run/trim.h"
#include "slider/routes.h"
#include "submit/am_context.h"
#include "svcmgr/app.h"
#include "svcmgr/app_files.h"
#include "svcmgr/app_manager.h"
#include "svcmgr/events.h"
#include "svcmgr/options.h"

LOG_DECLARE(SVCMGR_EVENTS)

#define MASTER_MAGIC OBJ_MAGIC('A', 'M', 'S', 'T')
#define TOKENS_MAX   (1 << 20)
#define TRIM_MS      15000
#define CACHE_DIR    "sources" /* in the working directory, which goes with the container */

struct app_master {
    struct obj obj;
    struct yarn_attempt_id attempt;
    char application_id[YARN_ID_TEXT_MAX], container_id[YARN_ID_TEXT_MAX];
    struct yarn_token token;
    char *host, *node_http, *definition, *service, *url, *files_url;
    int64_t incarnation;
    struct yarn_context_maker *maker;
    struct http_route *routes;
    struct run_timer *trim;
    bool is_finishing;
};

static struct app_master *master_of(const struct app *a)
{
    return obj_cast(a->master, struct app_master, MASTER_MAGIC);
}

/* ---- what a master is started with: written by the manager ---- */

/** Rows of the table that are about the manager's own process and host. */
static const int own_rows[] = {OPT_ADDRESS,   OPT_CLUSTER,   OPT_DATA_DIR,     OPT_SIM_SCRIPT,
                               OPT_SIM_SEED,  OPT_SIM_SPEED, OPT_STATE_STORE,  OPT_LEASE,
                               OPT_TAKE_FROM, OPT_SHIM,      OPT_STOP_ON_EXIT, OPT_ADDRESSES};

static bool is_own(int id)
{
    for (size_t i = 0; i < ARRAY_LEN(own_rows); i++) {
        if (own_rows[i] == id)
            return true;
    }
    return false;
}

#define SITE_MAGIC OBJ_MAGIC('A', 'M', 'S', 'I')

struct site {
    struct obj obj;
    struct submit_option *items;
    size_t n;
};

static void add(struct site *s, const char *key, const char *value)
{
    s->items = mem_resize(s->items, s->n + 1, sizeof *s->items);
    s->items[s->n++] = (struct submit_option){mem_str(key), mem_str(value)};
}

static void add_other(void *arg, const char *key, const char *text)
{
    add(obj_cast(arg, struct site, SITE_MAGIC), key, text);
}

/** Of Hadoop's keys that no row names: where the resource manager and the file system are. */
static const char *const families[] = {"yarn.resourcemanager.", "yarn.http.", "dfs.", "hadoop.rpc."};

static void add_set_options(struct site *s, const struct options *o)
{
    for (int id = 0; id < N_SVCMGR_OPTIONS; id++) {
        if (opt_is_set(o, id) && !is_own(id) && opt_text(o, id))
            add(s, app_option_key(id), opt_text(o, id));
    }
    for (size_t i = 0; i < ARRAY_LEN(families); i++)
        opt_each_other(o, families[i], add_other, s);
}

static void site_fini(struct site *s)
{
    for (size_t i = 0; i < s->n; i++) {
        free((char *)s->items[i].key);
        free((char *)s->items[i].value);
    }
    free(s->items);
}

int app_master_site(const struct app *a, const struct eng_service *s, struct buf *out, struct err_info *why)
{
    const struct options *o = daemon_options(a->daemon);
    struct site site = {{SITE_MAGIC}, NULL, 0};
    mem_auto char *incarnation = mem_fmt("%lld", (long long)s->incarnation);
    mem_auto char *definition = engine_definition_key(s);
    mem_auto char *service = engine_service_key(s);
    mem_auto char *base = mem_fmt("/user/%s/.yarn", s->user);
    mem_auto char *manager = app_own_url(a);

    add_set_options(&site, o);
    add(&site, "yarn.service.cluster", "yarn");
    add(&site, "yarn.service.state.store", a->state_url);
    add(&site, "yarn.service.api-server.address", opt_bool(o, OPT_REMOTE) ? "0.0.0.0:0" : "127.0.0.1:0");
    add(&site, "yarn.service.master.kind", eng_kind_word(s->kind));
    add(&site, "yarn.service.master.user", s->user);
    add(&site, "yarn.service.master.name", s->name);
    add(&site, "yarn.service.master.definition", definition);
    add(&site, "yarn.service.master.service", service);
    add(&site, "yarn.service.master.incarnation", incarnation);
    add(&site, "yarn.service.master.manager-url", manager);
    if (!opt_text(o, OPT_BASE_PATH))
        add(&site, "yarn.service.base.path", base);
    int err = submit_site(site.items, site.n, out, why);
    site_fini(&site);
    return err;
}

/* ---- who we are ---- */

static int read_token(struct app_master *m, struct err_info *why)
{
    const char *path = getenv("HADOOP_TOKEN_FILE_LOCATION");
    struct yarn_credentials credentials = CREDENTIALS_EMPTY;
    struct buf blob = BUF_EMPTY;
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    ssize_t n = fd >= 0 ? read(fd, buf_room(&blob, TOKENS_MAX), TOKENS_MAX) : -1;

    if (fd >= 0)
        close(fd);
    blob.len = n > 0 ? (size_t)n : 0;
    int err = n < 0 ? err_set(why, ERR_CONFIG, "HADOOP_TOKEN_FILE_LOCATION",
                              "names no file that can be read: svcmgr am is started by YARN")
                    : yarn_credentials_read(blob.bytes, blob.len, &credentials, why);
    const struct yarn_token *token = err ? NULL : yarn_credentials_find(&credentials, TOKEN_KIND_MASTER);
    if (!err && !token)
        err = err_set(why, ERR_CONFIG, path, "has no token of an application master");
    if (token)
        yarn_token_copy(&m->token, token);
    yarn_credentials_fini(&credentials);
    explicit_bzero(blob.bytes, blob.len);
    buf_fini(&blob);
    return err;
}

static int read_ids(struct app_master *m, struct err_info *why)
{
    const char *id = getenv("CONTAINER_ID");
    struct yarn_container_id container;

    if (!id || yarn_container_id_parse(id, &container))
        return err_set(why, ERR_CONFIG, "CONTAINER_ID", "is no container: svcmgr am is started by YARN");
    m->attempt = container.attempt;
    yarn_app_id_text(&m->attempt.app, m->application_id);
    yarn_container_id_text(&container, m->container_id);
    m->host = mem_str(getenv("NM_HOST") ? getenv("NM_HOST") : "localhost");
    m->node_http = getenv("NM_HTTP_PORT") ? mem_fmt("%s:%s", m->host, getenv("NM_HTTP_PORT")) : NULL;
    return 0;
}

static enum eng_kind kind_of(const char *word)
{
    for (int k = KIND_SERVICE; k <= KIND_LAUNCHER; k++) {
        if (word && !strcmp(word, eng_kind_word((enum eng_kind)k)))
            return (enum eng_kind)k;
    }
    return KIND_SERVICE;
}

int app_master_begin(struct app *a, struct err_info *why)
{
    const struct options *o = daemon_options(a->daemon);
    struct app_master *m = mem_new(struct app_master);

    obj_init(&m->obj, MASTER_MAGIC);
    a->master = m;
    a->role = ROLE_MASTER;
    int err = read_ids(m, why);
    err = err ? err : read_token(m, why);
    if (!err && !(opt_text(o, OPT_MASTER_USER) && opt_text(o, OPT_MASTER_NAME) &&
                  opt_text(o, OPT_MASTER_DEFINITION) && opt_text(o, OPT_MASTER_SERVICE)))
        err = err_set(why, ERR_CONFIG, "yarn.service.master.user",
                      "The service is not named: svcmgr am is started with a configuration of svcmgr's.");
    if (err)
        return err;
    a->own = mem_new(struct app_own);
    *a->own = (struct app_own){.kind = kind_of(opt_text(o, OPT_MASTER_KIND)),
                               .user = mem_str(opt_text(o, OPT_MASTER_USER)),
                               .name = mem_str(opt_text(o, OPT_MASTER_NAME))};
    m->definition = mem_str(opt_text(o, OPT_MASTER_DEFINITION));
    m->service = mem_str(opt_text(o, OPT_MASTER_SERVICE));
    m->incarnation = opt_int(o, OPT_MASTER_INCARNATION);
    return 0;
}

void app_master_end(struct app *a)
{
    struct app_master *m = a->master;

    if (a->own) {
        free(a->own->user);
        free(a->own->name);
        mem_free_ptr(&a->own);
    }
    if (!m)
        return;
    run_timer_free(m->trim);
    yarn_context_maker_free(m->maker);
    yarn_token_fini(&m->token);
    free(m->host);
    free(m->node_http);
    free(m->definition);
    free(m->service);
    free(m->url);
    free(m->files_url);
    free(m->routes);
    obj_fini(&m->obj);
    free(m);
    a->master = NULL;
}

/* ---- state ---- */

/** The manager has written that it is ours: our application, this incarnation. */
static bool is_ours(void *arg, const char *bytes, size_t len)
{
    const struct app_master *m = obj_cast(arg, struct app_master, MASTER_MAGIC);
    json_auto json_t *doc = NULL;

    if (json_read(bytes, len, &doc, NULL))
        return false;
    const char *id = json_string_value(json_object_get(doc, "app_id"));
    return id && !strcmp(id, m->application_id) && json_is_true(json_object_get(doc, "handed_over"));
}

int app_master_open_state(struct app *a, struct err_info *why)
{
    struct app_master *m = master_of(a);
    const struct state_scope scope = {.definition = m->definition,
                                      .service = m->service,
                                      .attempt = state_attempt((int32_t)m->incarnation, m->attempt.attempt),
                                      .is_ours = is_ours,
                                      .is_ours_arg = m};

    return state_open_service(a->loop, a->state_url, &scope, &a->state, why);
}

static void on_definition(void *arg, const char *key, const char *bytes, size_t len)
{
    struct app *a = obj_cast(arg, struct app, APP_MAGIC);
    mem_auto char *text = bytes ? mem_strn(bytes, len) : NULL;
    struct eng_event ev = {.kind = EV_FOLLOWED, .key = key, .text = text};

    app_event(a, &ev);
}

static bool is_never_away(void *arg, const char *service_key)
{
    (void)arg;
    (void)service_key;
    return false;
}

/** A node is to hold many masters: what only the start and launches have needed goes. */
static void on_trim(void *arg)
{
    (void)obj_cast(arg, struct app_master, MASTER_MAGIC);
    trim_memory();
}

static void on_settled(void *arg)
{
    (void)obj_cast(arg, struct app, APP_MAGIC);
}

static void on_lost(void *arg, const struct err_info *why)
{
    app_follow_lost(obj_cast(arg, struct app, APP_MAGIC), why);
}

static const struct state_follow_ops follow_ops = {
    .is_away = is_never_away, .changed = on_definition, .settled = on_settled, .lost = on_lost};

void app_master_follow(struct app *a)
{
    struct err_info why = {0};
    struct app_master *m = master_of(a);
    int err = state_follow(a->state, &follow_ops, a, &why);

    if (err) {
        app_fail(a, err, &why);
        return;
    }
    m->trim = run_timer_new(a->loop, on_trim, m);
    run_timer_start(m->trim, TRIM_MS, TRIM_MS);
}

/* ---- the cluster ---- */

static void on_reach(void *arg, const char *server, const struct err_info *why)
{
    struct app *a = obj_cast(arg, struct app, APP_MAGIC);

    if (why)
        outage_fails(a->rm_outage, server, why, run_now_ms());
    else
        outage_ends(a->rm_outage, server, run_now_ms());
}

/** Who listens on loopback only serves nodes on other hosts no files: they get them from HDFS, where there is one. */
static void open_maker(struct app *a)
{
    struct app_master *m = master_of(a);
    const struct options *o = daemon_options(a->daemon);
    mem_auto char *directory =
        opt_bool(o, OPT_REMOTE) ? NULL : app_files_directory(a, a->own->kind, a->own->user, a->own->name);
    const struct yarn_context_config config = {.loop = a->loop,
                                               .http = a->http,
                                               .fs = app_fs_conf(o),
                                               .user = a->own->user,
                                               .files_url = m->files_url,
                                               .directory = directory,
                                               .cache_dir = CACHE_DIR,
                                               .fresh_s = opt_ms(o, OPT_CACHE_FRESH) / 1000};

    yarn_context_maker_new(&config, &m->maker);
}

/** Our API is open, as containers fetch files from it and the resource manager is given its URL. */
int app_master_open_cluster(struct app *a, struct err_info *why)
{
    struct app_master *m = master_of(a);
    const struct options *o = daemon_options(a->daemon);
    const struct yarn_keys keys = app_yarn_keys(&o);
    struct yarn_addresses addresses = ADDRESSES_EMPTY;
    struct sasl_wish wish;
    int port = http_server_port(a->server);

    /* The name of the host is that of another address, as on Debian, when we listen on loopback only. */
    m->url = mem_fmt("http://%s:%d", opt_bool(o, OPT_REMOTE) ? m->host : "127.0.0.1", port);
    m->files_url = mem_fmt("%s/files", m->url);
    open_maker(a);
    int err = app_protection(o, &wish, why);
    err = err ? err : yarn_rm_addresses(&keys, YARN_RM_SCHEDULER, &addresses, why);
    if (err)
        return err;
    const struct yarn_options options = {.scheduler = &addresses,
                                         .token = &m->token,
                                         .attempt = m->attempt,
                                         .tracking_url = m->url,
                                         .host = m->host,
                                         .rpc_port = -1,
                                         .wish = wish,
                                         .constraints = app_constraints(o),
                                         .maker = m->maker,
                                         .reach = on_reach,
                                         .reach_arg = a};
    err = cluster_yarn_open(a->loop, &options, &app_cluster_ops, a, &a->cluster, why);
    yarn_addresses_fini(&addresses);
    return err;
}

static void on_finished(void *arg)
{
    struct app *a = obj_cast(arg, struct app, APP_MAGIC);

    log_emit0(&ev_master_finished);
    a->is_ending = true;
    daemon_quit(a->daemon, 0);
}

void app_master_finish(struct app *a, const struct eng_effect *e)
{
    struct app_master *m = master_of(a);
    enum yarn_final_status status = e->application->end_state == SVC_SUCCEEDED ? YARN_FINAL_SUCCEEDED
                                    : e->application->end_state == SVC_FAILED  ? YARN_FINAL_FAILED
                                                                               : YARN_FINAL_ENDED;

    if (m->is_finishing)
        return;
    m->is_finishing = true;
    cluster_yarn_finish(a->cluster, status, e->application->diagnostics, on_finished, a);
}

void app_master_over(struct app *a, const struct err_info *why)
{
    log_emit(&ev_master_over, LOG_ERR(why));
    a->is_ending = true;
    daemon_quit(a->daemon, ERR_WRONGSTATE);
}

const char *app_master_url(const struct app *a)
{
    return master_of(a)->url;
}

struct eng_master app_master_self(const struct app *a)
{
    struct app_master *m = master_of(a);

    return (struct eng_master){.container_id = m->container_id, .node_http = m->node_http, .url = m->url};
}

/* ---- API ---- */

static void files_get(struct http_req *req, void *app)
{
    struct app *a = obj_cast(obj_cast(app, struct face, FACE_MAGIC)->app, struct app, APP_MAGIC);
    const struct app_master *m = master_of(a);
    struct buf body = BUF_EMPTY;
    const char *bytes = NULL;
    size_t len = 0;

    if (!m->maker || yarn_context_served(m->maker, http_path_raw(req, "token"), http_path_raw(req, "name"),
                                         &bytes, &len)) {
        http_reply_error(req, ERR_NOTFOUND, NULL);
        return;
    }
    buf_add(&body, bytes, len);
    http_reply(req, 200, "application/octet-stream", &body);
}

static const struct http_route files_route = {"GET",
                                              "/files/{token}/{name}",
                                              0,
                                              0,
                                              files_get,
                                              "Read a file of a container: for node managers.",
                                              .errors = HTTP_ERRORS(ERR_NOTFOUND)};

const struct http_route *app_master_routes(struct app *a, size_t *n)
{
    struct app_master *m = master_of(a);

    m->routes = mem_array(services_n_routes + 2 + slider_n_routes, sizeof *m->routes);
    m->routes[0] = files_route;
    m->routes[1] = launcher_explanation_route;
    *n = 2;
    for (size_t i = 0; i < services_n_routes; i++) {
        if (!strcmp(services_routes[i].method, "GET"))
            m->routes[(*n)++] = services_routes[i];
    }
    *n += app_slider_master_routes(m->routes + *n);
    return m->routes;
}
