/**
 * Opening sockets, and the address a datagram came to. Source: socket(7), ip(7), ipv6(7), RFC 9715 (no fragments).
 */
#ifndef NET_SOCKET_H
#define NET_SOCKET_H

#include <stdbool.h>
#include <sys/socket.h>

#include "net/net.h"

struct err_info;

/** A literal address with a port, ready for bind(). */
struct socket_address {
    struct sockaddr_storage sa;
    socklen_t len;
    bool is_wildcard;
    const char *text; /* as configured                                           [borrowed] */
};

/** Read a literal. @return 0; or ERR_INVALID with why filled. */
int socket_address_read(const char *text, uint16_t port, struct socket_address *out, struct err_info *why);

/**
 * Open and bind a UDP socket.
 *
 * @param is_first  the first of the address: it makes sure that no other program has the port, which SO_REUSEPORT
 *                  alone would share with it without a word
 * @param addr      its port is set when it was 0                                 [in,out]
 * @param fd        the socket                                                    [out]
 * @return 0; ERR_ADDRINUSE, ERR_PERMISSION, ERR_IO: why names the address.
 */
int socket_open_udp(struct socket_address *addr, bool is_first, int *fd, struct err_info *why);

/** Open, bind and listen on TCP, non-blocking. Results as socket_open_udp. */
int socket_open_tcp(const struct socket_address *addr, int *fd, struct err_info *why);

/** Port a socket is bound to. */
uint16_t socket_port(int fd);

/** Room for the control message of one datagram. */
#define SOCKET_CONTROL_LEN 64

/** Keep only what makes the reply leave from the address the query came to. @param h as received [in,out] */
void socket_turn_control(struct msghdr *h);
/** Take the local address out of received control data. @return whether it was there. */
bool socket_local_address(struct msghdr *h, struct in6_addr *out);
/** Write control data for a reply. @param control SOCKET_CONTROL_LEN octets, aligned; h points to it after. */
void socket_put_local(struct msghdr *h, int family, const struct in6_addr *local, void *control);

#endif
