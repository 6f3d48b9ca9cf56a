#include "cluster/yarn_context.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/obj.h"
#include "base/str.h"
#include "cluster/yarn_context_shell.h"
#include "fs/client.h"

#define MAKER_MAGIC  OBJ_MAGIC('Y', 'C', 'M', 'K')
#define CALL_MAGIC   OBJ_MAGIC('Y', 'C', 'C', 'L')
#define SERVED_MAGIC OBJ_MAGIC('Y', 'C', 'S', 'V')

#define SECRET_OCTETS 16

/** What the tokens of a launch context are without any. */
static const uint8_t no_tokens[] = {'H', 'D', 'T', 'S', 0, 0, 0};

/** The files of one container that are served. */
struct served {
    struct obj obj;
    char *secret;
    struct buf *files;
    size_t n;
};

struct yarn_context_maker {
    struct obj obj;
    struct yarn_context_config config; /* texts owned */
    struct map served;                 /* secret -> struct served */
    struct map secrets;                /* container id -> its secret, owned */
};

struct yarn_context_call {
    struct obj obj;
    struct yarn_context_maker *owner;
    struct arena *arena;
    Yarn__LaunchContext *context;
    struct served *served;
    char *container_id;
    struct run_timer *later;
    struct source {
        struct fs_place place;
        Yarn__LocalResource *resource;
    } * sources; /* of HDFS: their status is asked for */
    size_t n_sources, next;
    struct fs_call *status;
    struct err_info why;
    bool is_cancelled;
    void (*done)(void *arg, int err, const Yarn__LaunchContext *context, const struct err_info *why);
    void *arg;
};

/* ---- what is served ---- */

static void free_served(void *p)
{
    struct served *s = obj_cast(p, struct served, SERVED_MAGIC);

    obj_fini(&s->obj);
    for (size_t i = 0; i < s->n; i++)
        buf_fini(&s->files[i]);
    free(s->files);
    free(s->secret);
    free(s);
}

static char *new_secret(void)
{
    uint8_t octets[SECRET_OCTETS];
    struct buf text = BUF_EMPTY;

    BUG_IF(getrandom(octets, sizeof octets, 0) != (ssize_t)sizeof octets);
    for (size_t i = 0; i < sizeof octets; i++)
        buf_addf(&text, "%02x", octets[i]);
    return buf_take(&text);
}

void yarn_context_drop(struct yarn_context_maker *m, const char *container_id)
{
    mem_auto char *secret = map_remove(&m->secrets, container_id);

    if (secret)
        free_served(map_remove(&m->served, secret));
}

int yarn_context_served(const struct yarn_context_maker *m, const char *secret, const char *name,
                        const char **bytes, size_t *len)
{
    const struct served *s = map_get(&m->served, secret);
    int64_t n = 0;

    if (!s || str_to_i64(name, 0, (int64_t)s->n - 1, &n))
        return ERR_NOTFOUND;
    *bytes = s->files[n].bytes ? s->files[n].bytes : "";
    *len = s->files[n].len;
    return 0;
}

/* ---- messages ---- */

/** "http://host:80/a" as YARN has it. @return false: it is no such URL */
static bool set_url(struct arena *a, const char *url, Yarn__Url *out)
{
    const char *authority = strstr(url, "://"), *path = authority ? strchr(authority + 3, '/') : NULL;
    const char *end = path ? path : "";
    int64_t port = -1;

    if (!path || path == authority + 3)
        return false;
    out->scheme = arena_strn(a, url, (size_t)(authority - url));
    char *host = arena_strn(a, authority + 3, (size_t)(path - authority - 3));
    char *colon = strrchr(host, ':');
    if (colon && !strchr(colon, ']')) {
        if (str_to_i64(colon + 1, 1, 65535, &port))
            return false;
        *colon = '\0';
    }
    out->host = host;
    out->has_port = true;
    out->port = (int32_t)port;
    out->file = arena_str(a, end);
    return true;
}

static Yarn__LocalResource *add_resource(struct yarn_context_call *call, const char *link, bool is_archive)
{
    Yarn__LaunchContext *m = call->context;
    Yarn__NamedLocalResource *named = arena_alloc(call->arena, sizeof *named);
    Yarn__LocalResource *r = arena_alloc(call->arena, sizeof *r);

    yarn__named_local_resource__init(named);
    yarn__local_resource__init(r);
    r->resource = arena_alloc(call->arena, sizeof *r->resource);
    yarn__url__init(r->resource);
    r->has_size = r->has_timestamp = r->has_type = r->has_visibility = true;
    r->type = is_archive ? YARN__LOCAL_RESOURCE_TYPE__ARCHIVE : YARN__LOCAL_RESOURCE_TYPE__FILE;
    r->visibility = YARN__LOCAL_RESOURCE_VISIBILITY__APPLICATION;
    named->key = arena_str(call->arena, link);
    named->value = r;
    m->local_resources[m->n_local_resources++] = named;
    return r;
}

static void add_bytes(struct yarn_context_call *call, const struct cluster_file *f)
{
    struct served *s = call->served;
    Yarn__LocalResource *r = add_resource(call, f->path, false);
    mem_auto char *url = mem_fmt("%s/%s/%zu", call->owner->config.files_url, s->secret, s->n);

    BUG_IF(!set_url(call->arena, url, r->resource));
    r->size = (int64_t)f->len;
    buf_add(&s->files[s->n++], f->bytes, f->len);
}

/** A node manager decides by the same names how it unpacks, and gives files the mode 0500; a directory it copies in any case. */
static bool is_archive(const struct cluster_file *f)
{
    return f->is_archive || (f->is_source && fs_is_archive(f->source));
}

static int add_host_file(struct yarn_context_call *call, const struct cluster_file *f, const char *path)
{
    struct stat st;

    if (stat(path, &st))
        return err_set(
            &call->why, ERR_NOTFOUND, path,
            "src_file %s: the node of the application master has no such file, or its user may not read it",
            f->source);
    Yarn__LocalResource *r = add_resource(call, f->path, is_archive(f));
    r->resource->scheme = (char *)"file";
    r->resource->has_port = true;
    r->resource->port = -1;
    r->resource->file = arena_str(call->arena, path);
    r->size = st.st_size;
    r->timestamp = (int64_t)st.st_mtim.tv_sec * 1000 + st.st_mtim.tv_nsec / 1000000;
    return 0;
}

static int add_source(struct yarn_context_call *call, const struct cluster_file *f)
{
    struct yarn_context_maker *m = call->owner;
    struct fs_place place = {.path = NULL};
    int err = fs_place_read(&m->config.fs, f->source, m->config.user, &place, &call->why);

    if (err)
        return err;
    if (place.kind == FS_FILE) {
        err = add_host_file(call, f, place.path);
        fs_place_fini(&place);
        return err;
    }
    Yarn__LocalResource *r = add_resource(call, f->path, is_archive(f));
    if (!set_url(call->arena, place.path, r->resource))
        err = err_set(&call->why, ERR_UNSUPPORTED, f->source,
                      "src_file %s: a node manager cannot be given this URL", f->source);
    if (!err && place.kind == FS_HDFS) {
        call->sources[call->n_sources++] = (struct source){place, r};
        return 0;
    }
    fs_place_fini(&place);
    return err;
}

static int add_files(struct yarn_context_call *call, const struct cluster_launch *l)
{
    call->context->local_resources =
        arena_alloc(call->arena, (l->n_files + 1) * sizeof *call->context->local_resources);
    call->served->files = mem_array(l->n_files + 1, sizeof *call->served->files);
    call->sources = mem_array(l->n_files + 1, sizeof *call->sources);
    for (size_t i = 0; i < l->n_files; i++) {
        const struct cluster_file *f = &l->files[i];
        int err = 0;
        if (f->bytes)
            add_bytes(call, f);
        else if (f->values)
            err =
                err_set(&call->why, ERR_UNSUPPORTED, f->source,
                        "src_file %s: on YARN the text of a template is given by the property content, and a "
                        "configuration by its properties",
                        f->source);
        else
            err = add_source(call, f);
        if (err)
            return err;
    }
    return 0;
}

/** Variables of the node manager are its own; an image's are read by it without a shell. */
static int add_variables(struct yarn_context_call *call, const struct cluster_launch *l)
{
    Yarn__LaunchContext *m = call->context;
    size_t n = 0;

    while (l->env[n])
        n++;
    m->environment = arena_alloc(call->arena, (n + 1) * sizeof *m->environment);
    for (size_t i = 0; i < n; i++) {
        size_t len = strcspn(l->env[i], "=");
        mem_auto char *name = mem_strn(l->env[i], len);
        char *value = NULL;
        int err = yarn_context_variable(name, l->env[i] + len + 1, &value, &call->why);
        if (err)
            return err;
        if (!value)
            continue;
        Yarn__StringPair *pair = m->environment[m->n_environment++] = arena_alloc(call->arena, sizeof *pair);
        yarn__string_pair__init(pair);
        pair->key = arena_str(call->arena, name);
        pair->value = arena_str(call->arena, value);
        free(value);
    }
    return 0;
}

static void add_command(struct yarn_context_call *call, const struct cluster_launch *l)
{
    Yarn__LaunchContext *m = call->context;

    if (!l->command || !l->command[0])
        return; /* an image has its own */
    mem_auto char *text = yarn_context_command(l->command, !l->is_task);
    m->command = arena_alloc(call->arena, sizeof *m->command);
    m->command[m->n_command++] = arena_str(call->arena, text);
}

/* ---- the way of a call ---- */

static void free_call(struct yarn_context_call *call)
{
    for (size_t i = 0; i < call->n_sources; i++)
        fs_place_fini(&call->sources[i].place);
    free(call->sources);
    if (call->served)
        free_served(call->served);
    free(call->container_id);
    run_timer_free(call->later);
    arena_free(call->arena);
    obj_fini(&call->obj);
    free(call);
}

static void made(struct yarn_context_call *call, int err)
{
    struct yarn_context_maker *m = call->owner;

    if (!err) {
        yarn_context_drop(m, call->container_id); /* those of the launch before */
        map_set(&m->secrets, call->container_id, mem_str(call->served->secret));
        map_set(&m->served, call->served->secret, call->served);
        call->served = NULL;
    }
    call->done(call->arg, err, err ? NULL : call->context, &call->why);
    free_call(call);
}

static void ask_status(struct yarn_context_call *call);

static void on_status(void *arg, int err, const struct fs_status *status, const struct err_info *why)
{
    struct yarn_context_call *call = obj_cast(arg, struct yarn_context_call, CALL_MAGIC);

    call->status = NULL;
    if (call->is_cancelled)
        return;
    if (err) {
        call->why = *why;
        made(call, err);
        return;
    }
    Yarn__LocalResource *r = call->sources[call->next++].resource;
    r->size = status->len;
    r->timestamp = status->modified_ms;
    ask_status(call);
}

static void ask_status(struct yarn_context_call *call)
{
    struct yarn_context_maker *m = call->owner;

    if (call->next == call->n_sources) {
        made(call, 0);
        return;
    }
    call->status = fs_start(m->config.http, &(struct fs_request){.op = FS_STATUS,
                                                                 .place = &call->sources[call->next].place,
                                                                 .user = m->config.user,
                                                                 .done = on_status,
                                                                 .arg = call});
}

static void on_later(void *arg)
{
    struct yarn_context_call *call = obj_cast(arg, struct yarn_context_call, CALL_MAGIC);

    if (call->why.code)
        made(call, call->why.code);
    else
        ask_status(call);
}

struct yarn_context_call *yarn_context_make(
    struct yarn_context_maker *m, const struct cluster_container *c, const struct cluster_launch *launch,
    void (*done)(void *arg, int err, const Yarn__LaunchContext *context, const struct err_info *why),
    void *arg)
{
    struct yarn_context_call *call = mem_new(struct yarn_context_call);

    obj_init(&call->obj, CALL_MAGIC);
    call->owner = m;
    call->done = done;
    call->arg = arg;
    call->arena = arena_new(0);
    call->container_id = mem_str(c->id);
    call->served = mem_new(struct served);
    obj_init(&call->served->obj, SERVED_MAGIC);
    call->served->secret = new_secret();
    call->context = arena_alloc(call->arena, sizeof *call->context);
    yarn__launch_context__init(call->context);
    call->context->has_tokens = true;
    call->context->tokens = (ProtobufCBinaryData){sizeof no_tokens, (uint8_t *)no_tokens};
    int err = add_files(call, launch);
    err = err ? err : add_variables(call, launch);
    call->why.code = err;
    if (!err)
        add_command(call, launch);
    call->later = run_timer_new(m->config.loop, on_later, call);
    run_timer_start(call->later, 0, 0);
    return call;
}

void yarn_context_cancel(struct yarn_context_call *call)
{
    call->is_cancelled = true;
    if (call->status)
        fs_cancel(call->status);
    free_call(call);
}

/* ---- the maker ---- */

void yarn_context_maker_new(const struct yarn_context_config *config, struct yarn_context_maker **out)
{
    struct yarn_context_maker *m = mem_new(struct yarn_context_maker);

    obj_init(&m->obj, MAKER_MAGIC);
    m->config = *config;
    m->config.user = mem_str(config->user);
    m->config.files_url = mem_str(config->files_url);
    *out = m;
}

void yarn_context_maker_free(struct yarn_context_maker *m)
{
    if (!m)
        return;
    map_fini(&m->served, free_served);
    map_fini(&m->secrets, free);
    free((char *)m->config.user);
    free((char *)m->config.files_url);
    obj_fini(&m->obj);
    free(m);
}
