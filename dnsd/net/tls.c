#include "net/tls.h"

#include <errno.h>
#include <gnutls/gnutls.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/obj.h"
#include "bobbin/error.h"

static const char versions[] = "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2";

/** Certificate and key, as loaded once; shared by the sessions that began with them. The lock guards n_users. */
struct credentials {
    gnutls_certificate_credentials_t gnutls;
    unsigned n_users;
};

struct tls {
    char *cert_file, *key_file;
    gnutls_priority_t priority;
    pthread_mutex_t lock; /* guards current and n_users; nothing is called under it */
    struct credentials *current;
};

struct tls_session {
    struct tls *tls;
    struct credentials *credentials;
    gnutls_session_t gnutls;
    bool is_new, has_unsent;
};

static void credentials_drop(struct tls *t, struct credentials *c)
{
    pthread_mutex_lock(&t->lock);
    bool is_last = c && --c->n_users == 0;
    pthread_mutex_unlock(&t->lock);
    if (!is_last)
        return;
    gnutls_certificate_free_credentials(c->gnutls);
    free(c);
}

static struct credentials *credentials_take(struct tls *t)
{
    pthread_mutex_lock(&t->lock);
    struct credentials *c = t->current;
    c->n_users++;
    pthread_mutex_unlock(&t->lock);
    return c;
}

int tls_reload(struct tls *t, struct err_info *why)
{
    struct credentials *c = mem_new(struct credentials);
    c->n_users = 1;
    int code = gnutls_certificate_allocate_credentials(&c->gnutls);
    BUG_IF(code < 0);
    code = gnutls_certificate_set_x509_key_file(c->gnutls, t->cert_file, t->key_file, GNUTLS_X509_FMT_PEM);
    if (code < 0) {
        gnutls_certificate_free_credentials(c->gnutls);
        free(c);
        return err_set(why, ERR_CONFIG, t->cert_file, "certificate %s and key %s cannot be used: %s",
                       t->cert_file, t->key_file, gnutls_strerror(code));
    }
    pthread_mutex_lock(&t->lock);
    struct credentials *old = t->current;
    t->current = c;
    pthread_mutex_unlock(&t->lock);
    credentials_drop(t, old);
    return 0;
}

int tls_new(const char *cert_file, const char *key_file, struct tls **out, struct err_info *why)
{
    struct tls *t = mem_new(struct tls);
    t->cert_file = mem_str(cert_file);
    t->key_file = mem_str(key_file);
    pthread_mutex_init(&t->lock, NULL);
    BUG_IF(gnutls_priority_init(&t->priority, versions, NULL) < 0);
    int code = tls_reload(t, why);
    if (code)
        tls_free(t);
    else
        *out = t;
    return code;
}

void tls_free(struct tls *t)
{
    if (!t)
        return;
    BUG_IF(t->current && t->current->n_users != 1);
    credentials_drop(t, t->current);
    gnutls_priority_deinit(t->priority);
    pthread_mutex_destroy(&t->lock);
    free(t->cert_file);
    free(t->key_file);
    free(t);
}

struct tls_session *tls_session_new(struct tls *t, int fd)
{
    static unsigned char dot[] = "dot";
    gnutls_datum_t alpn = {dot, sizeof dot - 1};
    struct tls_session *s = mem_new(struct tls_session);
    s->tls = t;
    s->is_new = true;
    s->credentials = credentials_take(t);
    BUG_IF(gnutls_init(&s->gnutls, GNUTLS_SERVER | GNUTLS_NONBLOCK | GNUTLS_NO_SIGNAL) < 0);
    BUG_IF(gnutls_priority_set(s->gnutls, t->priority) < 0);
    BUG_IF(gnutls_credentials_set(s->gnutls, GNUTLS_CRD_CERTIFICATE, s->credentials->gnutls) < 0);
    BUG_IF(gnutls_alpn_set_protocols(s->gnutls, &alpn, 1, 0) < 0);
    gnutls_transport_set_int(s->gnutls, fd);
    return s;
}

void tls_session_free(struct tls_session *s)
{
    if (!s)
        return;
    if (!s->is_new && !s->has_unsent)
        gnutls_bye(s->gnutls, GNUTLS_SHUT_WR);
    gnutls_deinit(s->gnutls);
    credentials_drop(s->tls, s->credentials);
    free(s);
}

static ssize_t result(ssize_t n)
{
    if (n >= 0)
        return n;
    errno = n == GNUTLS_E_AGAIN || n == GNUTLS_E_INTERRUPTED ? EAGAIN : EPROTO;
    return n == GNUTLS_E_PREMATURE_TERMINATION ? 0 : -1;
}

/** @return 0: the handshake is done; else -1 with errno. */
static ssize_t shake_hands(struct tls_session *s)
{
    int code = GNUTLS_E_WARNING_ALERT_RECEIVED;
    while (code < 0 && !gnutls_error_is_fatal(code) && code != GNUTLS_E_AGAIN && code != GNUTLS_E_INTERRUPTED)
        code = gnutls_handshake(s->gnutls);
    s->is_new = code < 0;
    if (code == GNUTLS_E_PREMATURE_TERMINATION)
        code = GNUTLS_E_SESSION_EOF;
    return result(code);
}

ssize_t tls_session_recv(struct tls_session *s, void *p, size_t n)
{
    if (s->is_new && shake_hands(s))
        return -1;
    return result(gnutls_record_recv(s->gnutls, p, n));
}

ssize_t tls_session_send(struct tls_session *s, const void *p, size_t n)
{
    if (s->is_new && shake_hands(s))
        return -1;
    /* GnuTLS keeps a record that the kernel did not accept whole; a call without octets sends the rest. */
    ssize_t sent =
        s->has_unsent ? gnutls_record_send(s->gnutls, NULL, 0) : gnutls_record_send(s->gnutls, p, n);
    sent = result(sent);
    s->has_unsent = sent < 0 && errno == EAGAIN;
    return sent;
}

bool tls_session_has_more(const struct tls_session *s)
{
    return !s->is_new && gnutls_record_check_pending(s->gnutls) > 0;
}

bool tls_session_is_new(const struct tls_session *s)
{
    return s->is_new;
}

bool tls_session_wants_write(const struct tls_session *s)
{
    return (s->is_new || s->has_unsent) && gnutls_record_get_direction(s->gnutls) == 1;
}
