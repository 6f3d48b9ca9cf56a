/** Every instance state meets every container event: the whole table, one case a state. */
#include "engine_kit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GONE (-1) /* the instance is removed */
#define SAME (-2) /* nothing happens         */

/* A readiness check of type PORT keeps RUNNING and READY apart; policy NEVER gives final states. */
#define WITH_PORT ",\"readiness_check\":{\"type\":\"PORT\",\"properties\":{\"port\":\"80\"}}"

#define WITH_DRAIN WITH_PORT ",\"configuration\":{\"properties\":{\"yarn.service.drain.seconds\":\"5\"}}"

/** hello-0 was READY when svcmgr was started again, and the cluster does not know yet whether it runs. */
static void bring_to_recovering(struct kit *k)
{
    mem_auto char *id = mem_str(kit_instance(k, "s", "hello-0")->container_id);
    kit_crash(k);
    kit_step(k, (struct eng_event){.kind = EV_RECOVERED, .container_id = id, .found = FOUND_UNKNOWN});
    kit_step(k, (struct eng_event){.kind = EV_RESUME});
}

/** Its process is being replaced by one of another version. */
static void bring_to_upgrading(struct kit *k)
{
    kit_probe(k, "s", "hello-0", true);
    k->obey = false;
    struct spec_service *spec = kit_spec_of(k, kit_spec("s", 1, "ALWAYS", WITH_PORT));
    free(spec->version);
    spec->version = mem_str("2");
    kit_ask(k, (struct eng_event){.kind = EV_UPGRADE, .name = "s", .take_spec = spec, .mode = MODE_EXPRESS});
    kit_step(k, (struct eng_event){.kind = EV_FETCHED, .user = "alice", .name = "s"});
    kit_step(k, (struct eng_event){.kind = EV_RECORD, .ticket = kit_last(k, EFF_UNPUBLISH)->ticket});
    kit_step(k, (struct eng_event){.kind = EV_SYNCED,
                                   .container_id = kit_instance(k, "s", "hello-0")->container_id});
    kit_fire(k, "s");
}

static void bring_to_draining(struct kit *k)
{
    k->obey = false;
    kit_flex(k, "s", "hello", 0);
}

/** Bring hello-0 of service `s` into a state, without obeying any further. */
static void bring_to(struct kit *k, int state)
{
    bool final = state == INST_SUCCEEDED || state == INST_FAILED;
    /* hello-1 keeps a NEVER service from ending by itself */
    kit_create(k, kit_spec("s", final ? 2 : 1, final ? "NEVER" : "ALWAYS", WITH_DRAIN), false);
    assert_int_equal(kit_state(k, "s", "hello-0"), INST_RUNNING);
    switch (state) {
    case INST_READY: kit_probe(k, "s", "hello-0", true); break;
    case INST_EXITED: kit_exit_code(k, "s", "hello-0", 1); break;
    case INST_PENDING: kit_exit_signal(k, "s", "hello-0", 9); break;
    case INST_SUCCEEDED: kit_exit_code(k, "s", "hello-0", 0); break;
    case INST_FAILED: kit_exit_code(k, "s", "hello-0", 3); break;
    case INST_RECOVERING: bring_to_recovering(k); break;
    case INST_DRAINING: bring_to_draining(k); break;
    case INST_UPGRADING: bring_to_upgrading(k); break;
    default: break;
    }
}

static void bring_slowly_to(struct kit *k, int state)
{
    k->obey = false;
    kit_create(k, kit_spec("s", 1, "ALWAYS", WITH_PORT), false);
    mem_auto char *id = mem_str(kit_instance(k, "s", "hello-0")->container_id);
    if (state == INST_REQUESTED)
        return;
    kit_step(k, (struct eng_event){.kind = EV_ALLOCATED, .container_id = id, .host = "node1"});
    if (state == INST_LAUNCHED)
        kit_step(k, (struct eng_event){.kind = EV_LAUNCHED, .container_id = id, .attempt = 1});
    if (state == INST_RELEASING)
        kit_flex(k, "s", "hello", 0);
}

enum input {
    IN_ALLOCATED,
    IN_WAITING,
    IN_LAUNCHED,
    IN_RUNNING,
    IN_EXIT_0,
    IN_EXIT_1,
    IN_KILLED,
    IN_ENDED,
    IN_LOST,
    IN_READY,
    IN_UNREADY,
    IN_ADDRESS,
    IN_SYNCED,
    N_INPUTS
};

static struct eng_event event_of(enum input in, const char *id, int64_t attempt)
{
    struct eng_event ev = {.container_id = id, .attempt = attempt, .host = "node1"};
    static const enum eng_event_kind kinds[] = {EV_ALLOCATED, EV_WAITING, EV_LAUNCHED, EV_RUNNING, EV_EXITED,
                                                EV_EXITED,    EV_EXITED,  EV_EXITED,   EV_LOST,    EV_PROBE,
                                                EV_PROBE,     EV_ADDRESS, EV_SYNCED};
    ev.kind = kinds[in];
    ev.ready = in == IN_READY;
    ev.exit = eng_exit_of(CAUSE_EXITED, in == IN_EXIT_1, NULL);
    if (in == IN_KILLED)
        ev.exit = eng_exit_of(CAUSE_SIGNALLED, 9, NULL);
    if (in == IN_ENDED)
        ev.attempt = 0;
    return ev;
}

struct row {
    int from;
    int to[N_INPUTS];
};

/* ALLOCATED WAITING LAUNCHED RUNNING EXIT_0 EXIT_1 KILLED ENDED LOST READY UNREADY ADDRESS SYNCED */
static const struct row rows[] = {
    {INST_PENDING, {SAME, SAME, SAME, SAME, SAME, SAME, SAME, SAME, SAME, SAME, SAME, SAME, SAME}},
    {INST_REQUESTED,
     {INST_ALLOCATED, SAME, SAME, SAME, SAME, SAME, SAME, SAME, SAME, SAME, SAME, SAME, SAME}},
    {INST_ALLOCATED,
     {SAME, SAME, INST_LAUNCHED, INST_RUNNING, INST_PENDING, INST_EXITED, INST_PENDING, INST_PENDING,
      INST_PENDING, SAME, SAME, INST_REQUESTED, SAME}},
    {INST_LAUNCHED,
     {SAME, SAME, SAME, INST_RUNNING, INST_PENDING, INST_EXITED, INST_PENDING, INST_PENDING, INST_PENDING,
      SAME, SAME, SAME, SAME}},
    {INST_RUNNING,
     {SAME, SAME, SAME, SAME, INST_PENDING, INST_EXITED, INST_PENDING, INST_PENDING, INST_PENDING, INST_READY,
      SAME, SAME, SAME}},
    {INST_READY,
     {SAME, SAME, SAME, SAME, INST_PENDING, INST_EXITED, INST_PENDING, INST_PENDING, INST_PENDING, SAME,
      INST_RUNNING, SAME, SAME}},
    {INST_EXITED,
     {SAME, SAME, SAME, SAME, SAME, SAME, SAME, INST_PENDING, INST_PENDING, SAME, SAME, SAME, SAME}},
    {INST_RELEASING, {SAME, SAME, SAME, SAME, GONE, GONE, GONE, GONE, GONE, SAME, SAME, SAME, SAME}},
    {INST_DRAINING, {SAME, SAME, SAME, SAME, GONE, GONE, GONE, GONE, GONE, SAME, SAME, SAME, SAME}},
    {INST_UPGRADING,
     {SAME, SAME, INST_LAUNCHED, INST_RUNNING, INST_FAILED, INST_FAILED, INST_FAILED, INST_FAILED,
      INST_PENDING, SAME, SAME, SAME, SAME}},
    {INST_RECOVERING,
     {SAME, SAME, SAME, INST_RUNNING, INST_PENDING, INST_EXITED, INST_PENDING, INST_PENDING, INST_PENDING,
      SAME, SAME, SAME, SAME}},
    {INST_SUCCEEDED, {SAME, SAME, SAME, SAME, SAME, SAME, SAME, SAME, SAME, SAME, SAME, SAME, SAME}},
    {INST_FAILED, {SAME, SAME, SAME, SAME, SAME, SAME, SAME, SAME, SAME, SAME, SAME, SAME, SAME}},
};

static void check_cell(const struct row *row, enum input in)
{
    struct kit k;
    bool slow = row->from == INST_REQUESTED || row->from == INST_ALLOCATED || row->from == INST_LAUNCHED ||
                row->from == INST_RELEASING;
    kit_start(&k, "seed");
    if (slow)
        bring_slowly_to(&k, row->from);
    else
        bring_to(&k, row->from);
    const struct eng_instance *inst = kit_instance(&k, "s", "hello-0");
    assert_int_equal(inst->state, row->from);
    k.obey = false;
    mem_auto char *id = mem_str(inst->container_id ? inst->container_id : inst->last_container_id);
    int64_t attempt = inst->attempt ? inst->attempt : 1;
    struct eng_event ev = event_of(in, id, attempt);
    mem_auto char *ip = mem_str(inst->ip);
    ev.ip = in == IN_ADDRESS ? ip : NULL;
    kit_step(&k, ev);
    int wanted = row->to[in] == SAME ? row->from : row->to[in];
    int got = kit_state(&k, "s", "hello-0");
    if (got != wanted)
        fail_msg("from %s, input %d: instance is in state %d, expected %d",
                 eng_instance_state_word((enum eng_instance_state)row->from), (int)in, got, wanted);
    kit_end(&k);
}

static void every_state_and_event(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        for (int in = 0; in < N_INPUTS; in++)
            check_cell(&rows[i], (enum input)in);
    }
}

static void an_address_of_another_program_is_given_up(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    k.obey = false;
    kit_create(&k, kit_spec("s", 1, "NEVER", ""), false);
    const struct eng_instance *inst = kit_instance(&k, "s", "hello-0");
    mem_auto char *asked_id = mem_str(inst->container_id);
    mem_auto char *first_ip = mem_str(inst->ip);
    kit_step(&k, (struct eng_event){.kind = EV_ADDRESS, .container_id = asked_id, .ip = first_ip});
    mem_auto char *held_id = mem_str(inst->container_id);
    mem_auto char *second_ip = mem_str(inst->ip);
    assert_string_not_equal(second_ip, first_ip);
    assert_string_equal(kit_last(&k, EFF_REQUEST)->request->ip, second_ip);
    assert_int_equal(inst->n_containers, 1);
    kit_step(&k, (struct eng_event){.kind = EV_ALLOCATED, .container_id = held_id, .host = "node1"});
    kit_step(&k, (struct eng_event){.kind = EV_ADDRESS, .container_id = held_id, .ip = first_ip}); /* older */
    assert_int_equal(kit_state(&k, "s", "hello-0"), INST_ALLOCATED);
    kit_step(&k, (struct eng_event){.kind = EV_ADDRESS, .container_id = held_id, .ip = second_ip});
    assert_string_equal(kit_last(&k, EFF_RELEASE)->container_id, held_id);
    assert_int_equal(kit_state(&k, "s", "hello-0"), INST_REQUESTED);
    assert_string_not_equal(inst->ip, first_ip);
    assert_string_not_equal(inst->ip, second_ip);
    assert_int_equal(inst->n_restarts, 0);
    kit_end(&k);
}

static void an_exit_of_an_earlier_start_is_ignored(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k, kit_spec("s", 1, "ALWAYS", ""), false);
    kit_exit_code(&k, "s", "hello-0", 1);
    kit_fire(&k, "s");
    const struct eng_instance *inst = kit_instance(&k, "s", "hello-0");
    assert_int_equal(inst->state, INST_READY);
    assert_int_equal(inst->attempt, 2);
    mem_auto char *id = mem_str(inst->container_id);
    kit_step(&k, (struct eng_event){.kind = EV_EXITED,
                                    .container_id = id,
                                    .attempt = 1,
                                    .exit = eng_exit_of(CAUSE_EXITED, 1, NULL)});
    assert_int_equal(kit_state(&k, "s", "hello-0"), INST_READY);
    kit_end(&k);
}

static void an_unwanted_container_is_given_back(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_step(&k, (struct eng_event){.kind = EV_ALLOCATED, .container_id = "container_1_0001_01_000009"});
    assert_int_equal(kit_count(&k, EFF_RELEASE), 1);
    kit_step(&k, (struct eng_event){.kind = EV_RUNNING, .container_id = "container_1_0001_01_000009"});
    assert_int_equal(kit_count(&k, EFF_STOP), 1);
    assert_string_equal(kit_last(&k, EFF_STOP)->container_id, "container_1_0001_01_000009");
    kit_end(&k);
}

static void a_cluster_may_name_its_containers(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    k.obey = false;
    kit_create(&k, kit_spec("s", 1, "ALWAYS", ""), false);
    int64_t request = kit_last(&k, EFF_REQUEST)->request->allocation_id;
    kit_step(&k, (struct eng_event){.kind = EV_ALLOCATED,
                                    .user = "alice",
                                    .name = "s",
                                    .allocation_id = request,
                                    .container_id = "container_e03_7_0001_01_000005",
                                    .host = "node7",
                                    .node_http = "node7:8042"});
    assert_string_equal(kit_last(&k, EFF_LAUNCH)->container_id, "container_e03_7_0001_01_000005");
    assert_string_equal(kit_instance(&k, "s", "hello-0")->bare_host, "node7");
    assert_string_equal(kit_instance(&k, "s", "hello-0")->node_http, "node7:8042");
    kit_end(&k);
}

/** The logs of the container before are on that node. */
static void the_node_of_the_last_container_is_kept(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    k.obey = false;
    kit_create(&k, kit_spec("s", 1, "ALWAYS", ""), false);
    kit_step(&k, (struct eng_event){.kind = EV_ALLOCATED,
                                    .user = "alice",
                                    .name = "s",
                                    .allocation_id = kit_last(&k, EFF_REQUEST)->request->allocation_id,
                                    .container_id = "container_e03_7_0001_01_000005",
                                    .host = "node7",
                                    .node_http = "node7:8042"});
    kit_step(&k, (struct eng_event){.kind = EV_LOST,
                                    .container_id = "container_e03_7_0001_01_000005",
                                    .text = "the node is lost"});
    const struct eng_instance *inst = kit_instance(&k, "s", "hello-0");
    assert_string_equal(inst->last_container_id, "container_e03_7_0001_01_000005");
    assert_string_equal(inst->last_node_http, "node7:8042");
    assert_null(inst->node_http);
    kit_end(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_state_and_event),
        cmocka_unit_test(an_address_of_another_program_is_given_up),
        cmocka_unit_test(an_exit_of_an_earlier_start_is_ignored),
        cmocka_unit_test(an_unwanted_container_is_given_back),
        cmocka_unit_test(a_cluster_may_name_its_containers),
        cmocka_unit_test(the_node_of_the_last_container_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
