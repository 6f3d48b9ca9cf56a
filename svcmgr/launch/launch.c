#include "launch/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"

#define LOG_DIR_MARK "<LOG_DIR>"
/* How the API ends each command. The shim gives both files to the whole command from its start: what the shell would
 * give to the last part only. */
#define OUTPUT_MARK " 1>" LOG_DIR_MARK "/stdout.txt 2>" LOG_DIR_MARK "/stderr.txt"

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

static char *expand(const char *text, const struct map *env, const struct cluster_container *c, bool with_pwd)
{
    buf_auto struct buf out = BUF_EMPTY;
    size_t len;

    for (const char *p = text; *p; p += len) {
        const char *value = find_mark(env, p, &len);
        if (value) {
            buf_add_str(&out, value);
        } else if (str_starts(p, LOG_DIR_MARK)) {
            buf_add_str(&out, c->log_dir);
            len = strlen(LOG_DIR_MARK);
        } else if (with_pwd && (len = pwd_len(p))) {
            buf_add_str(&out, c->work_dir);
        } else {
            buf_add_char(&out, *p);
            len = 1;
        }
    }
    return buf_take(&out);
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
    set_env(env, "PWD", c->work_dir);
    set_env(env, "HOME", c->work_dir);
    set_env(env, "LOG_DIRS", c->log_dir);
    set_env(env, "LOCAL_DIRS", c->work_dir);
}

static int make_env(const struct eng_launch *wanted, const struct cluster_container *c, struct map *env,
                    struct err_info *why)
{
    set_env(env, "PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
    set_platform_env(env, wanted, c); /* First too, so that {{CONTAINER_ID}} can be used by the user's. */
    for (size_t i = 0; i < wanted->n_env; i++) {
        const char *name = wanted->env[i].name;
        if (!*name || strchr(name, '='))
            return err_set(why, ERR_UNSUPPORTED, name, "No variable of the environment can be called \"%s\".",
                           name);
        mem_auto char *value = expand(wanted->env[i].value ? wanted->env[i].value : "", env, c, true);
        set_env(env, name, value);
    }
    set_platform_env(env, wanted, c);
    return 0;
}

static void list_env(const struct map *env, struct launch_plan *out)
{
    const char **names = map_sorted_keys(env);
    size_t n = 0;

    out->env = mem_array(env->n_items + 1, sizeof(*out->env));
    for (; names[n]; n++)
        out->env[n] = mem_fmt("%s=%s", names[n], (const char *)map_get(env, names[n]));
    free(names);
}

/* ---- command ---- */

static int make_command(const struct eng_launch *wanted, const struct cluster_container *c,
                        const struct map *env, struct launch_plan *out, struct err_info *why)
{
    if (!wanted->command || !*wanted->command)
        return err_set(why, ERR_INVALID, wanted->instance, "There is no launch_command to run as a process.");
    mem_auto char *text = str_trim(wanted->command);
    if (str_ends(text, OUTPUT_MARK))
        text[strlen(text) - strlen(OUTPUT_MARK)] = '\0';
    out->command = expand(text, env, c, false);
    return 0;
}

/* ---- files ---- */

static int read_template(const char *path, struct buf *out, struct err_info *why)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : 1;

    while (n > 0 && out->len <= LAUNCH_TEMPLATE_MAX) {
        n = read(fd, buf_room(out, 65536), 65536);
        out->len += n > 0 ? (size_t)n : 0;
    }
    int error = errno;
    if (fd >= 0)
        close(fd);
    if (n < 0)
        return err_set(why, ERR_IO, path, "%.200s: %s", path, strerror(error));
    if (out->len > LAUNCH_TEMPLATE_MAX)
        return err_set(why, ERR_TOOBIG, path, "%.200s is larger than %d bytes.", path, LAUNCH_TEMPLATE_MAX);
    return 0;
}

static int plan_file(const struct eng_file *f, const json_t *values, struct cluster_file *out,
                     struct err_info *why)
{
    buf_auto struct buf text = BUF_EMPTY;
    int err;

    out->path = f->name;
    switch (f->mode) {
    case FILE_BYTES:
        out->bytes = mem_strn(f->bytes ? f->bytes : "", f->len);
        out->len = f->len;
        return 0;
    case FILE_COPY: out->source = f->src; return 0;
    case FILE_EXPAND:
        err = read_template(f->src, &text, why);
        if (err)
            return err;
        out->bytes = spec_expand(buf_cstr(&text), values);
        out->len = strlen(out->bytes);
        return 0;
    case FILE_UNPACK: break;
    }
    return err_set(why, ERR_UNSUPPORTED, f->src, "Archives are not unpacked by a local cluster.");
}

static int plan_files(const struct eng_launch *wanted, struct launch_plan *out, struct err_info *why)
{
    int err = 0;

    out->files = mem_array(wanted->n_files + 1, sizeof(*out->files));
    for (size_t i = 0; !err && i < wanted->n_files; i++) {
        out->n_files = i + 1;
        err = plan_file(&wanted->files[i], wanted->values, &out->files[i], why);
    }
    return err;
}

/* ---- the whole ---- */

int launch_plan(const struct eng_launch *wanted, const struct cluster_container *container,
                struct launch_plan *out, struct err_info *why)
{
    struct map env = MAP_EMPTY;

    *out = (struct launch_plan){.command = NULL};
    int err = make_env(wanted, container, &env, why);
    if (!err)
        err = make_command(wanted, container, &env, out, why);
    if (!err)
        err = plan_files(wanted, out, why);
    if (!err)
        list_env(&env, out);
    map_fini(&env, free);
    if (err) {
        launch_plan_fini(out);
        return err;
    }
    out->launch = (struct cluster_launch){wanted->attempt, out->command, (const char *const *)out->env,
                                          out->files, out->n_files};
    return 0;
}

void launch_plan_fini(struct launch_plan *p)
{
    free(p->command);
    for (size_t i = 0; p->env && p->env[i]; i++)
        free(p->env[i]);
    free(p->env);
    for (size_t i = 0; i < p->n_files; i++)
        free((char *)p->files[i].bytes);
    free(p->files);
    *p = (struct launch_plan){.command = NULL};
}
