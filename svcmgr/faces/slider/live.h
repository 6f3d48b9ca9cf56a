/**
 * What Slider's API shows of the engine's services while they run: containers, components, nodes, liveness, statistics. A member that
 * has no value is left out. Documents of many containers are put together by walk.h.
 *
 * The application master is component slider-appmaster, with one container; in an engine without masters that container is its number 1,
 * which nothing else ever has. Services of the other APIs are shown alike.
 *
 * Pure. Thread: owner.   Source: slider-am 6, 8.3, 12.
 */
#ifndef FACES_SLIDER_LIVE_H
#define FACES_SLIDER_LIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "engine/engine.h"
#include "engine/past.h"
#include "faces/face.h"
#include "json/writer.h"

/** From where a service is looked at. All is borrowed. */
struct slider_look {
    const struct engine *e;
    int64_t now_ms;        /* engine time */
    const char *own_url;   /* "http://host:9191" of this server */
    const char *own_host;  /* its host */
    struct face_room room; /* what the cluster has left */
    bool has_logs;         /* a node without pages has its output here */
    /* of the cluster, host -> struct eng_node; NULL: those that the engine was reported */
    const struct map *nodes;
};

/** States of a container. Source: slider-am 6.3. */
enum { SLIDER_SUBMITTED = 1, SLIDER_LIVE = 3, SLIDER_STOPPED = 4 };

/* ---- numbers ---- */

/** Numbers of a component as it is now. */
struct slider_counts {
    int64_t desired, actual, requested, releasing;
    int64_t n_owned;   /* of actual: whose start was taken */
    int64_t n_live;    /* of actual: whose process runs */
    int64_t n_pending; /* of an anti-affine component: not asked for, as one is asked for at a time */
    bool is_asked;     /* of an anti-affine component: one is asked for */
};

/** Those of a component, in constant time. Source: slider-am 5.5, 6.4. */
struct slider_counts slider_counts_of(const struct eng_component *c);
/** Whether every request of a component is satisfied and every container that it holds is live. Source: slider-am 8.7. */
bool slider_component_is_settled(const struct eng_component *c);
/** The same for all components of a service. Source: slider-am 8.7. */
bool slider_is_settled(const struct eng_service *s);
/** Placement policy of a component, by its resources document. Source: slider-am 4.4. */
int64_t slider_placement_of(const struct eng_component *c);

/** A node of the cluster; NULL: there is none of that name, or it is not known. */
const struct eng_node *slider_node(const struct slider_look *look, const char *host);
/** The names of all, ascending, ended by NULL; free() the array. */
const char **slider_hosts(const struct slider_look *look);

/* ---- names ---- */

/** Whether the service has a master that is shown: it was launched and has not ended. */
bool slider_has_master(const struct eng_service *s);
/** Id of its container. free() */
char *slider_master_container(const struct eng_service *s);
/** Base URL of the API of an application: "…/proxy/application_1_1". free() */
char *slider_base_url(const struct slider_look *look, const struct eng_service *s);
/** Where the output of a container is. @param node_http  of its node; NULL: it has no pages, so we serve it   free(); NULL: nowhere */
char *slider_log_url(const struct slider_look *look, const struct eng_service *s, const char *container_id,
                     const char *node_http);
/** Whether a container of an instance is shown in live/containers. */
bool slider_has_container(const struct eng_instance *inst);
/** The number by which YARN names an end. Source: Hadoop's ContainerExitStatus. */
int64_t slider_exit_code(const struct eng_exit *x);

/** What is known of the container that an instance had before. @param out  all borrowed [out] @return false: nothing */
bool slider_last_of(const struct eng_instance *inst, struct eng_past *out);

/* ---- documents: each is written as the next value ---- */

/** ContainerInformation of an instance, which holds a container. @param is_released  it is about to be given back   Source: slider-am 6.3. */
void slider_write_container(struct jw *w, const struct slider_look *look, const struct eng_instance *inst,
                            bool is_released);
/** The same of the application master. */
void slider_write_master(struct jw *w, const struct slider_look *look, const struct eng_service *s);
/** The same of one that has ended. Source: slider-am 6.6. */
void slider_write_past(struct jw *w, const struct slider_look *look, const struct eng_service *s,
                       const struct eng_past *p);
/** Members of ComponentInformation into the open object, without `containers`. Source: slider-am 6.4. */
void slider_write_component(struct jw *w, const struct slider_look *look, const struct eng_component *c);
/** The same of the application master. */
void slider_write_master_component(struct jw *w);
/** ApplicationLivenessInformation. Source: slider-am 6.6. */
void slider_write_liveness(struct jw *w, const struct slider_look *look, const struct eng_service *s);
/** That of one component; NULL: of the application master. Source: slider-am 8.3. */
void slider_write_component_liveness(struct jw *w, const struct eng_component *c);
/** Counters. Source: slider-am 6.6. */
void slider_write_statistics(struct jw *w, const struct eng_service *s);
/** Counters of one component; NULL: of the application master. Source: slider-am 8.3. */
void slider_write_component_statistics(struct jw *w, const struct eng_component *c);
/** The members of ApplicationDiagnostics that say how it ended, into the open object; none while it runs. Source: slider-am 6.6. */
void slider_write_end(struct jw *w, const struct eng_service *s);
/** recentFailedContainers: the ids, as an array. */
void slider_write_failed(struct jw *w, const struct eng_service *s);

/** What a component has on one node. */
struct slider_on_node {
    int64_t live, starting, releasing, requested;
};
/** Count an instance where it is. @param host  [out] that, or the node that it asks for; NULL: none, nothing is counted */
void slider_count_on_node(const struct eng_instance *inst, const char **host, struct slider_on_node *n);
/**
 * NodeInformation.
 *
 * @param on   per component of the service, in its order: what it has there   [borrowed]
 * Source: slider-am 6.5.
 */
void slider_write_node(struct jw *w, const struct eng_service *s, const struct eng_node *node,
                       const struct slider_on_node *on);

/** live/resources: the resolved tree with six counters in each component. New reference. Source: slider-am 6.2. */
json_t *slider_view_resources(const struct eng_service *s);

#endif
