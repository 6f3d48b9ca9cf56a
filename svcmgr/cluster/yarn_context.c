#include "cluster/yarn_context.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/obj.h"
#include "base/str.h"
#include "cluster/source_text.h"
#include "cluster/yarn_context_shell.h"
#include "cluster/yarn_sources.h"
#include "fs/upload.h"
#include "spec/spec.h"

#define MAKER_MAGIC  OBJ_MAGIC('Y', 'C', 'M', 'K')
#define CALL_MAGIC   OBJ_MAGIC('Y', 'C', 'C', 'L')
#define SERVED_MAGIC OBJ_MAGIC('Y', 'C', 'S', 'V')

#define REMOVAL_MAGIC OBJ_MAGIC('Y', 'C', 'R', 'M')

#define SECRET_OCTETS  16
#define MODE_DIRECTORY 0700
#define MODE_FILE      0600

/** What the tokens of a launch context are without any. */
static const uint8_t no_tokens[] = {'H', 'D', 'T', 'S', 0, 0, 0};

/** The files of one container that were made here. */
struct served {
    struct obj obj;
    char *secret;
    struct buf *files; /* emptied when they are uploaded */
    size_t n, n_uploaded;
};

/** A directory of HDFS that is being deleted. */
struct removal {
    struct obj obj;
    TAILQ_ENTRY(removal) link;
    struct yarn_context_maker *owner;
    struct fs_call *call;
};

struct yarn_context_maker {
    struct obj obj;
    struct yarn_context_config config; /* texts owned */
    struct yarn_sources *sources;
    struct map served;  /* secret -> struct served */
    struct map secrets; /* container id -> its secret, owned */
    TAILQ_HEAD(, removal) removals;
};

/** A file whose bytes are made here. */
struct made {
    Yarn__LocalResource *resource;
    struct cluster_file text; /* source NULL: they are there; else what is to be read and expanded, owned */
};

struct yarn_context_call {
    struct obj obj;
    struct yarn_context_maker *owner;
    struct arena *arena;
    Yarn__LaunchContext *context;
    struct served *served;
    char *container_id;
    struct run_timer *later;
    struct in_hdfs {
        struct fs_place place;
        Yarn__LocalResource *resource;
    } * sources; /* of HDFS: their status is asked for */
    size_t n_sources, next;
    struct fs_call *status;
    struct made *made;
    size_t n_made; /* one for each of served */
    struct yarn_sources_read *reading;
    struct fs_place directory, place; /* of what is uploaded */
    struct http_file content;         /* likewise; fd -1: nothing is */
    struct fs_upload *upload;
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

static void on_removed(void *arg, int err, const struct fs_status *status, const struct err_info *why)
{
    struct removal *r = obj_cast(arg, struct removal, REMOVAL_MAGIC);

    (void)err; /* what stays goes with the application's directory */
    (void)status;
    (void)why;
    TAILQ_REMOVE(&r->owner->removals, r, link);
    obj_fini(&r->obj);
    free(r);
}

/** Delete what was uploaded under a secret. */
static void remove_uploaded(struct yarn_context_maker *m, const char *secret)
{
    mem_auto char *uri = mem_fmt("%s/%s", m->config.directory, secret);
    struct fs_place place = {.path = NULL};
    struct err_info why = {0};

    if (fs_place_read(&m->config.fs, uri, m->config.user, &place, &why))
        return;
    struct removal *r = mem_new(struct removal);
    obj_init(&r->obj, REMOVAL_MAGIC);
    r->owner = m;
    TAILQ_INSERT_TAIL(&m->removals, r, link);
    r->call = fs_start(m->config.http, &(struct fs_request){.op = FS_DELETE,
                                                            .place = &place,
                                                            .user = m->config.user,
                                                            .is_recursive = true,
                                                            .done = on_removed,
                                                            .arg = r});
    fs_place_fini(&place);
}

static void drop_served(struct yarn_context_maker *m, struct served *take_s)
{
    if (take_s->n_uploaded)
        remove_uploaded(m, take_s->secret);
    free_served(take_s);
}

void yarn_context_drop(struct yarn_context_maker *m, const char *container_id)
{
    mem_auto char *secret = map_remove(&m->secrets, container_id);

    if (secret)
        drop_served(m, map_remove(&m->served, secret));
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

/** A file whose bytes are made here, or are read and expanded. */
static void add_made(struct yarn_context_call *call, const struct cluster_file *f)
{
    struct served *s = call->served;
    struct made *made = &call->made[call->n_made++];

    made->resource = add_resource(call, f->path, false);
    if (f->bytes)
        buf_add(&s->files[s->n], f->bytes, f->len);
    else
        made->text = (struct cluster_file){.source = mem_str(f->source),
                                           .values = json_deep_copy(f->values),
                                           .config = spec_file_copy(f->config)};
    s->n++;
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
        call->sources[call->n_sources++] = (struct in_hdfs){place, r};
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
    call->made = mem_array(l->n_files + 1, sizeof *call->made);
    call->sources = mem_array(l->n_files + 1, sizeof *call->sources);
    for (size_t i = 0; i < l->n_files; i++) {
        const struct cluster_file *f = &l->files[i];
        int err = 0;
        if (f->bytes || f->values)
            add_made(call, f);
        else
            err = add_source(call, f);
        if (err)
            return err;
    }
    return 0;
}

static int add_variable(struct yarn_context_call *call, const char *name, const char *text)
{
    Yarn__LaunchContext *m = call->context;
    char *value = NULL;
    int err = yarn_context_variable(name, text, &value, &call->why);

    if (err || !value)
        return err;
    Yarn__StringPair *pair = m->environment[m->n_environment++] = arena_alloc(call->arena, sizeof *pair);
    yarn__string_pair__init(pair);
    pair->key = arena_str(call->arena, name);
    pair->value = arena_str(call->arena, value);
    free(value);
    return 0;
}

/** The caller's mounts, then the files that are mounted where the image wants them. */
static int add_mounts(struct yarn_context_call *call, const struct cluster_launch *l)
{
    buf_auto struct buf mounts = BUF_EMPTY;

    if (l->image && l->image->mounts)
        buf_add_str(&mounts, l->image->mounts);
    for (size_t i = 0; i < l->n_files; i++) {
        const struct cluster_file *f = &l->files[i];
        if (f->mount)
            buf_addf(&mounts, "%s%s:%s:ro", mounts.len ? "," : "", f->path, f->mount);
    }
    return mounts.len ? add_variable(call, SPEC_MOUNTS_ENV, buf_cstr(&mounts)) : 0;
}

static bool is_mounts(const char *name)
{
    return !strcmp(name, SPEC_MOUNTS_ENV) || !strcmp(name, SPEC_MOUNTS_ENV_OLD);
}

/** Variables of the node manager are its own; an image's are read by it without a shell. */
static int add_variables(struct yarn_context_call *call, const struct cluster_launch *l)
{
    Yarn__LaunchContext *m = call->context;
    size_t n = 0;

    while (l->env[n])
        n++;
    m->environment = arena_alloc(call->arena, (n + 2) * sizeof *m->environment);
    for (size_t i = 0; i < n; i++) {
        size_t len = strcspn(l->env[i], "=");
        mem_auto char *name = mem_strn(l->env[i], len);
        int err = l->image && is_mounts(name) ? 0 : add_variable(call, name, l->env[i] + len + 1);
        if (err)
            return err;
    }
    return add_mounts(call, l);
}

static void add_command(struct yarn_context_call *call, const struct cluster_launch *l)
{
    Yarn__LaunchContext *m = call->context;

    if (!l->command || !l->command[0])
        return;                                            /* an image has its own */
    bool is_words = l->image && l->image->has_entry_point; /* no shell reads them */
    mem_auto char *text = is_words ? mem_str(l->command) : yarn_context_command(l->command, !l->is_task);
    m->command = arena_alloc(call->arena, sizeof *m->command);
    m->command[m->n_command++] = arena_str(call->arena, text);
}

/* ---- the way of a call ---- */

static void free_call(struct yarn_context_call *call)
{
    for (size_t i = 0; i < call->n_sources; i++)
        fs_place_fini(&call->sources[i].place);
    free(call->sources);
    for (size_t i = 0; i < call->n_made; i++) {
        free((char *)call->made[i].text.source);
        json_decref((json_t *)call->made[i].text.values);
        spec_file_free((struct spec_file *)call->made[i].text.config);
    }
    free(call->made);
    if (call->served)
        drop_served(call->owner, call->served);
    if (call->content.fd >= 0)
        close(call->content.fd);
    fs_place_fini(&call->directory);
    fs_place_fini(&call->place);
    free(call->container_id);
    run_timer_free(call->later);
    arena_free(call->arena);
    obj_fini(&call->obj);
    free(call);
}

static void finish(struct yarn_context_call *call, int err)
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

/* ---- bytes that were made here: the last step ---- */

static void serve(struct yarn_context_call *call)
{
    const struct served *s = call->served;

    for (size_t i = 0; i < s->n; i++) {
        mem_auto char *url = mem_fmt("%s/%s/%zu", call->owner->config.files_url, s->secret, i);
        BUG_IF(!set_url(call->arena, url, call->made[i].resource->resource));
        call->made[i].resource->size = (int64_t)s->files[i].len;
    }
    finish(call, 0);
}

static void upload(struct yarn_context_call *call);

static void on_uploaded(void *arg, int err, const struct fs_status *status, const struct err_info *why)
{
    struct yarn_context_call *call = obj_cast(arg, struct yarn_context_call, CALL_MAGIC);
    struct served *s = call->served;

    call->upload = NULL;
    if (call->is_cancelled)
        return;
    if (!err && !set_url(call->arena, call->place.path, call->made[s->n_uploaded].resource->resource))
        err = err_set(&call->why, ERR_UNSUPPORTED, call->place.path,
                      "%.300s: a node manager cannot be given this URL", call->place.path);
    else if (err)
        call->why = *why;
    if (err) {
        finish(call, err);
        return;
    }
    call->made[s->n_uploaded].resource->size = status->len;
    call->made[s->n_uploaded].resource->timestamp = status->modified_ms;
    buf_fini(&s->files[s->n_uploaded++]);
    if (s->n_uploaded < s->n)
        upload(call);
    else
        finish(call, 0);
}

static int open_upload(struct yarn_context_call *call)
{
    const struct yarn_context_config *config = &call->owner->config;
    const struct served *s = call->served;
    const struct buf *bytes = &s->files[s->n_uploaded];
    mem_auto char *directory = mem_fmt("%s/%s", config->directory, s->secret);
    mem_auto char *file = mem_fmt("%s/%zu", directory, s->n_uploaded);

    fs_place_fini(&call->directory);
    fs_place_fini(&call->place);
    if (call->content.fd >= 0)
        close(call->content.fd);
    call->content.fd = -1;
    int err = fs_place_read(&config->fs, directory, config->user, &call->directory, &call->why);
    err = err ? err : fs_place_read(&config->fs, file, config->user, &call->place, &call->why);
    return err ? err : fs_upload_content(bytes->bytes, bytes->len, &call->content, &call->why);
}

/** The next one. */
static void upload(struct yarn_context_call *call)
{
    int err = open_upload(call);

    if (err) {
        finish(call, err);
        return;
    }
    const struct fs_upload_def def = {.directory = &call->directory,
                                      .file = &call->place,
                                      .user = call->owner->config.user,
                                      .directory_mode = MODE_DIRECTORY,
                                      .mode = MODE_FILE,
                                      .content = call->content};
    call->upload = fs_upload_start(call->owner->config.http, &def, on_uploaded, call);
}

/* ---- sources of HDFS: their status ---- */

static void ask_status(struct yarn_context_call *call);

static void on_status(void *arg, int err, const struct fs_status *status, const struct err_info *why)
{
    struct yarn_context_call *call = obj_cast(arg, struct yarn_context_call, CALL_MAGIC);

    call->status = NULL;
    if (call->is_cancelled)
        return;
    if (err) {
        call->why = *why;
        finish(call, err);
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

    if (call->next < call->n_sources)
        call->status =
            fs_start(m->config.http, &(struct fs_request){.op = FS_STATUS,
                                                          .place = &call->sources[call->next].place,
                                                          .user = m->config.user,
                                                          .done = on_status,
                                                          .arg = call});
    else if (m->config.directory && call->served->n)
        upload(call);
    else
        serve(call);
}

/* ---- texts that are expanded ---- */

static void on_read(void *arg, int err, struct buf *texts, const struct err_info *why)
{
    struct yarn_context_call *call = obj_cast(arg, struct yarn_context_call, CALL_MAGIC);
    size_t n = 0;

    call->reading = NULL;
    if (err)
        call->why = *why;
    for (size_t i = 0; !err && i < call->n_made; i++) {
        const struct cluster_file *f = &call->made[i].text;
        if (!f->source)
            continue;
        mem_auto char *text = source_expand(buf_cstr(&texts[n++]), f, &call->why);
        err = text ? 0 : call->why.code;
        if (text)
            buf_add_str(&call->served->files[i], text);
    }
    if (err)
        finish(call, err);
    else
        ask_status(call);
}

static void read_texts(struct yarn_context_call *call)
{
    mem_auto struct cluster_file *files = mem_array(call->n_made + 1, sizeof *files);
    size_t n = 0;

    for (size_t i = 0; i < call->n_made; i++)
        if (call->made[i].text.source)
            files[n++] = call->made[i].text;
    if (n)
        call->reading = yarn_sources_start(call->owner->sources, files, n, on_read, call);
    else
        ask_status(call);
}

static void on_later(void *arg)
{
    struct yarn_context_call *call = obj_cast(arg, struct yarn_context_call, CALL_MAGIC);

    if (call->why.code)
        finish(call, call->why.code);
    else
        read_texts(call);
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
    call->content.fd = -1;
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
    if (call->reading)
        yarn_sources_cancel(call->reading);
    if (call->upload)
        fs_upload_cancel(call->upload);
    free_call(call);
}

/* ---- the maker ---- */

void yarn_context_maker_new(const struct yarn_context_config *config, struct yarn_context_maker **out)
{
    struct yarn_context_maker *m = mem_new(struct yarn_context_maker);
    const struct yarn_sources_config of_sources = {.loop = config->loop,
                                                   .fs = config->fs,
                                                   .user = config->user,
                                                   .dir = config->cache_dir,
                                                   .fresh_s = config->fresh_s};

    obj_init(&m->obj, MAKER_MAGIC);
    m->config = *config;
    m->config.user = mem_str(config->user);
    m->config.files_url = mem_str(config->files_url);
    m->config.directory = mem_str(config->directory);
    m->config.cache_dir = NULL;
    m->sources = yarn_sources_new(&of_sources);
    TAILQ_INIT(&m->removals);
    *out = m;
}

void yarn_context_maker_free(struct yarn_context_maker *m)
{
    struct removal *r;

    if (!m)
        return;
    while ((r = TAILQ_FIRST(&m->removals)))
        fs_cancel(r->call);
    map_fini(&m->served, free_served);
    map_fini(&m->secrets, free);
    yarn_sources_free(m->sources);
    free((char *)m->config.user);
    free((char *)m->config.files_url);
    free((char *)m->config.directory);
    obj_fini(&m->obj);
    free(m);
}
