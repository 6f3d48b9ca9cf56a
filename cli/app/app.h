/**
 * What the commands of `bobbin app` share.
 *
 * Thread: main.   Source: ours.
 */
#ifndef CLI_APP_APP_H
#define CLI_APP_APP_H

#include "kit/services.h"

struct app_client {
    struct cli *cli;
    struct wait wait;
    struct services services;
};

/** Begin: --url or yarn.service.api-server.address, the user. @param out  app_close releases it [out] */
void app_open(struct cli *cli, struct app_client *out);
/** Release. */
void app_close(struct app_client *a);
/** Print a service: its state and its containers, or the document. */
void app_print(const struct cli *cli, const json_t *service);
/** Say that a change was accepted: a line, or {"change","service"}. */
void app_print_change(const struct cli *cli, const char *change, const char *name);
/** Wait for a goal with the limit of --timeout, by default 5 minutes. @param out  new reference [out] @return as services_wait. */
int app_wait(struct app_client *a, const char *name, const struct services_goal *goal, json_t **out,
             struct err_info *why);
/** app_wait for READY, then print the service. */
int app_wait_and_print(struct app_client *a, const char *name, struct err_info *why);
/** Change the state of a service. @return as services_call. */
int app_put_state(struct app_client *a, const char *name, const char *state, struct err_info *why);

#endif
