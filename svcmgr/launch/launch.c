#include "launch/launch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"

#define LOG_DIR_MARK "<LOG_DIR>"
#define PWD_MARK     "$PWD"
/* How the API ends each command. The shim gives both files to the whole command from its start: what the shell would
 * give to the last part only. */
#define OUTPUT_MARK " 1>" LOG_DIR_MARK "/stdout.txt 2>" LOG_DIR_MARK "/stderr.txt"

#define TASK_OUTPUT "1>" LOG_DIR_MARK "/stdout 2>" LOG_DIR_MARK "/stderr"

static void set_env(struct map *env, const char *name, const char *value)
{
    free(map_set(env, name, mem_str(value)));
}

/** {{NAME}} at p. @return its value ("" when there is none) and *len of the whole mark; NULL: it is no mark. */
static const char *find_mark(const struct map *env, const char *p, size_t *len)
{
    const char *end = strstr(p, "}}");

    if (!str_starts(p, "{{") || !end)
        return NULL;
    const char *value = map_getn(env, p + 2, (size_t)(end - p) - 2);
    *len = (size_t)(end - p) + 2;
    return value ? value : "";
}

/** $PWD or ${PWD} at p, as a whole name. @return its length or 0. */
static size_t pwd_len(const char *p)
{
    if (str_starts(p, "${PWD}"))
        return 6;
    if (!str_starts(p, "$PWD"))
        return 0;
    bool goes_on = p[4] == '_' || (p[4] >= '0' && p[4] <= '9') || (p[4] >= 'a' && p[4] <= 'z') ||
                   (p[4] >= 'A' && p[4] <= 'Z');
    return goes_on ? 0 : 4;
}

/** What is being planned. */
struct plan {
    const struct eng_launch *wanted;
    const struct cluster_container *container;
    struct map env;
    size_t left; /* bytes that its texts may still have */
};

/** The text expanded, taken from what is left. free(); NULL: it would have more. */
static char *expand(const char *text, struct plan *plan, bool with_pwd)
{
    const struct cluster_container *c = plan->container;
    const struct map *env = &plan->env;
    buf_auto struct buf out = BUF_EMPTY;
    size_t len;

    for (const char *p = text; *p && out.len <= plan->left; p += len) {
        const char *value = find_mark(env, p, &len);
        if (value) {
            buf_add_str(&out, value);
        } else if (str_starts(p, LOG_DIR_MARK)) {
            buf_add_str(&out, c->log_dir ? c->log_dir : LOG_DIR_MARK);
            len = strlen(LOG_DIR_MARK);
        } else if (with_pwd && (len = pwd_len(p))) {
            buf_add_str(&out, c->work_dir ? c->work_dir : PWD_MARK);
        } else {
            buf_add_char(&out, *p);
            len = 1;
        }
    }
    if (out.len > plan->left)
        return NULL;
    plan->left -= out.len;
    return buf_take(&out);
}

static int too_large(const struct plan *plan, const char *what, const char *name, struct err_info *why)
{
    mem_auto char *text = spec_too_large(plan->wanted->component ? plan->wanted->component : "", what, name);

    return err_set(why, ERR_TOOBIG, plan->wanted->instance, "%s", text);
}

/* ---- environment ---- */

static void set_platform_env(struct map *env, const struct eng_launch *wanted,
                             const struct cluster_container *c)
{
    set_env(env, "CONTAINER_ID", c->id);
    if (wanted->ip || c->ip)
        set_env(env, "CONTAINER_IP", wanted->ip ? wanted->ip : c->ip);
    set_env(env, "NM_HOST", c->hostname);
    set_env(env, "USER", wanted->run_as);
    set_env(env, "LOGNAME", wanted->run_as);
    if (!c->work_dir)
        return; /* the node sets these: they are known there only */
    set_env(env, "HOME", c->work_dir);
    set_env(env, "LOG_DIRS", c->log_dir);
    set_env(env, "LOCAL_DIRS", c->work_dir);
}

/** A program on the host finds others and its directory by these; an image brings its own. */
static void set_host_env(struct map *env, const struct plan *plan)
{
    if (plan->wanted->image)
        return;
    if (!map_get(env, "PATH"))
        set_env(env, "PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
    if (plan->container->work_dir)
        set_env(env, "PWD", plan->container->work_dir);
}

/** What Hadoop's node manager is given for an image. */
static void set_image_env(struct map *env, const struct eng_image *image)
{
    if (!image)
        return;
    set_env(env, "YARN_CONTAINER_RUNTIME_TYPE", "docker");
    set_env(env, "YARN_CONTAINER_RUNTIME_DOCKER_IMAGE", image->id);
    set_env(env, "YARN_CONTAINER_RUNTIME_DOCKER_CONTAINER_HOSTNAME", image->hostname);
    if (image->network)
        set_env(env, "YARN_CONTAINER_RUNTIME_DOCKER_CONTAINER_NETWORK", image->network);
    if (image->is_privileged)
        set_env(env, "YARN_CONTAINER_RUNTIME_DOCKER_RUN_PRIVILEGED_CONTAINER", "true");
}

static int make_env(struct plan *plan, struct err_info *why)
{
    const struct eng_launch *wanted = plan->wanted;
    const struct cluster_container *c = plan->container;
    struct map *env = &plan->env;

    set_host_env(env, plan);
    set_platform_env(env, wanted, c); /* First too, so that {{CONTAINER_ID}} can be used by the user's. */
    for (size_t i = 0; i < wanted->n_env; i++) {
        const char *name = wanted->env[i].name;
        if (!*name || strchr(name, '='))
            return err_set(why, ERR_UNSUPPORTED, name, "No variable of the environment can be called \"%s\".",
                           name);
        mem_auto char *value = expand(wanted->env[i].value ? wanted->env[i].value : "", plan, true);
        if (!value)
            return too_large(plan, "variable", name, why);
        set_env(env, name, value);
    }
    set_platform_env(env, wanted, c);
    set_host_env(env, plan);
    set_image_env(env, wanted->image);
    return 0;
}

static void list_env(const struct map *env, struct launch_plan *out)
{
    const char **names = map_sorted_keys(env);
    size_t n = 0;

    out->env = mem_array(env->n_items + 1, sizeof *out->env);
    for (; names[n]; n++)
        out->env[n] = mem_fmt("%s=%s", names[n], (const char *)map_get(env, names[n]));
    free(names);
}

/* ---- command ---- */

/**
 * The entry point of a task, between double quotes as it is. Where the shim keeps the output, its end has only the form of a redirection: that
 * belongs to the last command of a list.
 */
static char *task_command(const struct plan *plan)
{
    const char *entry = plan->wanted->command ? plan->wanted->command : "";
    bool is_kept = plan->container->log_dir != NULL;

    return mem_fmt("exec /bin/bash -c \"%s %s\"", entry, is_kept ? "1>&1 2>&2" : TASK_OUTPUT);
}

static int make_command(struct plan *plan, struct launch_plan *out, struct err_info *why)
{
    const struct eng_launch *wanted = plan->wanted;

    if (wanted->is_task) {
        out->command = task_command(plan);
        return 0;
    }

    mem_auto char *text = str_trim(wanted->command ? wanted->command : "");
    if (str_ends(text, OUTPUT_MARK))
        text[strlen(text) - strlen(OUTPUT_MARK)] = '\0';
    out->command = expand(text, plan, false);
    return out->command ? 0 : too_large(plan, "launch_command", "", why);
}

/* ---- image ---- */

static void plan_image(struct plan *plan, struct launch_plan *out)
{
    const struct eng_image *image = plan->wanted->image;
    const char *mounts = map_get(&plan->env, SPEC_MOUNTS_ENV);
    const char *entry_point = map_get(&plan->env, SPEC_ENTRY_POINT_ENV);

    if (!image)
        return;
    out->image = (struct cluster_image){
        .id = image->id,
        .hostname = image->hostname,
        .is_privileged = image->is_privileged,
        .has_entry_point = entry_point && !strcmp(entry_point, "true"),
    };
    out->mounts = mem_str(mounts ? mounts : map_get(&plan->env, SPEC_MOUNTS_ENV_OLD));
    out->image.mounts = out->mounts;
    out->launch.image = &out->image;
}

/* ---- files ---- */

static void plan_file(const struct eng_file *f, const json_t *values, struct cluster_file *out)
{
    out->path = f->name;
    out->mount = f->mount;
    switch (f->mode) {
    case FILE_BYTES:
        out->bytes = mem_strn(f->bytes ? f->bytes : "", f->len);
        out->len = f->len;
        return;
    case FILE_COPY: out->source = f->src; return;
    case FILE_EXPAND:
        out->source = f->src;
        out->values = values;
        out->config = f->config;
        return;
    case FILE_UNPACK:
        out->source = f->src;
        out->is_archive = true;
        return;
    case FILE_SOURCE:
        out->source = f->src;
        out->is_source = true;
        return;
    }
}

static void plan_files(const struct eng_launch *wanted, struct launch_plan *out)
{
    out->files = mem_array(wanted->n_files + 1, sizeof *out->files);
    out->n_files = wanted->n_files;
    for (size_t i = 0; i < wanted->n_files; i++)
        plan_file(&wanted->files[i], wanted->values, &out->files[i]);
}

/** Each source has a name of its own in the working directory. */
static int check_names(const struct eng_launch *wanted, struct launch_plan *out, struct err_info *why)
{
    struct map seen = MAP_EMPTY;
    const char *fault = NULL;
    size_t i = 0;

    for (; wanted->is_task && !fault && i < wanted->n_files; i++) {
        const char *name = wanted->files[i].name;
        bool is_name = *name && strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
        fault = !is_name ? "has no base name" : map_set(&seen, name, (void *)name) ? "is there twice" : NULL;
    }
    map_fini(&seen, NULL);
    if (!fault)
        return 0;
    const struct eng_file *f = &wanted->files[i - 1];
    out->cause = CAUSE_SOURCE;
    return err_set(why, ERR_INVALID, f->src,
                   "Source %.200s: its base name \"%.80s\" in the working directory %s.",
                   f->src ? f->src : "", f->name, fault);
}

/* ---- tasks ---- */

/** "appattempt_1700000000000_0001_000001" of "container_e17_1700000000000_0001_01_000002". free(); NULL: it is no such id */
static char *attempt_id(const char *container_id)
{
    unsigned long long cluster, application, attempt;
    const char *p = strchr(container_id, '_');

    if (p && p[1] == 'e')
        p = strchr(p + 1, '_');
    if (!p || sscanf(p, "_%llu_%llu_%llu_", &cluster, &application, &attempt) != 3)
        return NULL;
    return mem_fmt("appattempt_%llu_%04llu_%06llu", cluster, application, attempt);
}

/** What only the container's own node decides. */
static void set_task_env(struct map *env, const struct plan *plan)
{
    mem_auto char *gpus = mem_fmt("%lld", (long long)plan->container->gpus);
    mem_auto char *attempt = attempt_id(plan->container->id);

    if (!plan->wanted->is_task)
        return;
    set_env(env, "CONTAINER_GPUS", gpus);
    set_env(env, "ATTEMPT_ID", attempt ? attempt : "");
}

/* ---- the whole ---- */

int launch_plan(const struct eng_launch *wanted, const struct cluster_container *container,
                struct launch_plan *out, struct err_info *why)
{
    struct plan plan = {wanted, container, MAP_EMPTY, SPEC_EXPANDED_MAX};

    *out = (struct launch_plan){.cause = CAUSE_LAUNCH};
    if (wanted->too_large)
        return err_set(why, ERR_TOOBIG, wanted->instance, "%s", wanted->too_large);
    int err = check_names(wanted, out, why);
    if (!err)
        err = make_env(&plan, why);
    set_task_env(&plan.env, &plan);
    if (!err)
        err = make_command(&plan, out, why);
    if (!err) {
        plan_files(wanted, out);
        list_env(&plan.env, out);
    }
    if (err) {
        map_fini(&plan.env, free);
        enum eng_exit_cause cause = out->cause;
        launch_plan_fini(out);
        out->cause = cause;
        return err;
    }
    out->launch = (struct cluster_launch){.attempt = wanted->attempt,
                                          .owner = wanted->run_as,
                                          .command = out->command,
                                          .is_task = wanted->is_task,
                                          .env = (const char *const *)out->env,
                                          .files = out->files,
                                          .n_files = out->n_files,
                                          .instance = wanted->instance};
    plan_image(&plan, out);
    map_fini(&plan.env, free);
    return 0;
}

void launch_plan_fini(struct launch_plan *p)
{
    free(p->command);
    free(p->mounts);
    for (size_t i = 0; p->env && p->env[i]; i++)
        free(p->env[i]);
    free(p->env);
    for (size_t i = 0; i < p->n_files; i++)
        free((char *)p->files[i].bytes);
    free(p->files);
    *p = (struct launch_plan){.command = NULL};
}
