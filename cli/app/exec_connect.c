#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/addr.h"
#include "base/mem.h"
#include "base/obj.h"
#include "base/str.h"
#include "exec.h"
#include "exec/frame.h"
#include "kit/services.h"

#define HTTP         "http://"
#define HTTPS        "https://"
#define ANSWER_S     30 /* for the connection, and for the answer */
#define HEAD_MAX     65536
#define BODY_MAX     (1 << 20)
#define KEEP_IDLE_S  30 /* of silence, then the kernel asks whether the server is there … */
#define KEEP_PAUSE_S 10
#define KEEP_TRIES   3

/** What came of the answer. */
struct answer {
    struct buf bytes;
    size_t head_len; /* with the empty line; 0: it is not whole */
};

static void set_times(int fd, int s)
{
    const struct timeval limit = {.tv_sec = s};

    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
}

/** A server that vanished without a word is noticed; a key that was typed goes at once. */
static void set_session(int fd)
{
    int on = 1, idle = KEEP_IDLE_S, pause = KEEP_PAUSE_S, tries = KEEP_TRIES;

    set_times(fd, 0);
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &pause, sizeof pause);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &tries, sizeof tries);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

static int connect_any(const struct addrinfo *list)
{
    int fd = -1;

    for (const struct addrinfo *a = list; a && fd < 0; a = a->ai_next) {
        fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (fd >= 0)
            set_times(fd, ANSWER_S);
        if (fd < 0 || !connect(fd, a->ai_addr, a->ai_addrlen))
            continue;
        int error = errno;
        close(fd);
        fd = -1;
        errno = error;
    }
    return fd;
}

/** @param authority  "host:port" */
static int open_connection(const char *authority, int *fd, struct err_info *why)
{
    const struct addrinfo wanted = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    mem_auto char *host = NULL;
    struct addrinfo *list;
    uint16_t port;

    if (addr_split_host_port(authority, 80, &host, &port))
        return err_set(why, ERR_USAGE, authority, "no host and port");
    mem_auto char *service = mem_fmt("%u", (unsigned)port);
    int failed = getaddrinfo(host, service, &wanted, &list);
    if (failed)
        return err_set(why, ERR_UNAVAILABLE, authority, "%s", gai_strerror(failed));
    *fd = connect_any(list);
    int error = errno;
    freeaddrinfo(list);
    return *fd >= 0 ? 0
                    : err_set(why, ERR_UNAVAILABLE, authority, "cannot be connected to: %s", strerror(error));
}

static int send_request(int fd, const char *authority, const char *target, struct err_info *why)
{
    buf_auto struct buf text = BUF_EMPTY;

    buf_addf(&text,
             "POST %s HTTP/1.1\r\nHost: %s\r\nConnection: Upgrade\r\nUpgrade: " EXEC_PROTOCOL
             "\r\nContent-Length: 0\r\n\r\n",
             *target ? target : "/", authority);
    for (size_t at = 0; at < text.len;) {
        ssize_t n = send(fd, text.bytes + at, text.len - at, MSG_NOSIGNAL);
        if (n < 0)
            return err_set(why, ERR_UNAVAILABLE, authority, "takes no request: %s", strerror(errno));
        at += (size_t)n;
    }
    return 0;
}

/** Read more of an answer. @return ERR_UNAVAILABLE: there is no more */
static int read_more(int fd, struct answer *a, const char *authority, struct err_info *why)
{
    ssize_t n;

    do
        n = recv(fd, buf_room(&a->bytes, 16384), 16384, 0);
    while (n < 0 && errno == EINTR);
    if (n <= 0)
        return err_set(why, ERR_UNAVAILABLE, authority,
                       n ? "does not answer: %s" : "has closed the connection", strerror(errno));
    a->bytes.len += (size_t)n;
    return 0;
}

static int read_head(int fd, struct answer *a, const char *authority, struct err_info *why)
{
    const char *end = NULL;
    int err = 0;

    while (!err && !end && a->bytes.len < HEAD_MAX) {
        err = read_more(fd, a, authority, why);
        end = err ? NULL : strstr(buf_cstr(&a->bytes), "\r\n\r\n");
    }
    if (end)
        a->head_len = (size_t)(end + 4 - a->bytes.bytes);
    return err || end ? err : err_set(why, ERR_PARSE, authority, "what answers speaks no HTTP");
}

/** A header of the answer. free(); NULL: there is none */
static char *header(const struct answer *a, const char *name)
{
    const char *at = a->bytes.bytes, *end = at + a->head_len;

    while ((at = memchr(at, '\n', (size_t)(end - at))) && ++at < end) {
        size_t len = strlen(name);
        if (strncasecmp(at, name, len) || at[len] != ':')
            continue;
        at += len + 1;
        at += strspn(at, " \t");
        return mem_strn(at, strcspn(at, "\r\n"));
    }
    return NULL;
}

/** Read the body of a refusal, and make an error of it. */
static int read_refusal(int fd, struct answer *a, int status, const char *url, struct err_info *why)
{
    mem_auto char *length = header(a, "Content-Length");
    struct err_info none;
    int64_t len = 0;

    if (!length || str_to_i64(length, 0, BODY_MAX, &len))
        len = BODY_MAX; /* Until the connection ends. */
    while ((int64_t)(a->bytes.len - a->head_len) < len && !read_more(fd, a, url, &none))
        continue;
    buf_drop(&a->bytes, a->head_len);
    return services_refused(status, &a->bytes, url, why);
}

static int read_answer(int fd, struct answer *a, const char *authority, const char *url, struct err_info *why)
{
    static const char version[] = "HTTP/1.1 ";
    int err = read_head(fd, a, authority, why);

    if (err)
        return err;
    if (!str_starts(a->bytes.bytes, version))
        return err_set(why, ERR_PARSE, authority, "what answers speaks no HTTP/1.1");
    long status = strtol(a->bytes.bytes + strlen(version), NULL, 10);
    mem_auto char *protocol = header(a, "Upgrade");
    if (status == 101 && protocol && !strcasecmp(protocol, EXEC_PROTOCOL)) {
        buf_drop(&a->bytes, a->head_len);
        return 0;
    }
    return status / 100 == 2 || status == 101 || status < 100 || status > 599
               ? err_set(why, ERR_UNSUPPORTED, authority, "what answers executes no commands (status %ld)",
                         status)
               : read_refusal(fd, a, (int)status, url, why);
}

int exec_connect(const char *url, int *fd, struct buf *rest, struct err_info *why)
{
    struct answer a = {.bytes = BUF_EMPTY};

    if (str_starts(url, HTTPS))
        return err_set(why, ERR_UNSUPPORTED, NULL,
                       "a gateway passes no upgraded connections: name svcmgr itself with --url, as "
                       "http://HOST:9191");
    if (!str_starts(url, HTTP))
        return err_set(why, ERR_USAGE, "--url", "the URL is http://HOST:PORT, not \"%.200s\"", url);
    const char *begin = url + strlen(HTTP);
    mem_auto char *authority = mem_strn(begin, strcspn(begin, "/"));
    int err = open_connection(authority, fd, why);
    if (err)
        return err;
    err = send_request(*fd, authority, begin + strlen(authority), why);
    if (!err)
        err = read_answer(*fd, &a, authority, url, why);
    if (err) {
        close(*fd);
        buf_fini(&a.bytes);
        return err;
    }
    set_session(*fd);
    *rest = a.bytes;
    return 0;
}
