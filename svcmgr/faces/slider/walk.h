/**
 * Documents of an application with its containers, written piece by piece: 10 000 containers do not hold the loop.
 *
 *     collect (what is sorted, or counted by node; a blank each time) ──> head ──> items … ──> end
 *
 * A piece shows what is then. When the application goes meanwhile, or starts another incarnation, the document is broken off: it is no JSON.
 *
 * Thread: owner.   Source: slider-am 6.3 to 6.6, 8.
 */
#ifndef FACES_SLIDER_WALK_H
#define FACES_SLIDER_WALK_H

#include <stdbool.h>

#include "base/buf.h"
#include "slider/live.h"

enum slider_form {
    SLIDER_FORM_CONTAINERS,  /* id → ContainerInformation */
    SLIDER_FORM_COMPONENTS,  /* name → ComponentInformation without containers */
    SLIDER_FORM_COMPONENT,   /* ComponentInformation of one component */
    SLIDER_FORM_IDS,         /* sorted ids of its containers */
    SLIDER_FORM_INSTANCES,   /* index → id of its containers */
    SLIDER_FORM_NODES,       /* list of NodeInformation */
    SLIDER_FORM_NODE,        /* NodeInformation of one node */
    SLIDER_FORM_DIAGNOSTICS, /* ApplicationDiagnostics */
    SLIDER_N_FORMS
};

/** What is written of whom. All is copied, but arg, which lives as long as the walk. */
struct slider_walk_def {
    enum slider_form form;
    /** From where the service is looked at now; arg is that of the walk. */
    struct slider_look (*look)(void *arg);
    void *arg;
    enum eng_kind kind; /* of the service, with user and name */
    const char *user, *name;
    /* COMPONENT, IDS, INSTANCES: its name in the engine; NULL: of the application master */
    const char *component;
    const char *host; /* NODE: it is known to the cluster */
};

struct slider_walk;

/** A walk at its beginning. slider_walk_free. Thread: owner. */
struct slider_walk *slider_walk_new(const struct slider_walk_def *def);
/** Free; NULL is fine. Thread: owner. */
void slider_walk_free(struct slider_walk *walk);
/**
 * Append the next piece, some containers long; a blank where nothing can be written yet.
 *
 * @param out  compact JSON                                                        [in,out]
 * @return true: there is more.   Thread: owner.   Source: ours.
 */
bool slider_walk_next(struct slider_walk *walk, struct buf *out);

#endif
