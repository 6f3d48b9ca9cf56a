/**
 * What a call failed with: Java's exceptions as codes of ours, and what is done about them.
 *
 * A server names the class of its exception; only that decides, never the text. One exception: YarnException and IOException are the
 * coat of others, whose class begins the text.
 *
 * Pure. Thread: any.   Source: Hadoop, org.apache.hadoop.yarn.exceptions, org.apache.hadoop.ipc, org.apache.hadoop.security.
 */
#ifndef YARN_FAILURE_H
#define YARN_FAILURE_H

#include <stdbool.h>

#include "bobbin/error.h"
#include "records.pb-c.h"
#include "yarn/frame.h"

/** What the link does before anybody else hears of it. */
enum failure_reaction {
    FAILURE_ANSWERS,    /* it is the answer of the call                                  */
    FAILURE_RETRIES,    /* the server is not ready: the same again after a pause         */
    FAILURE_FAILS_OVER, /* this server is not the active one: the next                   */
};

struct yarn_failure {
    struct err_info why;              /* where: "host:port" of the server, or ""                         */
    char class_name[FRAME_CLASS_MAX]; /* Java class of the exception; "": no server said anything        */
    bool is_not_done;                 /* the server has not carried it out, nor will it; false: unknown, */
                                      /* or it has answered                                              */
};

/**
 * Classify what a server answered.
 *
 * @param server      "host:port"                                                [borrowed]
 * @param class_name  Java class, nested classes behind '$' or '.'               [borrowed]
 * @param text        its message, one line                                      [borrowed]
 * @param out         the code of its row, ERR_INTERNAL for a class that has none [out]
 */
enum failure_reaction failure_read(const char *server, const char *class_name, const char *text,
                                   struct yarn_failure *out);
/** The same for an element of a bulk call. @param e  NULL: none was given, ERR_INTERNAL [borrowed] */
void yarn_failure_element(const char *server, const Yarn__SerializedException *e, struct yarn_failure *out);

#endif
