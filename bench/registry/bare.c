/*
 * A bare libmicrohttpd, driven by its own epoll thread, that answers every request with the bytes of a file and two headers of
 * registryd. Nothing is routed, parsed or built.
 */
#include <fcntl.h>
#include <microhttpd.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/str.h"

static enum MHD_Result on_request(void *arg, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *upload,
                                  size_t *upload_len, void **state)
{
    (void)url, (void)method, (void)version, (void)upload, (void)upload_len;
    if (!*state) {
        *state = arg; /* The first call of a request: only its head is there. */
        return MHD_YES;
    }
    const struct buf *body = arg;
    struct MHD_Response *r = MHD_create_response_from_buffer(body->len, body->bytes, MHD_RESPMEM_MUST_COPY);
    MHD_add_response_header(r, "Content-Type", "application/json");
    MHD_add_response_header(r, "Bobbin-Revision", "5f3a9c21b04477de.123456");
    MHD_add_response_header(r, "ETag", "\"123456.123456\"");
    enum MHD_Result result = MHD_queue_response(connection, MHD_HTTP_OK, r);
    MHD_destroy_response(r);
    return result;
}

static bool file_read(const char *name, struct buf *out)
{
    enum { PIECE = 65536 };
    FILE *f = fopen(name, "re");
    if (!f)
        return false;
    for (size_t n = PIECE; n == PIECE; out->len += n)
        n = fread(buf_room(out, PIECE), 1, PIECE, f);
    fclose(f);
    return out->len > 0;
}

int main(int argc, char **argv)
{
    buf_auto struct buf body = BUF_EMPTY;
    int64_t port;
    sigset_t ends;
    int got;
    if (argc != 3 || str_to_i64(argv[1], 1, 65535, &port) || !file_read(argv[2], &body)) {
        fprintf(stderr, "usage: %s PORT BODY-FILE\n", argv[0]);
        return 2;
    }
    sigemptyset(&ends);
    sigaddset(&ends, SIGTERM);
    sigprocmask(SIG_BLOCK, &ends, NULL);
    struct MHD_Daemon *d = MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD, (uint16_t)port, NULL, NULL,
                                            on_request, &body, MHD_OPTION_END);
    if (!d) {
        fprintf(stderr, "cannot listen on %lld\n", (long long)port);
        return 1;
    }
    sigwait(&ends, &got);
    MHD_stop_daemon(d);
    return 0;
}
