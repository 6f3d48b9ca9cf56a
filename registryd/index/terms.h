/**
 * What a record can be found by, as pairs of kind and text. Pure. Thread: any.
 * Source: Hadoop ServiceRecord, YarnRegistryAttributes; YARN's text forms of ids.
 */
#ifndef INDEX_TERMS_H
#define INDEX_TERMS_H

#include <stddef.h>
#include <stdint.h>

#include "bobbin/record.h"

/** Kinds of terms. */
enum index_kind {
    INDEX_ID,    /* yarn:id, exact */
    INDEX_APP,   /* application of a yarn:id that clean-up may purge, in YARN's own text form */
    INDEX_USER,  /* element after /users/ */
    INDEX_CLASS, /* of /users/U/services/CLASS/x, /users/U/applications/CLASS/x, /users/U/CLASS/x and below */
    INDEX_COMPONENT,    /* yarn:component */
    INDEX_API,          /* api of an endpoint */
    INDEX_PROTOCOL,     /* protocolType of an endpoint; web is webui, rmi is RMI */
    INDEX_API_PROTOCOL, /* both of one endpoint: index_pair */
    INDEX_N_KINDS
};

/** yarn:persistence of a record, as far as clean-up is concerned. */
enum index_persistence { INDEX_OTHER, INDEX_APPLICATION, INDEX_ATTEMPT, INDEX_CONTAINER };

struct index_term {
    enum index_kind kind;
    char *text;
};

/** Terms of one record, none twice. */
struct index_terms {
    struct index_term *items;
    size_t n_items;
    enum index_persistence persistence;
};

/** Fill *out with the terms of a record at a path; index_terms_fini releases. */
void index_terms_read(const char *path, const struct reg_record *record, struct index_terms *out);
/** Release; empty afterwards. */
void index_terms_fini(struct index_terms *terms);

/** A protocol as it stands in INDEX_PROTOCOL: static or `protocol` itself. */
const char *index_protocol(const char *protocol);
/** Term of INDEX_API_PROTOCOL; free(). */
char *index_pair(const char *api, const char *protocol);
/** Read a value of yarn:persistence; application_attempt counts as application-attempt, NULL as INDEX_OTHER. */
enum index_persistence index_persistence_read(const char *text);
/** Its text as it is written; "" for INDEX_OTHER. Static. */
const char *index_persistence_text(enum index_persistence persistence);
/** Application of an application, attempt or container id, in YARN's text form ("container_e17_1_2_3_4" gives
 *  "application_1_0002"); NULL when the text is none of these. free(). */
char *index_app_of(const char *yarn_id);
/** Attempt of a container id ("container_e17_1_0002_03_000004" gives "appattempt_1_0002_000003"); NULL as above. free(). */
char *index_attempt_of(const char *container_id);
/** Number of the attempt in an attempt id ("appattempt_1_0002_000003" gives 3); -1 when it is none. */
int64_t index_attempt_number(const char *attempt_id);
/** When the application was submitted to which start of the RM: the first number of an id; -1 when it is none. */
int64_t index_cluster_time(const char *yarn_id);
/** The persistence that goes with an id of this form; INDEX_OTHER for another text. */
enum index_persistence index_persistence_of_id(const char *yarn_id);

#endif
