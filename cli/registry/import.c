/** `bobbin registry import`: the lines of an export, sent in groups. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "base/mem.h"
#include "base/path.h"
#include "base/str.h"
#include "kit/commands.h"
#include "kit/input.h"
#include "json/json.h"
#include "kit/out.h"
#include "kit/progress.h"
#include "registry.h"
#include "admin.h"

/** Nodes and bytes after which a group is sent. */
#define GROUP_NODES 500
#define GROUP_BYTES ((size_t)256 << 10)
/** Refused nodes that are named on standard error. */
#define NAMED_MAX 20

/** A node whose ACL comes after everything below it. */
struct guarded {
    SLIST_ENTRY(guarded) link;
    json_t *acl_line; /* {"path","aclOnly","acl"} */
    const char *path; /* in acl_line */
};

struct importing {
    const struct cli *cli;
    struct wait wait;
    struct reg_blocking *registry;
    struct progress progress;
    const char *file;
    size_t line_no;
    struct buf group; /* {"nodes":[…, not closed; empty: none */
    size_t n_group;
    json_t *last; /* node of the line before, not in the group yet: whether any is below it is not known */
    SLIST_HEAD(, guarded) guarded; /* above `last`, innermost first */
    int64_t n_read;                /* nodes since the beginning, or since the last line of another export */
    int64_t n_created, n_replaced, n_unchanged, n_failed, n_ephemeral;
    int first_err; /* of the nodes that were refused */
};

static void take_failure(struct importing *m, int err, const char *path, const char *detail)
{
    m->first_err = m->first_err ? m->first_err : err;
    if (m->n_failed++ >= NAMED_MAX)
        return;
    progress_hide(&m->progress);
    fprintf(stderr, "bobbin: %s: %s\n", path ? path : "", detail ? detail : "");
}

static void take_failed(struct importing *m, const json_t *failed)
{
    static const char prefix[] = "urn:bobbin:error:";
    size_t i;
    const json_t *one;

    json_array_foreach(failed, i, one)
    {
        const char *type = json_string_value(json_object_get(one, "error"));
        bool is_ours = type && str_starts(type, prefix);
        take_failure(m, err_from_type(is_ours ? type + sizeof prefix - 1 : "internal"),
                     json_string_value(json_object_get(one, "path")),
                     json_string_value(json_object_get(one, "detail")));
    }
}

static int64_t member(const json_t *answer, const char *name)
{
    return json_integer_value(json_object_get(answer, name));
}

static void show_progress(struct importing *m)
{
    mem_auto char *text =
        mem_fmt("%s: %zu lines read, %lld nodes created, %lld replaced, %lld unchanged, %lld refused",
                m->file, m->line_no, (long long)m->n_created, (long long)m->n_replaced,
                (long long)m->n_unchanged, (long long)m->n_failed);
    progress_show(&m->progress, text);
}

static int send_group(struct importing *m, struct err_info *why)
{
    bool is_overwrite = cli_has(m->cli, CLI_OVERWRITE);
    json_auto json_t *answer = NULL;

    if (!m->n_group)
        return 0;
    buf_add_str(&m->group, "]}");
    int err = registry_admin_post(m->cli, &m->wait, is_overwrite ? "import?overwrite=true" : "import",
                                  &m->group, &answer, why);
    buf_clear(&m->group);
    m->n_group = 0;
    if (err)
        return err;
    m->n_created += member(answer, "created");
    m->n_replaced += member(answer, "replaced");
    m->n_unchanged += member(answer, "unchanged");
    take_failed(m, json_object_get(answer, "failed"));
    return 0;
}

/* ---- one line ---- */

static const char *path_of(const json_t *node)
{
    return json_string_value(json_object_get(node, "path"));
}

static bool is_at_or_below(const char *path, const char *top, size_t top_len)
{
    return top_len <= 1 || (strncmp(path, top, top_len) == 0 && (!path[top_len] || path[top_len] == '/'));
}

static int put_in_group(struct importing *m, const json_t *node, struct err_info *why)
{
    buf_add_str(&m->group, m->n_group++ ? "," : "{\"nodes\":[");
    json_write(node, &m->group);
    if (m->n_group < GROUP_NODES && m->group.len < GROUP_BYTES)
        return 0;
    show_progress(m);
    return send_group(m, why);
}

/** Whether everybody may make nodes below one with this ACL. */
static bool is_open(const json_t *acl)
{
    enum { CREATE = 4 };
    bool found = json_array_size(acl) == 0;
    size_t i;
    const json_t *entry;

    json_array_foreach(acl, i, entry)
    {
        const char *scheme = json_string_value(json_object_get(entry, "scheme"));
        found = found || (scheme && strcmp(scheme, "world") == 0 &&
                          (json_integer_value(json_object_get(entry, "perms")) & CREATE));
    }
    return found;
}

/** Put the line before into the group; one that has something below it and is not open comes without its ACL at first. */
static int settle_last(struct importing *m, bool is_inner, struct err_info *why)
{
    json_auto json_t *node = m->last;
    json_t *acl = json_object_get(node, "acl");

    m->last = NULL;
    if (!node)
        return 0;
    if (is_inner && !is_open(acl)) {
        struct guarded *g = mem_new(struct guarded);
        g->acl_line =
            json_pack("{s:O, s:b, s:O}", "path", json_object_get(node, "path"), "aclOnly", true, "acl", acl);
        g->path = path_of(g->acl_line);
        SLIST_INSERT_HEAD(&m->guarded, g, link);
        json_object_del(node, "acl");
    }
    return put_in_group(m, node, why);
}

static void guarded_free(struct guarded *g)
{
    json_decref(g->acl_line);
    free(g);
}

/** Everything below these nodes has been put into a group: now their ACLs. @param path  of the next line; NULL: the end */
static int leave_guarded(struct importing *m, const char *path, struct err_info *why)
{
    struct guarded *g;
    int err = 0;

    while (!err && (g = SLIST_FIRST(&m->guarded)) &&
           (!path || !is_at_or_below(path, g->path, strlen(g->path)))) {
        SLIST_REMOVE_HEAD(&m->guarded, link);
        err = put_in_group(m, g->acl_line, why);
        guarded_free(g);
    }
    return err;
}

/** Make what is missing above a path that does not follow its parent. */
static int make_parents(struct importing *m, const char *path, const char *before, struct err_info *why)
{
    size_t parent_len = path_parent_len(path);
    bool is_made, is_there = false;

    if (parent_len <= 1 || (before && is_at_or_below(before, path, parent_len)))
        return 0;
    mem_auto char *parent = mem_strn(path, parent_len);
    int err = send_group(m, why);
    if (!err && !m->registry)
        err = registry_open(m->cli, &m->registry, why);
    if (!err)
        err = reg_blocking_exists(m->registry, parent, &is_there, why);
    return err || is_there ? err : reg_blocking_mknode(m->registry, parent, true, &is_made, why);
}

/** The last line of an export as the server gives it, {"end":true,"count":N} or {"error":…,"detail":…}: is all of it here? */
static int take_end(struct importing *m, const json_t *line, struct err_info *why)
{
    const char *detail = json_string_value(json_object_get(line, "detail"));
    int64_t n_read = m->n_read;

    m->n_read = 0;
    if (json_object_get(line, "error"))
        return err_set(why, ERR_INVALID, "", "the export is incomplete: %s",
                       detail ? detail : "it ended with an error");
    if (!json_is_true(json_object_get(line, "end")))
        return err_set(why, ERR_INVALID, "path", "the line is not a node");
    if (member(line, "count") == n_read)
        return 0;
    return err_set(why, ERR_INVALID, "", "the export is incomplete: it had %lld nodes, %lld are here",
                   (long long)member(line, "count"), (long long)n_read);
}

static int add_node(struct importing *m, json_t *node, struct err_info *why)
{
    const char *path = path_of(node);

    if (!path)
        return take_end(m, node, why);
    m->n_read++;
    if (json_is_true(json_object_get(node, "ephemeral"))) {
        m->n_ephemeral++;
        return 0;
    }
    if (json_is_true(json_object_get(node, "aclMasked"))) {
        take_failure(m, ERR_AUTH, path, "the export holds only a part of its ACL");
        return 0;
    }
    mem_auto char *before = mem_str(path_of(m->last));
    int err = settle_last(m, before && is_at_or_below(path, before, strlen(before)), why);
    err = err ? err : leave_guarded(m, path, why);
    err = err ? err : make_parents(m, path, before, why);
    if (!err)
        m->last = json_incref(node);
    return err;
}

static int add_line(struct importing *m, const char *line, size_t len, struct err_info *why)
{
    json_auto json_t *node = NULL;
    int err = json_read(line, len, &node, why);

    return err ? err : add_node(m, node, why);
}

static int read_lines(struct importing *m, FILE *f, struct err_info *why)
{
    mem_auto char *line = NULL;
    size_t room = 0;
    ssize_t len;
    int err = 0;

    while (!err && (len = getline(&line, &room, f)) > 0) {
        m->line_no++;
        if (line[strspn(line, " \t\r\n")])
            err = add_line(m, line, (size_t)len, why);
    }
    if (!err && ferror(f))
        err = err_set(why, ERR_IO, m->file, "cannot be read: %s", strerror(errno));
    if (err == ERR_JSON || err == ERR_INVALID) {
        mem_auto char *place = mem_fmt("%s:%zu", m->file, m->line_no);
        return input_blame(place, err, why);
    }
    err = err ? err : settle_last(m, false, why);
    err = err ? err : leave_guarded(m, NULL, why);
    return err ? err : send_group(m, why);
}

static void importing_fini(struct importing *m)
{
    struct guarded *g;

    while ((g = SLIST_FIRST(&m->guarded))) {
        SLIST_REMOVE_HEAD(&m->guarded, link);
        guarded_free(g);
    }
    json_decref(m->last);
    reg_blocking_close(m->registry);
    buf_fini(&m->group);
}

static void print_counts(const struct importing *m)
{
    if (!m->cli->is_json) {
        printf("created=%lld replaced=%lld unchanged=%lld failed=%lld ephemeral=%lld\n",
               (long long)m->n_created, (long long)m->n_replaced, (long long)m->n_unchanged,
               (long long)m->n_failed, (long long)m->n_ephemeral);
        return;
    }
    json_auto json_t *v =
        json_pack("{s:I, s:I, s:I, s:I, s:I}", "created", (json_int_t)m->n_created, "replaced",
                  (json_int_t)m->n_replaced, "unchanged", (json_int_t)m->n_unchanged, "failed",
                  (json_int_t)m->n_failed, "ephemeral", (json_int_t)m->n_ephemeral);
    out_json(v);
}

int registry_import(struct cli *cli, struct err_info *why)
{
    const char *file = cli->n_operands ? cli->operands[0] : "-";
    bool is_stdin = strcmp(file, "-") == 0;
    FILE *f = is_stdin ? stdin : fopen(file, "re");
    struct importing m = {.cli = cli, .file = file};

    if (!f)
        return err_set(why, ERR_IO, file, "cannot be opened: %s", strerror(errno));
    wait_open(&m.wait);
    progress_begin(&m.progress, cli_has(cli, CLI_QUIET));
    int err = read_lines(&m, f, why);
    progress_end(&m.progress, NULL);
    wait_close(&m.wait);
    print_counts(&m);
    if (!err && m.first_err)
        err = err_set(why, m.first_err, file, "%lld nodes were not imported", (long long)m.n_failed);
    if (!is_stdin)
        fclose(f);
    importing_fini(&m);
    return err;
}
