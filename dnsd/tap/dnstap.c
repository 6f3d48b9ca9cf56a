#include "tap/dnstap.h"

#include <string.h>

#include "base/buf.h"
#include "dnstap.pb-c.h"

enum { NS_PER_S = 1000000000 };

static ProtobufCBinaryData octets(const void *p, size_t n)
{
    return (ProtobufCBinaryData){n, (uint8_t *)(uintptr_t)p};
}

static Dnstap__Message__Type type_of(const struct tap_entry *e, bool is_said)
{
    if (e->is_relayed)
        return is_said ? DNSTAP__MESSAGE__TYPE__CLIENT_RESPONSE : DNSTAP__MESSAGE__TYPE__CLIENT_QUERY;
    return is_said ? DNSTAP__MESSAGE__TYPE__AUTH_RESPONSE : DNSTAP__MESSAGE__TYPE__AUTH_QUERY;
}

static void put_times(Dnstap__Message *m, const struct tap_entry *e, bool is_said)
{
    m->has_query_time_sec = m->has_query_time_nsec = e->at_ns != 0;
    m->query_time_sec = e->at_ns / NS_PER_S;
    m->query_time_nsec = (uint32_t)(e->at_ns % NS_PER_S);
    m->has_response_time_sec = m->has_response_time_nsec = is_said;
    m->response_time_sec = e->said_ns / NS_PER_S;
    m->response_time_nsec = (uint32_t)(e->said_ns % NS_PER_S);
}

void dnstap_put(const char *identity, const char *version, const struct tap_entry *e, const uint8_t *query,
                bool is_said, struct buf *out)
{
    static const Dnstap__SocketProtocol protocols[] = {[TAP_UDP] = DNSTAP__SOCKET_PROTOCOL__UDP,
                                                       [TAP_TCP] = DNSTAP__SOCKET_PROTOCOL__TCP,
                                                       [TAP_TLS] = DNSTAP__SOCKET_PROTOCOL__DOT};
    Dnstap__Message m = DNSTAP__MESSAGE__INIT;
    Dnstap__Dnstap d = DNSTAP__DNSTAP__INIT;
    m.type = type_of(e, is_said);
    m.has_socket_family = m.has_socket_protocol = m.has_query_address = m.has_query_port = true;
    m.socket_family = e->is_ipv6 ? DNSTAP__SOCKET_FAMILY__INET6 : DNSTAP__SOCKET_FAMILY__INET;
    m.socket_protocol = protocols[e->protocol];
    m.query_address = octets(e->client, e->is_ipv6 ? 16 : 4);
    m.query_port = e->client_port;
    put_times(&m, e, is_said);
    m.has_query_message = !is_said;
    m.query_message = octets(query, e->query_len);
    m.has_response_message = is_said;
    m.response_message = octets(query + e->query_len, e->said_len);
    d.type = DNSTAP__DNSTAP__TYPE__MESSAGE;
    d.has_identity = d.has_version = true;
    d.identity = octets(identity, strlen(identity));
    d.version = octets(version, strlen(version));
    d.message = &m;
    size_t n = dnstap__dnstap__get_packed_size(&d);
    out->len += dnstap__dnstap__pack(&d, (uint8_t *)buf_room(out, n));
}
