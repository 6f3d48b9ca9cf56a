#include "run/host_name.h"
#include "base/mem.h"
#include "base/obj.h"
#include "base/str.h"

#include <netdb.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define QUESTION_MAGIC OBJ_MAGIC('H', 'O', 'S', 'T')

/** A question to the resolver, on a thread of its own. The last of both sides that leaves it releases it. */
struct question {
    struct obj obj;
    pthread_mutex_t lock;
    pthread_cond_t answered;
    unsigned n_sides;
    bool is_answered;
    char host[HOST_NAME_ROOM], name[HOST_NAME_ROOM];
};

static struct question *question_new(const char *host)
{
    struct question *q = mem_new(struct question);
    pthread_condattr_t monotonic;
    obj_init(&q->obj, QUESTION_MAGIC);
    pthread_mutex_init(&q->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&q->answered, &monotonic);
    pthread_condattr_destroy(&monotonic);
    snprintf(q->host, sizeof q->host, "%s", host);
    q->n_sides = 2;
    return q;
}

/* Called with the lock held. */
static void leave(struct question *q)
{
    bool is_last = --q->n_sides == 0;
    pthread_mutex_unlock(&q->lock);
    if (!is_last)
        return;
    pthread_cond_destroy(&q->answered);
    pthread_mutex_destroy(&q->lock);
    obj_fini(&q->obj);
    free(q);
}

static void *ask(void *arg)
{
    struct question *q = obj_cast(arg, struct question, QUESTION_MAGIC);
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_DGRAM, .ai_flags = AI_CANONNAME};
    struct addrinfo *found = NULL;
    int err = getaddrinfo(q->host, NULL, &hints, &found);
    pthread_mutex_lock(&q->lock);
    if (!err && found->ai_canonname)
        snprintf(q->name, sizeof q->name, "%s", found->ai_canonname);
    if (!err)
        freeaddrinfo(found);
    q->is_answered = true;
    pthread_cond_signal(&q->answered);
    leave(q);
    return NULL;
}

static void wait_for(struct question *q, int64_t patience_ms)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    int64_t ns = until.tv_nsec + patience_ms % 1000 * 1000000;
    until.tv_sec += patience_ms / 1000 + ns / 1000000000;
    until.tv_nsec = ns % 1000000000;
    while (!q->is_answered && !pthread_cond_timedwait(&q->answered, &q->lock, &until))
        continue;
}

static void ask_resolver(const char *host, int64_t patience_ms, char out[HOST_NAME_ROOM])
{
    struct question *q = question_new(host);
    pthread_t thread;
    bool is_asked = pthread_create(&thread, NULL, ask, q) == 0;
    if (is_asked)
        pthread_detach(thread);
    pthread_mutex_lock(&q->lock);
    if (is_asked)
        wait_for(q, patience_ms);
    memcpy(out, q->name, HOST_NAME_ROOM);
    q->n_sides -= !is_asked;
    leave(q);
}

static bool is_useful(const char *name)
{
    const char *dot = strchr(name, '.');
    return dot && dot[1] && strncasecmp(name, "localhost.", 10) != 0;
}

bool host_name_canonical(int64_t patience_ms, char out[HOST_NAME_ROOM])
{
    char host[HOST_NAME_ROOM] = "";
    *out = 0;
    if (gethostname(host, sizeof host - 1) || !*host)
        return false;
    memcpy(out, host, sizeof host);
    if (!is_useful(host))
        ask_resolver(host, patience_ms, out);
    if (!is_useful(out))
        *out = 0;
    return *out != 0;
}
