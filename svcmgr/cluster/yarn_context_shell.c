#include "cluster/yarn_context_shell.h"

#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/obj.h"
#include "base/str.h"

#define RUNTIME_PREFIX "YARN_CONTAINER_RUNTIME_"

static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
static const char word_chars[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";

/** The node manager would replace what begins at p, behind its first character. */
static bool is_replaced(const char *p)
{
    return str_starts(p, "{{") || str_starts(p, "}}") || str_starts(p, "<CPS>") ||
           str_starts(p, "<ADD_OPENS>");
}

/** $PWD or ${PWD} at p, as a whole name. @return its length or 0. */
static size_t pwd_len(const char *p)
{
    if (str_starts(p, "${PWD}"))
        return strlen("${PWD}");
    return str_starts(p, "$PWD") && (!p[4] || !strchr(word_chars, p[4])) ? strlen("$PWD") : 0;
}

/** Append a text that stands in double quotes. */
static void add_quoted(struct buf *out, const char *text, bool has_pwd)
{
    for (const char *p = text; *p; p++) {
        size_t n = has_pwd ? pwd_len(p) : 0;
        if (n) {
            buf_add(out, p, n);
            p += n - 1;
            continue;
        }
        if (strchr("\\\"`$", *p))
            buf_add_char(out, '\\');
        buf_add_char(out, *p);
        if (is_replaced(p))
            buf_add_str(out, "\"\"");
    }
}

char *yarn_context_command(const char *command, bool is_redirected)
{
    buf_auto struct buf out = BUF_EMPTY;

    if (is_redirected)
        add_quoted(&out, "exec 1>\"<LOG_DIR>/stdout.txt\" 2>\"<LOG_DIR>/stderr.txt\"\n", false);
    add_quoted(&out, command, false);
    return buf_take(&out);
}

/** Set by each node manager, whatever it is given. */
static bool is_of_node(const char *name)
{
    static const char *const names[] = {"CONTAINER_ID",
                                        "HADOOP_TOKEN_FILE_LOCATION",
                                        "HOME",
                                        "JVM_PID",
                                        "LOCALIZATION_COUNTERS",
                                        "LOCAL_DIRS",
                                        "LOCAL_USER_DIRS",
                                        "LOGNAME",
                                        "LOG_DIRS",
                                        "NM_HOST",
                                        "NM_HTTP_PORT",
                                        "NM_PORT",
                                        "PWD",
                                        "PRELAUNCH_ERR",
                                        "PRELAUNCH_OUT",
                                        "USER"};

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (!strcmp(name, names[i]))
            return true;
    return false;
}

int yarn_context_variable(const char *name, const char *value, char **out, struct err_info *why)
{
    buf_auto struct buf quoted = BUF_EMPTY;

    if (!*name || !strchr(letters, *name) || name[strspn(name, word_chars)])
        return err_set(why, ERR_UNSUPPORTED, name, "No variable of a shell can be called \"%.200s\".", name);
    add_quoted(&quoted, value, true);
    if (str_starts(name, RUNTIME_PREFIX) && strcmp(buf_cstr(&quoted), value) != 0)
        return err_set(why, ERR_UNSUPPORTED, name,
                       "%.200s has a character that a node manager's script would interpret.", name);
    *out = is_of_node(name) ? NULL : buf_take(&quoted);
    return 0;
}
