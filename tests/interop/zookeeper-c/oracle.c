/*
 * ZooKeeper's own C client under the control of a script: one command a line on stdin, one answer a line on stdout.
 *
 *     zk-oracle HOST:PORT
 *
 *     auth ID:PASSWORD            authenticates the session by digest                        "ok"
 *     create PATH DATA ACL        makes a persistent node                                    "ok STAT"
 *     get PATH [watch]            data                                                       "ok STAT DATA"
 *     acl PATH                                                                               "ok STAT ACL"
 *     exists PATH [watch]                                                                    "ok STAT", "ZNONODE"
 *     children PATH [watch]       names in the server's order                                "ok STAT NAME…"
 *     set PATH DATA VERSION                                                                  "ok STAT"
 *     delete PATH VERSION                                                                    "ok"
 *     multi OP ; OP …             create, set and delete as above, check PATH VERSION        "ok", "Z… N N…": one code an OP
 *     sync                        the server catches up with its leader                      "ok"
 *
 * The first line is "connected SESSION". An error is its name in zookeeper.h. A watch that fires is a line of its own, in the
 * order in which the library reports them: "event created|deleted|changed|child PATH exists|get|children".
 *
 * DATA is hexadecimal, "-" for none. ACL is PERMS:SCHEME:ID, comma-separated. VERSION -1 is any. STAT is all of struct Stat in
 * its order: czxid, mzxid, ctime, mtime, version, cversion, aversion, ephemeralOwner, dataLength, numChildren, pzxid.
 */
#include <inttypes.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zookeeper/zookeeper.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/obj.h"

#define ORACLE_MAGIC OBJ_MAGIC('O', 'R', 'C', 'L')

enum {
    SESSION_TIMEOUT_MS = 30000,
    NODE_BYTES_MAX = 1 << 20,
    ENTRIES_MAX = 32,
    OPS_MAX = 16,
    PATH_BYTES_MAX = 1024
};

struct oracle {
    struct obj obj;
    zhandle_t *zh;
    sem_t connected, answered;
    int code; /* of the call that has no blocking form, once it is answered */
};

/** The operands of one command, which lie in its line. */
struct operands {
    const char *path;
    struct buf data;
    struct ACL entries[ENTRIES_MAX];
    struct ACL_vector acl;
    int version;
};

/* ---- answers ---- */

static void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static void say(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    flockfile(stdout); /* the library reports events on a thread of its own */
    vprintf(fmt, ap);
    putchar('\n');
    fflush(stdout);
    funlockfile(stdout);
    va_end(ap);
}

static const char *code_name(int code)
{
#define CODE(name)                                                                                           \
    {                                                                                                        \
        name, #name                                                                                          \
    }
    static const struct {
        int code;
        const char *name;
    } rows[] = {
        {ZOK, "ok"},           CODE(ZRUNTIMEINCONSISTENCY),
        CODE(ZCONNECTIONLOSS), CODE(ZBADARGUMENTS),
        CODE(ZNONODE),         CODE(ZNOAUTH),
        CODE(ZBADVERSION),     CODE(ZNODEEXISTS),
        CODE(ZNOTEMPTY),       CODE(ZSESSIONEXPIRED),
        CODE(ZINVALIDACL),     CODE(ZAUTHFAILED),
        CODE(ZSESSIONMOVED),
    };
#undef CODE
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (rows[i].code == code)
            return rows[i].name;
    return zerror(code);
}

static void add_stat(struct buf *out, const struct Stat *s)
{
    buf_addf(out, "%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%d,%d,%d,%" PRId64 ",%d,%d,%" PRId64,
             s->czxid, s->mzxid, s->ctime, s->mtime, s->version, s->cversion, s->aversion, s->ephemeralOwner,
             s->dataLength, s->numChildren, s->pzxid);
}

/** Answer with the stat, and with what `rest` holds when it is not NULL. */
static void say_stat(int code, const struct Stat *stat, const struct buf *rest)
{
    buf_auto struct buf line = BUF_EMPTY;
    if (code == ZOK) {
        add_stat(&line, stat);
        if (rest)
            buf_add(&line, rest->bytes, rest->len);
    }
    say("%s %s", code_name(code), buf_cstr(&line));
}

/* ---- what the library reports, on its own thread ---- */

static void on_session(zhandle_t *zh, int type, int state, const char *path, void *arg)
{
    struct oracle *o = obj_cast(arg, struct oracle, ORACLE_MAGIC);
    (void)zh;
    (void)path;
    if (type == ZOO_SESSION_EVENT && state == ZOO_CONNECTED_STATE)
        sem_post(&o->connected);
}

/** `arg` is the name of the call that has set the watch: static text. */
static void on_watch(zhandle_t *zh, int type, int state, const char *path, void *arg)
{
    (void)zh;
    (void)state;
    const char *kind = type == ZOO_CREATED_EVENT   ? "created"
                       : type == ZOO_DELETED_EVENT ? "deleted"
                       : type == ZOO_CHANGED_EVENT ? "changed"
                       : type == ZOO_CHILD_EVENT   ? "child"
                                                   : NULL;
    if (kind)
        say("event %s %s %s", kind, path, (const char *)arg);
}

static void on_auth(int code, const void *arg)
{
    struct oracle *o = obj_cast((void *)(uintptr_t)arg, struct oracle, ORACLE_MAGIC);
    o->code = code;
    sem_post(&o->answered);
}

static void on_sync(int code, const char *path, const void *arg)
{
    struct oracle *o = obj_cast((void *)(uintptr_t)arg, struct oracle, ORACLE_MAGIC);
    (void)path;
    o->code = code;
    sem_post(&o->answered);
}

/* ---- reading a command ---- */

/** The next blank-separated word of the line; "" when there is none. */
static char *next_word(char **line)
{
    char *word = *line ? strsep(line, " ") : NULL;
    return word ? word : (char *)(uintptr_t) "";
}

static void read_hex(const char *hex, struct buf *out)
{
    for (const char *at = hex; at[0] && at[1]; at += 2) {
        const char pair[] = {at[0], at[1], 0};
        buf_add_char(out, (char)strtol(pair, NULL, 16));
    }
}

static void read_acl(char *text, struct operands *o)
{
    char *entry;
    o->acl = (struct ACL_vector){0, o->entries};
    while (o->acl.count < ENTRIES_MAX && (entry = strsep(&text, ","))) {
        struct ACL *acl = &o->entries[o->acl.count++];
        acl->perms = atoi(strsep(&entry, ":"));
        acl->id.scheme = entry ? strsep(&entry, ":") : NULL;
        acl->id.id = entry;
    }
}

enum write_kind { WRITE_CREATE, WRITE_SET, WRITE_DELETE, WRITE_CHECK };

/** Take the operands of a write off the line; o->data is released by the caller. */
static void read_operands(enum write_kind kind, char **line, struct operands *o)
{
    o->path = next_word(line);
    if (kind == WRITE_CREATE || kind == WRITE_SET)
        read_hex(next_word(line), &o->data);
    if (kind == WRITE_CREATE)
        read_acl(next_word(line), o);
    else
        o->version = atoi(next_word(line));
}

/** The watcher of a read: set when its last operand says so. */
static watcher_fn watcher(char **line)
{
    return strcmp(next_word(line), "watch") == 0 ? on_watch : NULL;
}

/* ---- commands ---- */

/** Answer with the code of a call that was begun, once the library has it. */
static void say_code_of_begun(struct oracle *o, int code)
{
    if (code == ZOK) {
        while (sem_wait(&o->answered) != 0)
            ;
        code = o->code;
    }
    say("%s", code_name(code));
}

static void do_auth(struct oracle *o, char *line)
{
    const char *pair = next_word(&line);
    say_code_of_begun(o, zoo_add_auth(o->zh, "digest", pair, (int)strlen(pair), on_auth, o));
}

static void do_sync(struct oracle *o, char *line)
{
    (void)line;
    say_code_of_begun(o, zoo_async(o->zh, "/", on_sync, o));
}

static void do_get(struct oracle *o, char *line)
{
    static char name[] = "get";
    const char *path = next_word(&line);
    mem_auto char *bytes = mem_alloc(NODE_BYTES_MAX);
    int len = NODE_BYTES_MAX;
    struct Stat stat;
    buf_auto struct buf rest = BUF_EMPTY;
    int code = zoo_wget(o->zh, path, watcher(&line), name, bytes, &len, &stat);
    buf_add_str(&rest, len > 0 ? " " : " -");
    for (int i = 0; code == ZOK && i < len; i++)
        buf_addf(&rest, "%02x", (unsigned char)bytes[i]);
    say_stat(code, &stat, &rest);
}

static void do_acl(struct oracle *o, char *line)
{
    struct ACL_vector acl = {0};
    struct Stat stat;
    buf_auto struct buf rest = BUF_EMPTY;
    int code = zoo_get_acl(o->zh, next_word(&line), &acl, &stat);
    for (int i = 0; code == ZOK && i < acl.count; i++)
        buf_addf(&rest, "%c%d:%s:%s", i ? ',' : ' ', acl.data[i].perms, acl.data[i].id.scheme,
                 acl.data[i].id.id);
    say_stat(code, &stat, &rest);
    deallocate_ACL_vector(&acl);
}

static void do_exists(struct oracle *o, char *line)
{
    static char name[] = "exists";
    const char *path = next_word(&line);
    struct Stat stat;
    int code = zoo_wexists(o->zh, path, watcher(&line), name, &stat);
    say_stat(code, &stat, NULL);
}

static void do_children(struct oracle *o, char *line)
{
    static char name[] = "children";
    const char *path = next_word(&line);
    struct String_vector names = {0};
    struct Stat stat;
    buf_auto struct buf rest = BUF_EMPTY;
    int code = zoo_wget_children2(o->zh, path, watcher(&line), name, &names, &stat);
    for (int i = 0; code == ZOK && i < names.count; i++)
        buf_addf(&rest, " %s", names.data[i]);
    say_stat(code, &stat, &rest);
    deallocate_String_vector(&names);
}

static void do_create(struct oracle *o, char *line)
{
    struct operands w = {0};
    struct Stat stat;
    char made[PATH_BYTES_MAX];
    read_operands(WRITE_CREATE, &line, &w);
    int code = zoo_create2(o->zh, w.path, buf_cstr(&w.data), (int)w.data.len, &w.acl, ZOO_PERSISTENT, made,
                           sizeof made, &stat);
    say_stat(code, &stat, NULL);
    buf_fini(&w.data);
}

static void do_set(struct oracle *o, char *line)
{
    struct operands w = {0};
    struct Stat stat;
    read_operands(WRITE_SET, &line, &w);
    int code = zoo_set2(o->zh, w.path, buf_cstr(&w.data), (int)w.data.len, w.version, &stat);
    say_stat(code, &stat, NULL);
    buf_fini(&w.data);
}

static void do_delete(struct oracle *o, char *line)
{
    struct operands w = {0};
    read_operands(WRITE_DELETE, &line, &w);
    say("%s", code_name(zoo_delete(o->zh, w.path, w.version)));
}

static void op_init(zoo_op_t *op, enum write_kind kind, struct operands *w)
{
    switch (kind) {
    case WRITE_CREATE:
        zoo_create_op_init(op, w->path, buf_cstr(&w->data), (int)w->data.len, &w->acl, ZOO_PERSISTENT, NULL,
                           0);
        break;
    case WRITE_SET:
        zoo_set_op_init(op, w->path, buf_cstr(&w->data), (int)w->data.len, w->version, NULL);
        break;
    case WRITE_DELETE: zoo_delete_op_init(op, w->path, w->version); break;
    case WRITE_CHECK: zoo_check_op_init(op, w->path, w->version); break;
    }
}

static void do_multi(struct oracle *o, char *line)
{
    static const char *const verbs[] = {
        [WRITE_CREATE] = "create", [WRITE_SET] = "set", [WRITE_DELETE] = "delete", [WRITE_CHECK] = "check"};
    struct operands operands[OPS_MAX] = {0};
    zoo_op_t ops[OPS_MAX];
    zoo_op_result_t results[OPS_MAX] = {0};
    int n = 0;
    while (n < OPS_MAX && line) {
        const char *verb = next_word(&line);
        for (enum write_kind kind = WRITE_CREATE; kind <= WRITE_CHECK; kind++) {
            if (strcmp(verb, verbs[kind]) != 0)
                continue;
            read_operands(kind, &line, &operands[n]);
            op_init(&ops[n], kind, &operands[n]);
            n++;
            break;
        }
    }
    int code = zoo_multi(o->zh, n, ops, results);
    buf_auto struct buf codes = BUF_EMPTY;
    for (int i = 0; i < n; i++) {
        buf_addf(&codes, " %s", code_name(results[i].err));
        buf_fini(&operands[i].data);
    }
    say("%s%s", code_name(code), buf_cstr(&codes));
}

static const struct command {
    const char *verb;
    void (*execute)(struct oracle *o, char *line);
} commands[] = {
    {"auth", do_auth},     {"create", do_create},     {"get", do_get}, {"acl", do_acl},
    {"exists", do_exists}, {"children", do_children}, {"set", do_set}, {"delete", do_delete},
    {"multi", do_multi},   {"sync", do_sync},
};

static void execute(struct oracle *o, char *line)
{
    const char *verb = next_word(&line);
    for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
        if (strcmp(commands[i].verb, verb) == 0) {
            commands[i].execute(o, line);
            return;
        }
    }
    say("no such command: %s", verb);
}

int main(int argc, char **argv)
{
    struct oracle o = {0};
    mem_auto char *line = NULL;
    size_t cap = 0;
    obj_init(&o.obj, ORACLE_MAGIC);
    BUG_IF(sem_init(&o.connected, 0, 0) != 0 || sem_init(&o.answered, 0, 0) != 0);
    zoo_set_debug_level(ZOO_LOG_LEVEL_ERROR);
    o.zh = argc == 2 ? zookeeper_init(argv[1], on_session, SESSION_TIMEOUT_MS, NULL, &o, 0) : NULL;
    if (!o.zh) {
        fprintf(stderr, "zk-oracle HOST:PORT\n");
        return 2;
    }
    while (sem_wait(&o.connected) != 0)
        ;
    say("connected %" PRIx64, (uint64_t)zoo_client_id(o.zh)->client_id);
    while (getline(&line, &cap, stdin) > 0) {
        line[strcspn(line, "\n")] = 0;
        execute(&o, line);
    }
    return zookeeper_close(o.zh) == ZOK ? 0 : 1;
}
