#include "run/log_writer.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/obj.h"

/** Most bytes that wait. */
#define WAITING_MAX ((size_t)1 << 20)
/** How long the stop waits for stderr. */
#define STOP_S 2

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* nothing that waits is called under it */
static pthread_cond_t changed;                           /* of all below, which the lock guards */
static bool is_running, is_ending, has_ended, is_writing, is_file;
static struct buf waiting;
static uint64_t n_lost, n_said; /* of those lost the ones that a caller knows of */
static pthread_t thread;
static struct buf under_way; /* the thread's alone */

/* Write, and wait where stderr takes nothing now: who else has the pipe or the terminal open may have set O_NONBLOCK for all.
 * @return bytes written: fewer than len when it fails. */
static size_t write_out(const char *bytes, size_t len)
{
    struct pollfd fd = {.fd = STDERR_FILENO, .events = POLLOUT};
    size_t done = 0;
    while (done < len) {
        ssize_t n = write(STDERR_FILENO, bytes + done, len - done);
        if (n < 0 && errno == EAGAIN)
            poll(&fd, 1, -1);
        else if (n < 0 && errno != EINTR)
            break;
        done += n > 0 ? (size_t)n : 0;
    }
    return done;
}

static uint64_t count_lines(const char *bytes, size_t len)
{
    uint64_t n = 0;
    for (size_t i = 0; i < len; i++)
        n += bytes[i] == '\n';
    return n;
}

/* Take all that waits; blocks until there is something. @return false: the end has come, and nothing waits. */
static bool take(void)
{
    pthread_mutex_lock(&lock);
    while (!waiting.len && !is_ending)
        pthread_cond_wait(&changed, &lock);
    struct buf empty = under_way;
    under_way = waiting;
    waiting = empty;
    is_writing = under_way.len > 0;
    pthread_mutex_unlock(&lock);
    return under_way.len > 0;
}

static void *run_writer(void *arg)
{
    while (take()) {
        size_t done = write_out(under_way.bytes, under_way.len);
        pthread_mutex_lock(&lock);
        n_lost += count_lines(under_way.bytes + done, under_way.len - done);
        is_writing = false;
        pthread_mutex_unlock(&lock);
        buf_clear(&under_way);
    }
    pthread_mutex_lock(&lock);
    has_ended = true;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    return arg;
}

void log_writer_start(void)
{
    pthread_condattr_t attributes;
    BUG_IF(is_running);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&changed, &attributes);
    pthread_condattr_destroy(&attributes);
    struct stat st;
    is_ending = has_ended = is_writing = false;
    is_file = fstat(STDERR_FILENO, &st) == 0 && S_ISREG(st.st_mode);
    is_running = pthread_create(&thread, NULL, run_writer, NULL) == 0;
}

/* @return whether the thread has ended, or is about to. */
static bool await_end(void)
{
    struct timespec until;
    int rc = 0;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += STOP_S;
    pthread_mutex_lock(&lock);
    is_ending = true;
    pthread_cond_broadcast(&changed);
    while (!has_ended && rc == 0)
        rc = pthread_cond_timedwait(&changed, &lock, &until);
    bool is_over = has_ended;
    pthread_mutex_unlock(&lock);
    return is_over;
}

void log_writer_stop(void)
{
    if (!is_running)
        return;
    if (!await_end()) {
        pthread_detach(thread);
        return;
    }
    pthread_join(thread, NULL);
    is_running = false;
    buf_fini(&waiting);
    buf_fini(&under_way);
    pthread_cond_destroy(&changed);
}

static uint64_t put_self(const char *line, size_t len)
{
    if (write_out(line, len) < len) {
        pthread_mutex_lock(&lock);
        n_lost++;
        pthread_mutex_unlock(&lock);
    }
    return 0;
}

/* Write a line in its turn when that cannot block: a pipe that poll finds writable takes PIPE_BUF bytes at once. A file always is,
 * and blocks while its disk is busy. @return bytes written. */
static size_t write_now(const char *line, size_t len)
{
    struct pollfd fd = {.fd = STDERR_FILENO, .events = POLLOUT};
    if (is_file || is_writing || waiting.len || len > PIPE_BUF || poll(&fd, 1, 0) != 1 ||
        fd.revents != POLLOUT)
        return 0;
    ssize_t n = write(STDERR_FILENO, line, len);
    return n > 0 ? (size_t)n : 0;
}

uint64_t log_writer_put(const char *line, size_t len)
{
    uint64_t n = 0;
    if (!is_running)
        return put_self(line, len);
    pthread_mutex_lock(&lock);
    size_t done = write_now(line, len);
    bool was_empty = waiting.len == 0, has_room = waiting.len + len - done <= WAITING_MAX;
    if (has_room)
        buf_add(&waiting, line + done, len - done);
    n_lost += !has_room;
    if (waiting.len <= WAITING_MAX / 2) {
        n = n_lost - n_said;
        n_said = n_lost;
    }
    pthread_mutex_unlock(&lock);
    if (was_empty && done < len)
        pthread_cond_signal(&changed);
    return n;
}

size_t log_writer_n_waiting(void)
{
    pthread_mutex_lock(&lock);
    size_t n = waiting.len;
    pthread_mutex_unlock(&lock);
    return n;
}

uint64_t log_writer_n_lost(void)
{
    pthread_mutex_lock(&lock);
    uint64_t n = n_lost;
    pthread_mutex_unlock(&lock);
    return n;
}
