#include "session.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/addr.h"
#include "bobbin/error.h"

enum { SESSION_MS = 30000, PASSWORD_LEN = 16, FRAME_MAX = 64 << 20, PIECE = 1 << 18 };

int session_send(struct session *s)
{
    size_t at = 0;
    while (at < s->out.len) {
        ssize_t n = send(s->fd, s->out.bytes + at, s->out.len - at, MSG_NOSIGNAL);
        if (n < 0)
            return ERR_IO;
        at += (size_t)n;
    }
    buf_clear(&s->out);
    return 0;
}

int session_next(struct session *s, struct zkw_bytes *frame)
{
    for (;;) {
        int64_t used = zkw_frame_next(s->in.bytes + s->n_used, s->in.len - s->n_used, FRAME_MAX, frame);
        if (used < 0)
            return ERR_PARSE;
        s->n_used += (size_t)used;
        if (used)
            return 0;
        buf_drop(&s->in, s->n_used);
        s->n_used = 0;
        ssize_t n = recv(s->fd, buf_room(&s->in, PIECE), PIECE, 0);
        if (n <= 0)
            return ERR_IO;
        s->in.len += (size_t)n;
    }
}

int session_open(struct session *s, uint16_t port)
{
    struct addr loopback = {AF_INET, {127, 0, 0, 1}};
    struct sockaddr_storage sa;
    struct zkw_hello hello = {.timeout_ms = SESSION_MS, .password_len = PASSWORD_LEN};
    struct zkw_bytes frame;
    socklen_t len = addr_to_sockaddr(&loopback, port, &sa);
    *s = (struct session){.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    if (s->fd < 0 || connect(s->fd, (struct sockaddr *)&sa, len) ||
        setsockopt(s->fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int)))
        return ERR_IO;
    buf_room(&s->in, PIECE);
    zkw_put_hello(&s->out, &hello);
    int err = session_send(s);
    err = err ? err : session_next(s, &frame);
    return err ? err : zkw_get_hello(frame, &hello);
}

void session_fini(struct session *s)
{
    if (s->fd >= 0)
        close(s->fd);
    buf_fini(&s->out);
    buf_fini(&s->in);
}
