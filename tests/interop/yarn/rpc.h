/**
 * yarn-rpc: svcmgr/yarn on a real cluster, by hand. Each line of standard input is a command, each answered by one line of JSON; a call
 * that failed is {"error": "ERR_…", "class": …, "text": …, "not_done": …}. rpc.c has the table of commands.
 * Thread: one.   Source: ours.
 */
#ifndef RPC_H
#define RPC_H

#include "base/map.h"
#include "json/writer.h"
#include "yarn/calls.h"
#include "yarn/ids.h"

struct rpc {
    struct obj obj;
    struct run_loop *loop;
    struct conf *conf;
    char *user;
    struct sasl_wish wish;
    struct yarn_link *client, *master, *node;
    size_t n_closing;
    struct yarn_token token; /* of the master */
    struct yarn_app_id app;
    struct yarn_container_id container; /* the one that was allocated last */
    char *node_host;
    int32_t node_port;
    struct yarn_token container_token;
    struct map node_tokens; /* struct yarn_token by "host:port" */
    int32_t response_id;
    bool is_completed;   /* the container, by an allocate */
    int32_t exit_status; /* of it */
    /* the call under way */
    struct yarn_call call;
    bool is_done, has_failed;
    void (*read)(struct rpc *r, const struct yarn_answer *a);
    struct buf out;
    struct jw w;
};

#define RPC_MAGIC OBJ_MAGIC('Y', 'R', 'P', 'C')

/** Wait for the call; err: what starting it returned. The answer is printed: a failure, or what read adds to an object. */
void rpc_wait(struct rpc *r, int err, const struct err_info *why,
              void (*read)(struct rpc *r, const struct yarn_answer *a));
/** The call, ready to be started. */
struct yarn_call *rpc_begin(struct rpc *r);
enum { RPC_POLL_MS = 100, RPC_MAX_POLLS = 600 };
/** Run the loop for some ms. */
void rpc_pause(struct rpc *r, uint64_t ms);
/** Begin the printed object anew. */
void rpc_begin_output(struct rpc *r);
/** A link by its protocol; made when it is not there. */
struct yarn_link *rpc_client(struct rpc *r);
struct yarn_link *rpc_master(struct rpc *r);
/** To the node of the container; token NULL: the node's own. */
struct yarn_link *rpc_node(struct rpc *r, const struct yarn_token *token);
/** Close a link, and wait for its end; *link is NULL afterwards. */
void rpc_close(struct rpc *r, struct yarn_link **link);
/** A launch context with one command, in the caller's storage. */
void rpc_launch(Yarn__LaunchContext *out, char **command);

/* Commands: the rest of the line. */
void rpc_new(struct rpc *r, char *rest);
void rpc_submit(struct rpc *r, char *rest);
void rpc_submit_unmanaged(struct rpc *r, char *rest);
void rpc_report(struct rpc *r, char *rest);
void rpc_until_report(struct rpc *r, char *rest);
void rpc_applications(struct rpc *r, char *rest);
void rpc_attempts(struct rpc *r, char *rest);
void rpc_nodes(struct rpc *r, char *rest);
void rpc_timeout(struct rpc *r, char *rest);
void rpc_kill(struct rpc *r, char *rest);
void rpc_register(struct rpc *r, char *rest);
void rpc_ask(struct rpc *r, char *rest);
void rpc_allocate(struct rpc *r, char *rest);
void rpc_until_allocated(struct rpc *r, char *rest);
void rpc_until_completed(struct rpc *r, char *rest);
void rpc_finish(struct rpc *r, char *rest);
void rpc_start(struct rpc *r, char *rest);
void rpc_status(struct rpc *r, char *rest);
void rpc_until(struct rpc *r, char *rest);
void rpc_re_initialize(struct rpc *r, char *rest);
void rpc_roll_back(struct rpc *r, char *rest);
void rpc_commit(struct rpc *r, char *rest);
void rpc_signal(struct rpc *r, char *rest);
void rpc_stop(struct rpc *r, char *rest);
void rpc_wrong_token(struct rpc *r, char *rest);

#endif
