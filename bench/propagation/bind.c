/*
 * How long until DNS answers what was bound: PUT a record with a new address over one HTTP connection, and from that moment ask
 * for its name, again and again with a short pause, until the answer holds the new address. Either one record is
 * overwritten again and again, or each PUT makes a new one.
 */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/addr.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"
#include "bobbin/error.h"
#include "times.h"
#include "wire/name.h"
#include "wire/rdata.h"

enum {
    PAUSE_US = 1000,
    ASK_AGAIN_US = 20,
    TIMEOUT_US = 5000000,
    REPLY_MAX = 65536,
    QUESTION_MAX = 300,
    COMPONENT_SIZE = 25
};

struct run {
    int http, dns;
    const char *domain;
    bool is_overwriting;
    size_t number; /* of the record */
    uint8_t question[QUESTION_MAX];
    size_t question_len;
    uint8_t address[4]; /* what the answer must hold */
    char reply[REPLY_MAX];
    size_t reply_len;
    double answered_us, acknowledged_us; /* 0: not yet */
};

static int connect_local(int type, uint16_t port)
{
    struct addr loopback = {AF_INET, {127, 0, 0, 1}};
    struct sockaddr_storage sa;
    socklen_t len = addr_to_sockaddr(&loopback, port, &sa);
    int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&sa, len) ||
        (type == SOCK_STREAM && setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int)))) {
        perror("connect");
        exit(4);
    }
    return fd;
}

/** Prepare the question for the record's name. */
static int question(struct run *r)
{
    mem_auto char *name = mem_fmt("web-%zu.shop.alice.%s", r->number, r->domain);
    memcpy(r->question, "\0\1\0\0\0\1\0\0\0\0\0\0", 12);
    int len = name_from_text(name, strlen(name), r->question + 12);
    if (len < 0)
        return len;
    wire_put16(r->question + 12 + len, DNS_A);
    wire_put16(r->question + 14 + len, DNS_IN);
    r->question_len = (size_t)len + 16;
    return 0;
}

static int send_put(struct run *r)
{
    const uint8_t *a = r->address;
    mem_auto char *body = mem_fmt(
        "{\"type\":\"JSONServiceRecord\",\"description\":\"web-%zu\",\"external\":[],\"internal\":[],"
        "\"yarn:id\":\"container_e50_1451931954322_0001_01_%06zu\",\"yarn:component\":\"web%zu\","
        "\"yarn:persistence\":\"container\",\"yarn:ip\":\"%u.%u.%u.%u\",\"yarn:hostname\":\"host-1\"}",
        r->number, r->number, r->number / COMPONENT_SIZE, a[0], a[1], a[2], a[3]);
    mem_auto char *request = mem_fmt(
        "PUT /ws/v1/registry/users/alice/services/yarn-service/shop/components/"
        "ctr-e50-1451931954322-0001-01-%06zu?overwrite=%s&createParents=true HTTP/1.1\r\nHost: localhost\r\n"
        "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
        r->number, r->is_overwriting ? "true" : "false", strlen(body), body);
    size_t len = strlen(request);
    r->reply_len = 0;
    return send(r->http, request, len, MSG_NOSIGNAL) == (ssize_t)len ? 0 : ERR_IO;
}

/** Take what came of the HTTP reply; acknowledged when it is complete. */
static int take_reply(struct run *r)
{
    ssize_t n = recv(r->http, r->reply + r->reply_len, REPLY_MAX - 1 - r->reply_len, MSG_DONTWAIT);
    if (n <= 0)
        return ERR_IO;
    r->reply_len += (size_t)n;
    r->reply[r->reply_len] = 0;
    const char *end = strstr(r->reply, "\r\n\r\n"), *length = strcasestr(r->reply, "\r\nContent-Length:");
    if (!end || !length)
        return 0;
    if (strtoul(length + 17, NULL, 10) > strlen(end + 4))
        return 0;
    r->acknowledged_us = times_now_us();
    return strncmp(r->reply, "HTTP/1.1 20", 11) ? ERR_WRONGSTATE : 0;
}

static void take_answer(struct run *r, bool *is_asking)
{
    uint8_t msg[1500];
    ssize_t n = recv(r->dns, msg, sizeof msg, MSG_DONTWAIT);
    *is_asking = false;
    if (n > 16 && wire_get16(msg + 6) == 1 && !memcmp(msg + n - 4, r->address, 4) && r->answered_us == 0)
        r->answered_us = times_now_us();
}

/** One turn: ask if no question is out, wait for either socket; after an old answer rest before asking again. */
static int turn(struct run *r, bool *is_asking)
{
    struct pollfd fds[2] = {{r->acknowledged_us > 0 ? -1 : r->http, POLLIN, 0}, {r->dns, POLLIN, 0}};
    if (!*is_asking && r->answered_us == 0) {
        *is_asking = true;
        if (send(r->dns, r->question, r->question_len, 0) < 0)
            return ERR_IO;
    }
    if (ppoll(fds, 2, &(struct timespec){1, 0}, NULL) < 0)
        return ERR_IO;
    if (fds[1].revents)
        take_answer(r, is_asking);
    int err = fds[0].revents ? take_reply(r) : 0;
    if (!err && !*is_asking && r->answered_us == 0)
        times_sleep_us(ASK_AGAIN_US);
    return err;
}

/** One change. @param bound_us, acknowledged_us  from the PUT on [out] */
static int change(struct run *r, size_t i, double *bound_us, double *acknowledged_us)
{
    const uint8_t address[4] = {127, 77, (uint8_t)(i >> 8), (uint8_t)i};
    bool is_asking = false;
    r->number = r->is_overwriting ? 0 : i;
    memcpy(r->address, address, 4);
    r->answered_us = r->acknowledged_us = 0;
    int err = question(r);
    double start = times_now_us();
    err = err ? err : send_put(r);
    while (!err && !(r->answered_us > 0 && r->acknowledged_us > 0)) {
        err = turn(r, &is_asking);
        if (!err && times_now_us() - start > TIMEOUT_US)
            err = ERR_TIMEOUT;
    }
    *bound_us = r->answered_us - start;
    *acknowledged_us = r->acknowledged_us - start;
    return err;
}

int main(int argc, char **argv)
{
    int64_t http_port, dns_port, first, n_changes;
    if (argc != 7 || str_to_i64(argv[1], 1, 65535, &http_port) || str_to_i64(argv[2], 1, 65535, &dns_port) ||
        (strcmp(argv[4], "overwrite") && strcmp(argv[4], "create")) ||
        str_to_i64(argv[5], 0, 60000, &first) || str_to_i64(argv[6], 1, 65535 - first, &n_changes)) {
        fprintf(stderr,
                "usage: %s REGISTRY_PORT DNS_PORT DOMAIN overwrite|create FIRST CHANGES\n"
                "FIRST numbers the changes; use each number once on a registry.\n",
                argv[0]);
        return 2;
    }
    size_t n = (size_t)n_changes;
    mem_auto struct run *r = mem_new(struct run);
    mem_auto double *bound_us = mem_array(n, sizeof *bound_us);
    mem_auto double *acknowledged_us = mem_array(n, sizeof *acknowledged_us);
    prctl(PR_SET_TIMERSLACK, 1000ul, 0, 0, 0);
    r->domain = argv[3];
    r->is_overwriting = !strcmp(argv[4], "overwrite");
    r->http = connect_local(SOCK_STREAM, (uint16_t)http_port);
    r->dns = connect_local(SOCK_DGRAM, (uint16_t)dns_port);
    int err = 0;
    for (size_t i = 0; i < n && !err; i++) {
        times_sleep_us(PAUSE_US);
        err = change(r, (size_t)first + i, &bound_us[i], &acknowledged_us[i]);
    }
    close(r->http);
    close(r->dns);
    if (err) {
        fprintf(stderr, "%s (%s); last reply: %s\n", err_text(err), strerror(errno), r->reply);
        return err_exit_code(err);
    }
    times_print("answer", bound_us, n);
    times_print("put", acknowledged_us, n);
    printf("changes=%zu\n", n);
    return 0;
}
