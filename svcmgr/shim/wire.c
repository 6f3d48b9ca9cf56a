#include "shim/wire.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/obj.h"
#include "base/str.h"

#define KINDS(X)                                                                                             \
    X(SHIM_EXITED, "exited")                                                                                 \
    X(SHIM_SIGNALLED, "signalled")                                                                           \
    X(SHIM_NOT_STARTED, "not_started")                                                                       \
    X(SHIM_LOST, "lost")

static const char *const kind_texts[] = {
#define KIND_TEXT(id, text) [id] = text,
    KINDS(KIND_TEXT)
#undef KIND_TEXT
};

const char *shim_exit_kind_text(enum shim_exit_kind kind)
{
    return kind_texts[kind];
}

int shim_write_all(int fd, const char *bytes, size_t len)
{
    while (len > 0) {
        ssize_t n = write(fd, bytes, len);
        if (n < 0)
            return -1;
        bytes += n;
        len -= (size_t)n;
    }
    return 0;
}

void shim_shell_word(struct buf *out, const char *word)
{
    buf_add_char(out, ' ');
    buf_add_char(out, '\'');
    for (; *word; word++) {
        if (*word == '\'')
            buf_add_str(out, "'\\''");
        else
            buf_add_char(out, *word);
    }
    buf_add_char(out, '\'');
}

void shim_launch_fini(struct shim_launch *l)
{
    free(l->command);
    for (size_t i = 0; i < l->n_env; i++)
        free(l->env[i]);
    free(l->env);
    free(l->work_dir);
    free(l->log_dir);
    free(l->runtime);
    free(l->runtime_id);
    for (size_t i = 0; i < l->n_cgroups; i++)
        free(l->cgroups[i].dir);
    *l = (struct shim_launch){0};
}

int shim_launch_cgroup(struct shim_launch *l, const char *kind, const char *dir)
{
    if (l->n_cgroups == SHIM_CGROUPS_MAX)
        return ERR_LIMIT;
    struct shim_cgroup *g = &l->cgroups[l->n_cgroups++];
    snprintf(g->kind, sizeof g->kind, "%s", kind);
    g->dir = mem_str(dir);
    return 0;
}

/** "kind:directory" */
static int read_cgroup(struct shim_launch *l, const char *value)
{
    const char *colon = strchr(value, ':');
    mem_auto char *kind = colon ? mem_strn(value, (size_t)(colon - value)) : NULL;

    if (!kind || strlen(kind) >= sizeof l->cgroups[0].kind || colon[1] != '/')
        return ERR_PARSE;
    return shim_launch_cgroup(l, kind, colon + 1) ? ERR_PARSE : 0;
}

static void add_env_text(struct shim_launch *l, char *take_text)
{
    l->env = mem_resize(l->env, l->n_env + 2, sizeof *l->env);
    l->env[l->n_env++] = take_text;
    l->env[l->n_env] = NULL;
}

void shim_launch_env(struct shim_launch *l, const char *name, const char *value)
{
    add_env_text(l, mem_fmt("%s=%s", name, value));
}

void shim_launch_write(const struct shim_launch *l, struct buf *out)
{
    record_int(out, "format", SHIM_FORMAT);
    record_text(out, "command", l->command);
    record_text(out, "work_dir", l->work_dir);
    record_text(out, "log_dir", l->log_dir);
    for (size_t i = 0; i < l->n_cgroups; i++) {
        mem_auto char *cgroup = mem_fmt("%s:%s", l->cgroups[i].kind, l->cgroups[i].dir);
        record_text(out, "cgroup", cgroup);
    }
    if (l->runtime) {
        record_text(out, "runtime", l->runtime);
        record_text(out, "runtime_id", l->runtime_id);
    }
    record_int(out, "cgroups_required", l->cgroups_required);
    record_int(out, "pids_max", l->pids_max);
    record_int(out, "cpu_is_strict", l->cpu_is_strict);
    record_int(out, "memory_bytes", l->memory_bytes);
    record_int(out, "cpu_milli", l->cpu_milli);
    record_int(out, "grace_ms", l->grace_ms);
    record_int(out, "log_bytes", l->log_bytes);
    record_int(out, "log_files", l->log_files);
    record_user(out, &l->user);
    for (size_t i = 0; i < l->n_rlimits; i++) {
        const struct shim_rlimit *r = &l->rlimits[i];
        buf_addf(out, "rlimit=%d:%" PRId64 ":%" PRId64, r->resource, r->soft, r->hard);
        buf_add_char(out, '\0');
    }
    for (size_t i = 0; i < l->n_env; i++)
        record_text(out, "env", l->env[i]);
}

static int read_rlimit(struct shim_launch *l, const char *value)
{
    struct shim_rlimit r;

    if (l->n_rlimits == SHIM_RLIMITS_MAX)
        return ERR_PARSE;
    if (sscanf(value, "%d:%" SCNd64 ":%" SCNd64, &r.resource, &r.soft, &r.hard) != 3)
        return ERR_PARSE;
    l->rlimits[l->n_rlimits++] = r;
    return 0;
}

static int read_text(char **slot, const char *value)
{
    free(*slot);
    *slot = mem_str(value);
    return 0;
}

static int read_bool(const char *value, bool *out)
{
    int64_t n;
    int err = str_to_i64(value, 0, 1, &n);

    if (!err)
        *out = n;
    return err;
}

/** @return 0; ERR_UNSUPPORTED: the format is newer; ERR_PARSE: it is none. */
static int check_format(const char *value)
{
    int64_t format;

    if (str_to_i64(value, 1, INT64_MAX, &format))
        return ERR_PARSE;
    return format > SHIM_FORMAT ? ERR_UNSUPPORTED : 0;
}

/** One record of the launch file. */
static int read_record(void *into, const char *key, const char *value)
{
    struct shim_launch *l = into;

    if (!strcmp(key, "format"))
        return check_format(value);
    if (!strcmp(key, "command"))
        return read_text(&l->command, value);
    if (!strcmp(key, "work_dir"))
        return read_text(&l->work_dir, value);
    if (!strcmp(key, "log_dir"))
        return read_text(&l->log_dir, value);
    if (!strcmp(key, "runtime"))
        return read_text(&l->runtime, value);
    if (!strcmp(key, "runtime_id"))
        return read_text(&l->runtime_id, value);
    if (!strcmp(key, "cgroup"))
        return read_cgroup(l, value);
    if (!strcmp(key, "pids_max"))
        return str_to_i64(value, 0, INT64_MAX, &l->pids_max);
    if (!strcmp(key, "cgroups_required"))
        return read_bool(value, &l->cgroups_required);
    if (!strcmp(key, "cpu_is_strict"))
        return read_bool(value, &l->cpu_is_strict);
    if (!strcmp(key, "memory_bytes"))
        return str_to_i64(value, 0, INT64_MAX, &l->memory_bytes);
    if (!strcmp(key, "cpu_milli"))
        return str_to_i64(value, 0, INT32_MAX, &l->cpu_milli);
    if (!strcmp(key, "grace_ms"))
        return str_to_i64(value, 0, INT32_MAX, &l->grace_ms);
    if (!strcmp(key, "log_bytes"))
        return str_to_i64(value, 0, INT64_MAX, &l->log_bytes);
    if (!strcmp(key, "log_files"))
        return str_to_i64(value, 0, SHIM_LOG_FILES_MAX, &l->log_files);
    if (record_is_user(key))
        return record_take_user(&l->user, key, value);
    if (!strcmp(key, "rlimit"))
        return read_rlimit(l, value);
    if (strcmp(key, "env") || !strchr(value, '='))
        return ERR_PARSE;
    add_env_text(l, mem_str(value));
    return 0;
}

int shim_launch_read(const char *bytes, size_t len, struct shim_launch *out, struct err_info *why)
{
    struct shim_launch l = {0};

    if (records_each(bytes, len, read_record, &l, why)) {
        shim_launch_fini(&l);
        return ERR_PARSE;
    }
    if (!l.command || !l.work_dir || !l.log_dir || !l.runtime != !l.runtime_id) {
        shim_launch_fini(&l);
        return err_set(why, ERR_PARSE, SHIM_LAUNCH_FILE,
                       "the launch file lacks command, work_dir, log_dir or one of runtime and runtime_id");
    }
    *out = l;
    return 0;
}

size_t shim_status_write(const struct shim_status *s, char out[SHIM_LINE_MAX])
{
    int n = snprintf(out, SHIM_LINE_MAX,
                     "status format=%d shim=%d shim_start=%" PRIu64 " pid=%d pid_start=%" PRIu64
                     " started_ms=%" PRId64 " stopping=%d boot=%s\n",
                     SHIM_FORMAT, (int)s->shim, s->shim_start, (int)s->pid, s->pid_start, s->started_ms,
                     s->stopping, s->boot);
    BUG_IF(n < 0 || n >= SHIM_LINE_MAX);
    return (size_t)n;
}

#define TEXT " text="
#define BY_MEMORY                                                                                            \
    " memory=1" /* a member of some lines only: shims of before write none, and their containers live on */

size_t shim_exit_write(const struct shim_exit *e, char out[SHIM_LINE_MAX])
{
    int n = snprintf(out, SHIM_LINE_MAX,
                     "exit format=%d kind=%s code=%d stopped=%d started_ms=%" PRId64 " ended_ms=%" PRId64
                     "%s text=%s\n",
                     SHIM_FORMAT, kind_texts[e->kind], e->code, e->was_stopped, e->started_ms, e->ended_ms,
                     e->was_memory ? BY_MEMORY : "", e->text);
    BUG_IF(n < 0 || n >= SHIM_LINE_MAX);
    return (size_t)n;
}

/** The members of a line of this kind, behind its format; one without is of format 1. @return 0; ERR_UNSUPPORTED; ERR_PARSE */
static int open_line(const char *line, const char *kind, const char **members)
{
    char number[24];

    if (!str_starts(line, kind))
        return ERR_PARSE;
    *members = line + strlen(kind);
    if (!str_starts(*members, "format="))
        return 0;
    const char *format = strchr(*members, '=') + 1;
    size_t len = strcspn(format, " \n");
    if (format[len] != ' ' || len >= sizeof number)
        return ERR_PARSE;
    snprintf(number, sizeof number, "%.*s", (int)len, format);
    *members = format + len + 1;
    return check_format(number);
}

int shim_status_read(const char *line, struct shim_status *out)
{
    struct shim_status s = {0};
    const char *members;
    int shim, pid, stopping;
    int err = open_line(line, "status ", &members);

    if (err)
        return err;
    if (sscanf(members,
               "shim=%d shim_start=%" SCNu64 " pid=%d pid_start=%" SCNu64 " started_ms=%" SCNd64
               " stopping=%d boot=%36[0-9a-f-]",
               &shim, &s.shim_start, &pid, &s.pid_start, &s.started_ms, &stopping, s.boot) < 6)
        return ERR_PARSE;
    s.shim = shim;
    s.pid = pid;
    s.stopping = stopping != 0;
    *out = s;
    return 0;
}

int shim_exit_read(const char *line, struct shim_exit *out)
{
    struct shim_exit e = {0};
    char kind[16];
    const char *members;
    int stopped, text_at = 0;
    int err = open_line(line, "exit ", &members);

    if (err)
        return err;
    if (sscanf(members, "kind=%15s code=%d stopped=%d started_ms=%" SCNd64 " ended_ms=%" SCNd64 "%n", kind,
               &e.code, &stopped, &e.started_ms, &e.ended_ms, &text_at) != 5 ||
        !text_at)
        return ERR_PARSE;
    members += text_at;
    e.was_memory = str_starts(members, BY_MEMORY);
    members += e.was_memory ? strlen(BY_MEMORY) : 0;
    if (!str_starts(members, TEXT))
        return ERR_PARSE;
    members += strlen(TEXT);
    size_t k = 0;
    while (k < ARRAY_LEN(kind_texts) && strcmp(kind_texts[k], kind))
        k++;
    if (k == ARRAY_LEN(kind_texts))
        return ERR_PARSE;
    e.kind = (enum shim_exit_kind)k;
    e.was_stopped = stopped != 0;
    snprintf(e.text, sizeof e.text, "%.*s", (int)strcspn(members, "\n"), members);
    *out = e;
    return 0;
}
