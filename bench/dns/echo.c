/*
 * The floor: one recvfrom and one sendto a datagram, with the QR bit set and as many bytes more as answers have, and
 * nothing else.
 */
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>

#include "base/addr.h"
#include "base/str.h"

enum { RECEIVE_MAX = 4096, MORE_MAX = 4096 };

int main(int argc, char **argv)
{
    int64_t port = 0, n_more = 0;
    if (argc < 2 || argc > 3 || str_to_i64(argv[1], 0, 65535, &port) ||
        (argc > 2 && str_to_i64(argv[2], 0, MORE_MAX, &n_more))) {
        fprintf(stderr,
                "usage: %s PORT [MORE]     echo datagrams, MORE bytes longer, on 127.0.0.1 until killed\n",
                argv[0]);
        return 2;
    }
    struct addr loopback = {AF_INET, {127, 0, 0, 1}};
    struct sockaddr_storage sa, client;
    socklen_t len = addr_to_sockaddr(&loopback, (uint16_t)port, &sa);
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&sa, len) || getsockname(fd, (struct sockaddr *)&sa, &len)) {
        perror("bind");
        return 4;
    }
    printf("listening on 127.0.0.1:%u\n", ntohs(((struct sockaddr_in *)&sa)->sin_port));
    fflush(stdout);
    for (;;) {
        static unsigned char msg[RECEIVE_MAX + MORE_MAX];
        socklen_t client_len = sizeof client;
        ssize_t n = recvfrom(fd, msg, RECEIVE_MAX, 0, (struct sockaddr *)&client, &client_len);
        if (n < 3)
            continue;
        msg[2] |= 0x80;
        n += (ssize_t)n_more;
        if (sendto(fd, msg, (size_t)n, 0, (struct sockaddr *)&client, client_len) != n)
            perror("sendto");
    }
}
