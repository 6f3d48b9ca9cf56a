/**
 * The part of svcmgr that manages applications of YARN (yarn.service.cluster=yarn). Only app*.c include this; app_manager.c has the picture.
 *
 * Thread: owner loop for everything.   Source: ours.
 */
#ifndef SVCMGR_APP_MANAGER_H
#define SVCMGR_APP_MANAGER_H

#include "engine/engine.h"
#include "http/server.h"

struct app;
struct app_manager;

/** Open a->manager, and a->cluster, which has no containers. @return 0; ERR_CONFIG, ERR_IO with *why filled */
int app_manager_open(struct app *a, struct err_info *why);
/** Close it, after a->cluster, then closed(arg). */
void app_manager_close(struct app *a, void (*closed)(void *arg), void *arg);
/** The state is loaded: follow what masters write, and watch their applications. */
void app_manager_begin(struct app *a);
/** Carry out EFF_SUBMIT, EFF_FINISH, EFF_SET_LIFETIME. */
void app_manager_submit(struct app *a, const struct eng_effect *e);
void app_manager_finish(struct app *a, const struct eng_effect *e);
void app_manager_set_lifetime(struct app *a, const struct eng_effect *e);
/** A service is to be taken back from its master, or is being: no event is taken meanwhile. */
bool app_manager_waits(const struct app *a);
/** One is being taken back: the state is busy with it. */
bool app_manager_takes(const struct app *a);
/** Begin to take one back: no step is under way. @return it goes on, or it needed no taking back and app_pump has gone on */
bool app_manager_take_back(struct app *a);
/** What node managers fetch. */
extern const struct http_route app_manager_routes[];
extern const size_t app_manager_n_routes;

#endif
