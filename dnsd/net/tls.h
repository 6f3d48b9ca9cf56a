/**
 * TLS for the TCP thread: credentials that can be reloaded under open connections, and sessions that read and write like
 * non-blocking sockets.
 *
 * Source: RFC 7858 (DNS over TLS), RFC 9103 8.2 (ALPN "dot"), GnuTLS.
 */
#ifndef NET_TLS_H
#define NET_TLS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct tls;
struct tls_session;
struct err_info;

/**
 * Load a certificate chain and its key.
 *
 * @param cert_file  PEM, the server's certificate first                         [borrowed]
 * @param key_file   PEM                                                         [borrowed]
 * @param out        release with tls_free                                       [out]
 * @return 0; or ERR_CONFIG: unreadable, or they do not belong together; why names the file.
 * Thread: writer.   Source: ours.
 */
int tls_new(const char *cert_file, const char *key_file, struct tls **out, struct err_info *why);
/** Load the same files again, for new connections. @return as tls_new; after an error the old ones stay. Thread: writer. Source:
 *  ours. */
int tls_reload(struct tls *t, struct err_info *why);
/** Release; no session may be left. NULL is fine. Thread: writer. Source: ours. */
void tls_free(struct tls *t);

/** A session on an accepted non-blocking socket. @return release with tls_session_free. Thread: the TCP thread. Source: GnuTLS. */
struct tls_session *tls_session_new(struct tls *t, int fd);
/** Send close_notify if the kernel accepts it, and release; the socket stays open. NULL is fine. Thread: the TCP thread. Source: RFC
 *  7858 3.4. */
void tls_session_free(struct tls_session *s);
/** As recv(2): octets, 0 at the end, or -1 with errno EAGAIN or, broken, EPROTO. Does the handshake first. Thread: the TCP
 *  thread. Source: recv(2). */
ssize_t tls_session_recv(struct tls_session *s, void *p, size_t n);
/** As send(2), errors as tls_session_recv. After EAGAIN the next call begins with the same octets. Thread: the TCP
 *  thread. Source: send(2). */
ssize_t tls_session_send(struct tls_session *s, const void *p, size_t n);
/** Has the session decrypted octets that epoll does not report? Thread: the TCP thread. Source: GnuTLS. */
bool tls_session_has_more(const struct tls_session *s);
/** Is the handshake not finished? Thread: the TCP thread. Source: GnuTLS. */
bool tls_session_is_new(const struct tls_session *s);
/** Does the session wait to write, not to read? Thread: the TCP thread. Source: GnuTLS. */
bool tls_session_wants_write(const struct tls_session *s);

#endif
