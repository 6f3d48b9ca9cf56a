/**
 * Opens sockets, and finds the local address of a datagram. Source: socket(7), ip(7), ipv6(7), RFC 9715 (no fragments).
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

/** Read a literal. @param out points to text. @return 0; or ERR_INVALID with why filled. Thread: any. Source: ours. */
int socket_address_read(const char *text, uint16_t port, struct socket_address *out, struct err_info *why);

/**
 * Open and bind a UDP socket.
 *
 * @param is_first  the first socket of the address: fails when another program has the port, which SO_REUSEPORT alone would
 *                  share silently
 * @param addr      its port is set when it was 0                                 [in,out]
 * @param fd        the socket                                                    [out]
 * @return 0; ERR_ADDRINUSE, ERR_PERMISSION, ERR_IO: why names the address.
 * Thread: any.   Source: socket(7), RFC 9715.
 */
int socket_open_udp(struct socket_address *addr, bool is_first, int *fd, struct err_info *why);

/** Open, bind and listen on TCP, non-blocking. Results as socket_open_udp. Thread: any. Source: socket(7). */
int socket_open_tcp(const struct socket_address *addr, int *fd, struct err_info *why);

/** Port a socket is bound to. Thread: any. Source: getsockname(2). */
uint16_t socket_port(int fd);

/** Room for the control message of one datagram. */
#define SOCKET_CONTROL_LEN 64

/** Turn received control data into that of the reply, which leaves from the address the query came to. @param h as received [in,out].
 *  Thread: any. Source: ip(7), ipv6(7). */
void socket_turn_control(struct msghdr *h);
/** Local address in received control data. @param out IPv4 mapped [out]. @return whether it was there. Thread: any. Source: ip(7),
 *  ipv6(7). */
bool socket_local_address(struct msghdr *h, struct in6_addr *out);
/** Write control data for a reply. @param control SOCKET_CONTROL_LEN octets, aligned; h points to it after. Thread: any. Source:
 *  ip(7), ipv6(7). */
void socket_put_local(struct msghdr *h, int family, const struct in6_addr *local, void *control);

#endif
