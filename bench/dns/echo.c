/*
 * The floor: one recvfrom and one sendto a datagram, with the QR bit set, and nothing else.
 */
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>

#include "base/addr.h"
#include "base/str.h"

int main(int argc, char **argv)
{
    int64_t port = 0;
    if (argc != 2 || str_to_i64(argv[1], 0, 65535, &port)) {
        fprintf(stderr, "usage: %s PORT     echo datagrams on 127.0.0.1 until killed\n", argv[0]);
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
        unsigned char msg[4096];
        socklen_t client_len = sizeof client;
        ssize_t n = recvfrom(fd, msg, sizeof msg, 0, (struct sockaddr *)&client, &client_len);
        if (n < 3)
            continue;
        msg[2] |= 0x80;
        if (sendto(fd, msg, (size_t)n, 0, (struct sockaddr *)&client, client_len) != n)
            perror("sendto");
    }
}
