#include "net/socket.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/addr.h"
#include "base/obj.h"
#include "bobbin/error.h"

enum { RECEIVE_BUFFER = 4 << 20, TCP_BACKLOG = 512 };

static int socket_failed(const struct socket_address *addr, const char *what, struct err_info *why)
{
    struct addr a;
    uint16_t port = 0;
    int code = errno == EADDRINUSE                 ? ERR_ADDRINUSE
               : errno == EACCES || errno == EPERM ? ERR_PERMISSION
                                                   : ERR_IO;
    const char *reason = strerror(errno);
    char where[80];
    addr_from_sockaddr((const struct sockaddr *)&addr->sa, &a, &port);
    snprintf(where, sizeof where, strchr(addr->text, ':') ? "[%s]:%u" : "%s:%u", addr->text, port);
    return err_set(why, code, where, "cannot %s %s: %s", what, where, reason);
}

int socket_address_read(const char *text, uint16_t port, struct socket_address *out, struct err_info *why)
{
    static const struct in6_addr any = IN6ADDR_ANY_INIT;
    struct addr a;
    if (addr_read(text, &a))
        return err_set(why, ERR_INVALID, text, "\"%s\" is not a literal IPv4 or IPv6 address", text);
    memset(out, 0, sizeof *out);
    out->len = addr_to_sockaddr(&a, port, &out->sa);
    out->is_wildcard = !memcmp(a.bytes, &any, a.family == AF_INET ? 4 : 16);
    out->text = text;
    return 0;
}

static int set_int(int fd, int level, int option, int value)
{
    return setsockopt(fd, level, option, &value, sizeof value);
}

/** Options every UDP socket needs. @return 0; or -1 with errno. */
static int set_udp_options(int fd, const struct socket_address *addr)
{
    bool is_v6 = addr->sa.ss_family == AF_INET6;
    /* Best effort: the kernel limits the buffer to net.core.rmem_max. */
    set_int(fd, SOL_SOCKET, SO_RCVBUF, RECEIVE_BUFFER);
    if (set_int(fd, SOL_SOCKET, SO_REUSEPORT, 1))
        return -1;
    if (is_v6) {
        if (set_int(fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_OMIT))
            return -1;
        return addr->is_wildcard ? set_int(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, 1) : 0;
    }
    if (set_int(fd, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_OMIT))
        return -1;
    return addr->is_wildcard ? set_int(fd, IPPROTO_IP, IP_PKTINFO, 1) : 0;
}

static int open_socket(const struct socket_address *addr, int type, int *fd, struct err_info *why)
{
    int s = socket(addr->sa.ss_family, type | SOCK_CLOEXEC, 0);
    if (s < 0)
        return socket_failed(addr, "open a socket for", why);
    if (addr->sa.ss_family == AF_INET6 && set_int(s, IPPROTO_IPV6, IPV6_V6ONLY, 1)) {
        int code = socket_failed(addr, "set options for", why);
        close(s);
        return code;
    }
    *fd = s;
    return 0;
}

static int bind_socket(int fd, const struct socket_address *addr, struct err_info *why)
{
    if (bind(fd, (const struct sockaddr *)&addr->sa, addr->len))
        return socket_failed(addr, "bind", why);
    return 0;
}

/** Bind once without SO_REUSEPORT: fails when another socket has the port; sets it when it was 0. */
static int probe_udp(struct socket_address *addr, struct err_info *why)
{
    int fd = -1;
    int code = open_socket(addr, SOCK_DGRAM, &fd, why);
    if (code)
        return code;
    code = bind_socket(fd, addr, why);
    socklen_t len = sizeof addr->sa;
    if (!code && getsockname(fd, (struct sockaddr *)&addr->sa, &len))
        code = socket_failed(addr, "ask the port of", why);
    close(fd);
    return code;
}

int socket_open_udp(struct socket_address *addr, bool is_first, int *fd, struct err_info *why)
{
    int s = -1, code = is_first ? probe_udp(addr, why) : 0;
    if (!code)
        code = open_socket(addr, SOCK_DGRAM, &s, why);
    if (code)
        return code;
    if (set_udp_options(s, addr))
        code = socket_failed(addr, "set options for", why);
    if (!code)
        code = bind_socket(s, addr, why);
    if (code)
        close(s);
    else
        *fd = s;
    return code;
}

int socket_open_tcp(const struct socket_address *addr, int *fd, struct err_info *why)
{
    int s = -1, code = open_socket(addr, SOCK_STREAM | SOCK_NONBLOCK, &s, why);
    if (code)
        return code;
    if (set_int(s, SOL_SOCKET, SO_REUSEADDR, 1))
        code = socket_failed(addr, "set options for", why);
    if (!code)
        code = bind_socket(s, addr, why);
    if (!code && listen(s, TCP_BACKLOG))
        code = socket_failed(addr, "listen on", why);
    if (code)
        close(s);
    else
        *fd = s;
    return code;
}

uint16_t socket_port(int fd)
{
    struct sockaddr_storage sa;
    struct addr a;
    uint16_t port = 0;
    socklen_t len = sizeof sa;
    BUG_IF(getsockname(fd, (struct sockaddr *)&sa, &len));
    BUG_IF(addr_from_sockaddr((const struct sockaddr *)&sa, &a, &port));
    return port;
}

static struct cmsghdr *find_control(struct msghdr *h, int level, int type)
{
    for (struct cmsghdr *c = CMSG_FIRSTHDR(h); c; c = CMSG_NXTHDR(h, c))
        if (c->cmsg_level == level && c->cmsg_type == type)
            return c;
    return NULL;
}

void socket_turn_control(struct msghdr *h)
{
    struct cmsghdr *v4 = find_control(h, IPPROTO_IP, IP_PKTINFO);
    struct cmsghdr *v6 = find_control(h, IPPROTO_IPV6, IPV6_PKTINFO);
    if (v4) {
        struct in_pktinfo info;
        memcpy(&info, CMSG_DATA(v4), sizeof info);
        info.ipi_ifindex = 0; /* the routing table chooses the interface */
        memcpy(CMSG_DATA(v4), &info, sizeof info);
    } else if (v6) {
        struct in6_pktinfo info;
        memcpy(&info, CMSG_DATA(v6), sizeof info);
        if (!IN6_IS_ADDR_LINKLOCAL(&info.ipi6_addr))
            info.ipi6_ifindex = 0;
        memcpy(CMSG_DATA(v6), &info, sizeof info);
    } else {
        h->msg_control = NULL;
        h->msg_controllen = 0;
    }
}

bool socket_local_address(struct msghdr *h, struct in6_addr *out)
{
    struct cmsghdr *v4 = find_control(h, IPPROTO_IP, IP_PKTINFO);
    struct cmsghdr *v6 = find_control(h, IPPROTO_IPV6, IPV6_PKTINFO);
    memset(out, 0, sizeof *out);
    if (v4) {
        struct in_pktinfo info;
        memcpy(&info, CMSG_DATA(v4), sizeof info);
        memset(out->s6_addr + 10, 0xff, 2);
        memcpy(out->s6_addr + 12, &info.ipi_spec_dst, 4);
    } else if (v6) {
        struct in6_pktinfo info;
        memcpy(&info, CMSG_DATA(v6), sizeof info);
        *out = info.ipi6_addr;
    }
    return v4 || v6;
}

void socket_put_local(struct msghdr *h, int family, const struct in6_addr *local, void *control)
{
    struct in_pktinfo v4 = {0};
    struct in6_pktinfo v6 = {.ipi6_addr = *local};
    bool is_v4 = family == AF_INET;
    size_t len = is_v4 ? sizeof v4 : sizeof v6;
    memcpy(&v4.ipi_spec_dst, local->s6_addr + 12, 4);
    memset(control, 0, SOCKET_CONTROL_LEN);
    h->msg_control = control;
    h->msg_controllen = CMSG_SPACE(len);
    struct cmsghdr *c = CMSG_FIRSTHDR(h);
    c->cmsg_level = is_v4 ? IPPROTO_IP : IPPROTO_IPV6;
    c->cmsg_type = is_v4 ? IP_PKTINFO : IPV6_PKTINFO;
    c->cmsg_len = CMSG_LEN(len);
    memcpy(CMSG_DATA(c), is_v4 ? (void *)&v4 : (void *)&v6, len);
}
