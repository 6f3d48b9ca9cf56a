#include "shim/exec_image.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/obj.h"

#define SEARCH_MAGIC OBJ_MAGIC('X', 'M', 'R', 'K')
/* Of an environment; the runtime puts the variables of a call in front or behind, within what execve takes. */
#define ENVIRON_MAX ((size_t)2 << 20)

/* The process of an image runs a moment before its runtime has made the container: so often it is looked for, twice a second. */
#define RUNNING_TRIES "1 2 3 4 5 6 7 8 9 10"

struct search {
    struct obj obj;
    const char *mark;
    int signal, n;
    struct buf bytes;
};

void exec_image_mark(char out[EXEC_MARK_MAX])
{
    unsigned char random[16];

    BUG_IF(getrandom(random, sizeof random, 0) != (ssize_t)sizeof random);
    char *at = out + snprintf(out, EXEC_MARK_MAX, "%s=", EXEC_MARK_NAME);
    for (size_t i = 0; i < sizeof random; i++)
        at += snprintf(at, 3, "%02x", random[i]);
}

char *exec_image_call(const struct shim_launch *l, const struct exec_ask *ask, const char *mark)
{
    struct buf out = BUF_EMPTY;

    buf_addf(&out,
             "for i in " RUNNING_TRIES
             "; do [ \"$(%s inspect --format '{{.State.Running}}' %s </dev/null 2>/dev/null)\" = true ] "
             "&& break; sleep 0.5; done; exec %s exec --interactive",
             l->runtime, l->runtime_id, l->runtime);
    if (ask->has_terminal)
        buf_add_str(&out, " --tty");
    shim_shell_word(&out, "--env");
    shim_shell_word(&out, mark);
    if (ask->term) {
        mem_auto char *term = mem_fmt("TERM=%s", ask->term);
        shim_shell_word(&out, "--env");
        shim_shell_word(&out, term);
    }
    shim_shell_word(&out, l->runtime_id);
    for (size_t i = 0; i < ask->n_words; i++)
        shim_shell_word(&out, ask->words[i]);
    return buf_take(&out);
}

/** Whether one of the variables is the mark. */
static bool has_mark(const struct search *s)
{
    const char *end = s->bytes.bytes + s->bytes.len;

    for (const char *at = s->bytes.bytes; at < end; at += strlen(at) + 1)
        if (!strcmp(at, s->mark))
            return true;
    return false;
}

static void read_environ(struct buf *out, pid_t pid)
{
    mem_auto char *path = mem_fmt("/proc/%d/environ", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : 1;

    buf_clear(out);
    while (n > 0 && out->len < ENVIRON_MAX) {
        n = read(fd, buf_room(out, 65536), 65536);
        out->len += n > 0 ? (size_t)n : 0;
    }
    if (fd >= 0)
        close(fd);
    buf_add_char(out, '\0');
}

static void look_at(void *arg, pid_t pid, const struct shim_proc *proc)
{
    struct search *s = obj_cast(arg, struct search, SEARCH_MAGIC);

    if (proc->state == 'Z' || pid == getpid())
        return;
    read_environ(&s->bytes, pid);
    if (has_mark(s))
        s->n += !shim_proc_signal(pid, proc->start, s->signal);
}

int exec_image_signal(const char *mark, int signal)
{
    struct search s = {.obj = {SEARCH_MAGIC}, .mark = mark, .signal = signal};

    shim_proc_each(look_at, &s);
    buf_fini(&s.bytes);
    return s.n;
}
