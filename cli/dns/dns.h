/**
 * What the commands of `bobbin dns` share: dnsd's HTTP interface as its client sees it.
 *
 * Thread: main.   Source: ours; the routes are those of dnsd/api.c.
 */
#ifndef CLI_DNS_DNS_H
#define CLI_DNS_DNS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "kit/cli.h"
#include "kit/wait.h"

struct dns_client {
    struct wait wait;
    char *url; /* without slash at the end */
    int64_t timeout_ms;
};

/**
 * Begin: --url or hadoop.registry.dns.http.address, --timeout.
 *
 * @param timeout_ms  of a call when --timeout is not given
 * @param out         dns_close releases it, unless an error is returned             [out]
 * @return 0; ERR_USAGE: --timeout is no duration.
 */
int dns_open(const struct cli *cli, int64_t timeout_ms, struct dns_client *out, struct err_info *why);
/** Release. */
void dns_close(struct dns_client *d);
/**
 * One call whose answer is a JSON document.
 *
 * @param method  "GET" or "POST"
 * @param path    with query, as "/zones", quoted                                    [borrowed]
 * @param out     unchanged on error                                                 [out, new reference]
 * @return 0; as wait_http; ERR_JSON; else the error that dnsd's problem document names.
 */
int dns_call(struct dns_client *d, const char *method, const char *path, json_t **out, struct err_info *why);
/** dns_open, dns_call, dns_close for a command that makes one call within 10 s. @return as these. */
int dns_call_once(const struct cli *cli, const char *method, const char *path, json_t **out,
                  struct err_info *why);

/** One record of a zone, fields as the master file has them; they live during the callback. */
struct dns_line {
    const char *owner, *ttl, *type, *rdata;
};

/**
 * Read the records of a zone as they come; the zone is never held whole.
 *
 * @param zone    name, or NULL for the registry's zone                              [borrowed]
 * @param record  called for each; true ends the reading
 * @param arg     what it gets                                                       [borrowed]
 * @return 0: all, or as many as wanted; ERR_NOTFOUND: no such zone; ERR_PARSE: no master file; ERR_TIMEOUT: nothing came
 *         for the time of the client; as wait_http.
 */
int dns_each_record(struct dns_client *d, const char *zone,
                    bool (*record)(void *arg, const struct dns_line *line), void *arg, struct err_info *why);

#endif
