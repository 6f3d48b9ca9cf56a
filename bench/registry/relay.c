/* A TCP relay for one connection at a time to a port of 127.0.0.1; SIGUSR1 cuts it. Quick, so that what is measured is not the relay. */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/addr.h"
#include "base/str.h"

enum { PIECE = 1 << 18 };

static volatile sig_atomic_t is_cut;

static void on_signal(int number)
{
    (void)number;
    is_cut = 1;
}

static int loopback_socket(uint16_t port, bool is_listener)
{
    struct addr loopback = {AF_INET, {127, 0, 0, 1}};
    struct sockaddr_storage sa;
    socklen_t len = addr_to_sockaddr(&loopback, port, &sa);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int));
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    int rc = is_listener ? bind(fd, (struct sockaddr *)&sa, len) || listen(fd, 16)
                         : connect(fd, (struct sockaddr *)&sa, len);
    if (!rc)
        return fd;
    close(fd);
    return -1;
}

/** Pass on what is there. @return whether the connection goes on. */
static bool pass(int from, int to)
{
    static char bytes[PIECE];
    ssize_t n = recv(from, bytes, sizeof bytes, 0);
    for (ssize_t at = 0; at < n;) {
        ssize_t sent = send(to, bytes + at, (size_t)(n - at), MSG_NOSIGNAL);
        if (sent < 0)
            return false;
        at += sent;
    }
    return n > 0;
}

static void relay(int client, int server)
{
    struct pollfd polls[] = {{.fd = client, .events = POLLIN}, {.fd = server, .events = POLLIN}};
    bool goes_on = true;
    while (goes_on && !is_cut) {
        if (poll(polls, 2, -1) < 0)
            continue;
        if (polls[0].revents)
            goes_on = pass(client, server);
        if (goes_on && polls[1].revents)
            goes_on = pass(server, client);
    }
    is_cut = 0;
}

int main(int argc, char **argv)
{
    int64_t port, server_port;
    struct sigaction cut = {.sa_handler = on_signal};
    if (argc != 3 || str_to_i64(argv[1], 1, 65535, &port) || str_to_i64(argv[2], 1, 65535, &server_port)) {
        fprintf(stderr, "usage: %s PORT SERVER-PORT\n", argv[0]);
        return 2;
    }
    sigaction(SIGUSR1, &cut, NULL);
    int listener = loopback_socket((uint16_t)port, true);
    if (listener < 0) {
        perror("listen");
        return 1;
    }
    for (;;) {
        int client = accept(listener, NULL, NULL);
        int server = client < 0 ? -1 : loopback_socket((uint16_t)server_port, false);
        if (server >= 0)
            relay(client, server);
        if (server >= 0)
            close(server);
        if (client >= 0)
            close(client);
    }
}
