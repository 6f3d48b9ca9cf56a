/**
 * Writes that processes share, in the second tree of a store (STORE_ASIDE): what one has taken, another answers as the first did.
 *
 *     STORE_ASIDE/repeats/KEY-BODY     one write: 32 hex digits of the SHA-256 of its key, 32 of its body's
 *
 *     {"by":"…"}                                                     it is being done, or was when its process ended
 *     {"by":"…","status":201,"headers":[["ETag","…"]],…}\n<body>     it was answered so; status 0: nobody knows
 *
 * The node is made before the write is done. Who finds it waits for the answer, at most two seconds. A process removes the nodes that
 * it made when the server forgets their answers (60 s); those of a process that has ended are removed by any other that shares, once it
 * has seen them in two looks three minutes apart: no clock is compared with another host's.
 *
 * Thread: owner for everything.   Source: ours.
 */
#ifndef REPEATS_CLAIMS_H
#define REPEATS_CLAIMS_H

#include <stdint.h>

#include "http/repeats.h"
#include "run/loop.h"
#include "store/store.h"

struct claims;

struct claims_def {
    struct run_loop *loop;       /* [borrowed] */
    struct store *store;         /* store_has_aside; closed before claims_free [borrowed] */
    const struct store_acl *acl; /* of the nodes; NULL: everybody [borrowed] */
    int64_t wait_ms;             /* for the answer of another process; 0: 2000 */
    int64_t sweep_ms;            /* between two looks for what was left behind; 0: 180000 */
};

/** What writes share by this store. @param def  copied @return new. */
struct claims *claims_new(const struct claims_def *def);
/** No more calls of the store begin; releases are still taken. Before store_close. */
void claims_stop(struct claims *c);
/** Release; all claims were released, and the store is closed. */
void claims_free(struct claims *c);

/** For http_server_def: arg is a struct claims. */
extern const struct http_repeats_ops claims_ops;

#endif
