/**
 * Internet addresses as values and text. Pure; no name is resolved. Thread: any.   Source: RFC 4291, RFC 5952.
 */
#ifndef BASE_ADDR_H
#define BASE_ADDR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/** An address without port; `family` AF_INET (4 bytes used) or AF_INET6 (16), network order. */
struct addr {
    int family;
    uint8_t bytes[16];
};

/** Longest text: "ffff:…" with scope-less IPv6 and NUL. */
#define ADDR_TEXT_MAX 46

/** Read an IPv4 dotted quad or an IPv6 literal (no brackets, no scope). @return 0; or ERR_PARSE, *out unchanged. */
int addr_read(const char *s, struct addr *out);
/** Write as text. @param out room for ADDR_TEXT_MAX. @return out. */
const char *addr_text(const struct addr *a, char out[ADDR_TEXT_MAX]);
/** 127.0.0.0/8 or ::1. */
bool addr_is_loopback(const struct addr *a);
/** Same family and same address. */
bool addr_equal(const struct addr *a, const struct addr *b);

/** A name that the resolver can be asked for, or an address: 1..253 visible ASCII characters. libuv refuses one that is longer, or no
 *  text, or longer once it is in IDNA form. */
bool addr_is_host(const char *host);

/** Split "host:port", "[v6]:port" or "host" (port := default_port). host is copied to a new string.
 *  @return 0; or ERR_PARSE: bad port, no host; outputs unchanged. */
int addr_split_host_port(const char *s, uint16_t default_port, char **host, uint16_t *port);
/** Fill a socket address from a literal and a port. @return its length. */
socklen_t addr_to_sockaddr(const struct addr *a, uint16_t port, struct sockaddr_storage *out);
/** Address and port of a socket address. @return 0; or ERR_PARSE for a family other than the two. */
int addr_from_sockaddr(const struct sockaddr *sa, struct addr *a, uint16_t *port);

#endif
