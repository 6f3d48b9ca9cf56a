/**
 * Ids of YARN as text: application_1700000000000_0001, appattempt_1700000000000_0001_000001 and
 * container_1700000000000_0001_01_000002, or container_e01_…, where the RM has restarted with recovery once (the epoch).
 *
 * Numbers are padded with zeros to a least width and may be wider. An epoch stands in bits 40 and up of a container's number.
 *
 * Pure. Thread: any.   Source: Hadoop, ApplicationId, ApplicationAttemptId, ContainerId.
 */
#ifndef YARN_IDS_H
#define YARN_IDS_H

#include <stdbool.h>
#include <stdint.h>

#include "records.pb-c.h"

struct yarn_app_id {
    int64_t cluster_timestamp; /* ms since 1970: when the RM that gave it out had started */
    int32_t id;
};

struct yarn_attempt_id {
    struct yarn_app_id app;
    int32_t attempt; /* from 1 */
};

struct yarn_container_id {
    struct yarn_attempt_id attempt;
    int64_t id; /* epoch << 40 | sequence number */
};

/** Room for any text, with its NUL. */
#define YARN_ID_TEXT_MAX 96

/** Write as text. @param out  room for YARN_ID_TEXT_MAX [out] @return out. */
const char *yarn_app_id_text(const struct yarn_app_id *id, char out[YARN_ID_TEXT_MAX]);
const char *yarn_attempt_id_text(const struct yarn_attempt_id *id, char out[YARN_ID_TEXT_MAX]);
const char *yarn_container_id_text(const struct yarn_container_id *id, char out[YARN_ID_TEXT_MAX]);
/** Read text. @return 0; or ERR_PARSE, *out unchanged. */
int yarn_app_id_parse(const char *text, struct yarn_app_id *out);
int yarn_attempt_id_parse(const char *text, struct yarn_attempt_id *out);
int yarn_container_id_parse(const char *text, struct yarn_container_id *out);

/** Read a message. @param m  NULL: none [borrowed] @return 0; or ERR_PARSE: a part is missing, *out unchanged. */
int yarn_app_id_read(const Yarn__ApplicationId *m, struct yarn_app_id *out);
int yarn_attempt_id_read(const Yarn__AttemptId *m, struct yarn_attempt_id *out);
int yarn_container_id_read(const Yarn__ContainerId *m, struct yarn_container_id *out);

/** An id as messages, each of which points into this one: it does not move while they are used. */
struct yarn_id_message {
    Yarn__ApplicationId app;
    Yarn__AttemptId attempt;
    Yarn__ContainerId container;
};
/** Fill app, and what is below it. */
void yarn_app_id_point(const struct yarn_app_id *id, struct yarn_id_message *out);
void yarn_attempt_id_point(const struct yarn_attempt_id *id, struct yarn_id_message *out);
void yarn_container_id_point(const struct yarn_container_id *id, struct yarn_id_message *out);

/** Whether two containers are the same. */
bool yarn_container_id_equal(const struct yarn_container_id *a, const struct yarn_container_id *b);

#endif
