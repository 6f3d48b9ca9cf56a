/**
 * Orders: requests that the manager has taken for a service which its application master runs.
 *
 *     manager: request ──tried on what is known of the service──> answer
 *                 └──> order 7 in the document of what is wanted ──followed──> master: carried out as the request it was
 *                                                                                 └──> "ordered": 7 in the document of what is
 *     manager: drops the orders up to 7
 *
 * An order is carried out once, whoever is killed when: that it was done stands in the transaction of what it did.
 *
 * Thread: the engine's.   Source: design 5; ours.
 */
#ifndef ENGINE_ORDERS_H
#define ENGINE_ORDERS_H

#include "engine/step.h"

/** Most orders that wait for one master. */
#define ORDERS_MAX 64

struct order_flex {
    char *component;
    int64_t count;
};

/** A request as it is stored: the members of struct eng_event. */
struct eng_order {
    int64_t number;
    enum eng_event_kind kind;
    char *user;
    char **names;
    size_t n_names;
    bool are_components;
    struct order_flex **flex;
    size_t n_flex;
    int64_t lifetime_s, progress_ppm;
    char *host;
    bool excluded, auto_revert;
    enum eng_mode mode;
    struct spec_service *spec;
    struct eng_rules *rules;
    json_t *value;
    char *why; /* STOP: what the service's diagnostics say */
};

/** Add an order. @param ev  no count of it is relative; its specification and rules are taken [borrowed] @param why  of a STOP; NULL: none [copied] */
void order_give(struct step *st, struct eng_service *s, const struct eng_event *ev, const char *why);
/** Drop those that the master has carried out. */
void orders_drop_done(struct step *st, struct eng_service *s);
/** In the master: what is wanted has changed. @param doc  NULL: it is gone [borrowed] */
void orders_follow(struct step *st, struct eng_service *s, const json_t *doc);
/** In the master: carry out those that were not. */
void orders_carry_out(struct step *st, struct eng_service *s);

#endif
