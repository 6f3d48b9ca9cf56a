/**
 * What the tests of a link have in common: a loop, two scripted servers, one link to the first or to both, and calls whose ends are kept.
 * Thread: one.   Source: ours.
 */
#ifndef LINK_RIG_H
#define LINK_RIG_H

#include "fake_yarn.h"
#include "yarn/calls.h"

enum { RIG_N_CALLS = 4, RIG_TIMEOUT_MS = 15000 };

struct rig_call {
    struct yarn_call call;
    struct rig *rig;
    bool is_done;
    int code;
    bool is_not_done;
    char class_name[FRAME_CLASS_MAX], text[512], server[64];
    int32_t app; /* of an answer to getNewApplication */
};

struct rig {
    struct obj obj;
    struct run_loop *loop;
    struct fake_yarn *fakes[2];
    struct yarn_link *link;
    struct yarn_link_config config;
    struct yarn_token token;
    struct rig_call calls[RIG_N_CALLS];
    size_t n_done, want_done, n_reached, n_missing;
    char missing[512];                                  /* why, the last time */
    void (*on_done)(struct rig *r, struct rig_call *c); /* more to do in a callback; NULL: nothing */
    bool is_closed, is_closing;
};

int rig_set_up(void **state);
int rig_tear_down(void **state);
/** A link to the first n servers; config may be changed before. protocol: yarn_client_protocol … */
void rig_open(struct rig *r, enum fake_mode mode, size_t n, const char *protocol);
/** Start calls[i]: getNewApplication, registerApplicationMaster, allocate. */
void rig_call(struct rig *r, size_t i);
void rig_register(struct rig *r, size_t i);
void rig_allocate(struct rig *r, size_t i);
/** Close the link, whose end rig_tear_down waits for. */
void rig_close(struct rig *r);
/** Run until n calls in all have ended. */
void rig_run(struct rig *r, size_t n);
/** Answer a getNewApplication with this number. */
void rig_answer(struct rig *r, size_t fake, int32_t id, int32_t app);
/** calls[i] has ended like this. */
void rig_expect(const struct rig *r, size_t i, int code, const char *text);

#define RIG_CASE(f) cmocka_unit_test_setup_teardown(f, rig_set_up, rig_tear_down)

#endif
