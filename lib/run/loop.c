#include "run/loop.h"
#include "base/mem.h"
#include "base/obj.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <time.h>
#include <unistd.h>

#define LOOP_MAGIC  OBJ_MAGIC('L', 'O', 'O', 'P')
#define TIMER_MAGIC OBJ_MAGIC('T', 'I', 'M', 'R')

struct message {
    STAILQ_ENTRY(message) link;
    void (*fn)(void *arg);
    void *arg;
};

STAILQ_HEAD(message_list, message);

struct run_loop {
    struct obj obj;
    uv_loop_t uv;
    uv_async_t wake;
    uv_idle_t idle;           /* runs while `soon` is not empty */
    uv_prepare_t before_wait; /* once a turn, before the loop waits */
    uint64_t turn_began_ns,
        idle_ns;     /* when the present turn began, 0: unknown, and the time waited by then */
    int64_t used_us; /* by this thread, when the present turn began */
    struct run_turns turns;
    TAILQ_HEAD(soon_list, run_timer) soon; /* timers without a delay, one call a round of the loop each */
    pthread_mutex_t lock; /* guards messages; nothing is called while it is held but uv_async_send */
    struct message_list messages;
};

struct run_timer {
    struct obj obj;
    struct run_loop *loop;
    TAILQ_ENTRY(run_timer) link; /* in soon, when is_soon */
    bool is_soon;
    uv_timer_t uv;
    void (*fn)(void *arg);
    void *arg;
};

/* Take everything that was posted until now and call it, in order. @return messages delivered. */
static size_t deliver(struct run_loop *loop)
{
    struct message_list batch = STAILQ_HEAD_INITIALIZER(batch);
    pthread_mutex_lock(&loop->lock);
    STAILQ_CONCAT(&batch, &loop->messages);
    pthread_mutex_unlock(&loop->lock);
    size_t n = 0;
    struct message *m;
    while ((m = STAILQ_FIRST(&batch))) {
        STAILQ_REMOVE_HEAD(&batch, link);
        struct message now = *m;
        free(m);
        now.fn(now.arg);
        n++;
    }
    return n;
}

static void on_wake(uv_async_t *wake)
{
    struct run_loop *loop = obj_cast(wake->data, struct run_loop, LOOP_MAGIC);
    deliver(loop);
}

/* libuv calls a timer that starts itself again without delay for ever, before it looks at any descriptor; here the loop has a
 * round in between. */
static void on_idle(uv_idle_t *idle)
{
    struct run_loop *loop = obj_cast(idle->data, struct run_loop, LOOP_MAGIC);
    struct run_timer *t;
    size_t n = 0;
    TAILQ_FOREACH (t, &loop->soon, link)
        n++;
    for (; n && (t = TAILQ_FIRST(&loop->soon)); n--) {
        run_timer_stop(t);
        t->fn(t->arg);
    }
}

/* Time of a processor that this thread has used. */
static int64_t used_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* A turn: from one wait to the next, less the wait. */
static void before_wait(uv_prepare_t *prepare)
{
    struct run_loop *loop = obj_cast(prepare->data, struct run_loop, LOOP_MAGIC);
    uint64_t now_ns = uv_hrtime(), idle_ns = uv_metrics_idle_time(&loop->uv);
    int64_t took_us = ((int64_t)(now_ns - loop->turn_began_ns) - (int64_t)(idle_ns - loop->idle_ns)) / 1000;
    int64_t all_us = used_us(), busy_us = all_us - loop->used_us;
    bool is_first = !loop->turn_began_ns;
    loop->turn_began_ns = now_ns;
    loop->used_us = all_us;
    loop->idle_ns = idle_ns;
    loop->turns.n++;
    if (is_first)
        return;
    loop->turns.n_long += took_us > RUN_TURN_LONG_US;
    if (took_us > loop->turns.longest_us)
        loop->turns.longest_us = took_us;
    loop->turns.n_busy += busy_us > RUN_TURN_LONG_US;
    if (busy_us > loop->turns.busiest_us)
        loop->turns.busiest_us = busy_us;
}

struct run_turns run_loop_turns(const struct run_loop *loop)
{
    return loop->turns;
}

struct run_loop *run_loop_new(void)
{
    struct run_loop *loop = mem_new(struct run_loop);
    obj_init(&loop->obj, LOOP_MAGIC);
    STAILQ_INIT(&loop->messages);
    TAILQ_INIT(&loop->soon);
    BUG_IF(pthread_mutex_init(&loop->lock, NULL) != 0);
    int failed = uv_loop_init(&loop->uv);
    if (!failed)
        failed = uv_async_init(&loop->uv, &loop->wake, on_wake);
    if (!failed)
        failed = uv_idle_init(&loop->uv, &loop->idle);
    if (!failed)
        failed = uv_prepare_init(&loop->uv, &loop->before_wait);
    if (!failed)
        failed = uv_loop_configure(&loop->uv, UV_METRICS_IDLE_TIME);
    if (!failed)
        failed = uv_prepare_start(&loop->before_wait, before_wait);
    if (failed)
        bug_stop(__FILE__, __LINE__, uv_strerror(failed));
    loop->wake.data = loop->idle.data = loop->before_wait.data = loop;
    return loop;
}

static void check_closing(uv_handle_t *handle, void *arg)
{
    (void)arg;
    if (!uv_is_closing(handle))
        bug_stop(__FILE__, __LINE__, uv_handle_type_name(uv_handle_get_type(handle)));
}

void run_loop_free(struct run_loop *loop)
{
    BUG_IF(!loop || loop->obj.magic != LOOP_MAGIC);
    while (deliver(loop) > 0)
        ;
    uv_close((uv_handle_t *)&loop->wake, NULL);
    uv_close((uv_handle_t *)&loop->idle, NULL);
    uv_close((uv_handle_t *)&loop->before_wait, NULL);
    uv_walk(&loop->uv, check_closing, NULL);
    while (uv_run(&loop->uv, UV_RUN_DEFAULT))
        ;
    BUG_IF(!STAILQ_EMPTY(&loop->messages));
    BUG_IF(uv_loop_close(&loop->uv) != 0);
    pthread_mutex_destroy(&loop->lock);
    obj_fini(&loop->obj);
    free(loop);
}

uv_loop_t *run_loop_uv(struct run_loop *loop)
{
    return &loop->uv;
}

void run_loop_run(struct run_loop *loop)
{
    loop->turn_began_ns = uv_hrtime();
    loop->idle_ns = uv_metrics_idle_time(&loop->uv);
    uv_run(&loop->uv, UV_RUN_DEFAULT);
}

void run_loop_stop(struct run_loop *loop)
{
    uv_stop(&loop->uv);
}

void run_post(struct run_loop *loop, void (*fn)(void *arg), void *arg)
{
    struct message *m = mem_new(struct message);
    m->fn = fn;
    m->arg = arg;
    /* The wake-up is sent under the lock: a loop that has taken this message may be freed right after. */
    pthread_mutex_lock(&loop->lock);
    STAILQ_INSERT_TAIL(&loop->messages, m, link);
    BUG_IF(uv_async_send(&loop->wake) != 0);
    pthread_mutex_unlock(&loop->lock);
}

static int64_t clock_us(clockid_t clock)
{
    struct timespec t;
    BUG_IF(clock_gettime(clock, &t) != 0);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

int64_t run_wall_ms(void)
{
    return clock_us(CLOCK_REALTIME) / 1000;
}

int64_t run_now_ms(void)
{
    return clock_us(CLOCK_MONOTONIC) / 1000;
}

int64_t run_now_us(void)
{
    return clock_us(CLOCK_MONOTONIC);
}

int64_t run_boot_ms(void)
{
    return clock_us(CLOCK_BOOTTIME) / 1000;
}

void run_boot_id(char out[RUN_BOOT_ID_LEN])
{
    char ns[40] = "", id[40] = "";
    FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");

    if (f && !fgets(id, sizeof id, f))
        id[0] = '\0';
    if (f)
        fclose(f);
    id[strcspn(id, "\n")] = '\0';
    ssize_t n = readlink("/proc/self/ns/time", ns, sizeof ns - 1); /* kernels before 5.6 have none */
    ns[n > 0 ? n : 0] = '\0';
    snprintf(out, RUN_BOOT_ID_LEN, "%s%s%s", id, id[0] ? " " : "", id[0] ? ns : "");
}

static void on_timer(uv_timer_t *uv)
{
    struct run_timer *t = obj_cast(uv->data, struct run_timer, TIMER_MAGIC);
    t->fn(t->arg);
}

struct run_timer *run_timer_new(struct run_loop *loop, void (*fn)(void *arg), void *arg)
{
    struct run_timer *t = mem_new(struct run_timer);
    obj_init(&t->obj, TIMER_MAGIC);
    t->loop = loop;
    t->fn = fn;
    t->arg = arg;
    BUG_IF(uv_timer_init(&loop->uv, &t->uv) != 0);
    t->uv.data = t;
    return t;
}

void run_timer_start(struct run_timer *t, uint64_t delay_ms, uint64_t repeat_ms)
{
    run_timer_stop(t);
    if (!delay_ms && !repeat_ms) {
        t->is_soon = true;
        TAILQ_INSERT_TAIL(&t->loop->soon, t, link);
        BUG_IF(uv_idle_start(&t->loop->idle, on_idle) != 0);
        return;
    }
    /* libuv counts from the time it last looked at the clock; after long work that lies in the past. That time is left as
     * it is: were it moved on while timers are called, two with long work would call each other for ever. */
    uint64_t now_ms = uv_hrtime() / 1000000, seen_ms = uv_now(t->uv.loop);
    uint64_t behind_ms = now_ms > seen_ms ? now_ms - seen_ms : 0;
    BUG_IF(uv_timer_start(&t->uv, on_timer, delay_ms + behind_ms, repeat_ms) != 0);
}

void run_timer_stop(struct run_timer *t)
{
    uv_timer_stop(&t->uv);
    if (!t->is_soon)
        return;
    t->is_soon = false;
    TAILQ_REMOVE(&t->loop->soon, t, link);
    if (TAILQ_EMPTY(&t->loop->soon))
        uv_idle_stop(&t->loop->idle);
}

/* libuv closes descriptors by a bare system call, which the thread sanitizer does not see: it would take the next owner of the
 * number for the old one. So the close is announced to it while the number is still ours; and it ignores what libuv does with the number after that. */
#if defined(__SANITIZE_THREAD__)
#define IS_THREAD_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define IS_THREAD_SANITIZED 1
#endif
#endif
#ifdef IS_THREAD_SANITIZED
void __sanitizer_syscall_pre_impl_close(long fd);
void AnnotateIgnoreReadsBegin(const char *file, int line);
void AnnotateIgnoreReadsEnd(const char *file, int line);
void AnnotateIgnoreWritesBegin(const char *file, int line);
void AnnotateIgnoreWritesEnd(const char *file, int line);

static void close_seen(uv_handle_t *handle, uv_close_cb closed)
{
    uv_os_fd_t fd;
    if (uv_fileno(handle, &fd) == 0)
        __sanitizer_syscall_pre_impl_close(fd);
    AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
    uv_close(handle, closed);
    AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
}

/* Descriptors that uv_spawn opens by pipe2 and socketpair, which the sanitizer sees, and closes by a raw system call, which it
 * does not: their opening is not noted, so that another thread may get the same number. */
static int spawn_seen(uv_loop_t *loop, uv_process_t *process, const uv_process_options_t *options)
{
    AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
    int err = uv_spawn(loop, process, options);
    AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
    return err;
}
#else
#define close_seen uv_close
#define spawn_seen uv_spawn
#endif

void run_handle_close(uv_handle_t *handle, uv_close_cb closed)
{
    close_seen(handle, closed);
}

int run_spawn(struct run_loop *loop, uv_process_t *process, const uv_process_options_t *options)
{
    return spawn_seen(&loop->uv, process, options);
}

static void on_timer_closed(uv_handle_t *uv)
{
    struct run_timer *t = obj_cast(uv->data, struct run_timer, TIMER_MAGIC);
    obj_fini(&t->obj);
    free(t);
}

void run_timer_free(struct run_timer *t)
{
    if (!t)
        return;
    run_timer_stop(t);
    uv_close((uv_handle_t *)&t->uv, on_timer_closed);
}
