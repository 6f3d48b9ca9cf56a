/**
 * The life of a framework with a power failure after each of its steps: tasks and the framework are tried as often as without one,
 * no process is started twice, no end is lost.
 */
#include <stdio.h>
#include <string.h>

#include "engine_kit.h"
#include "json/json.h"

#define STEPS_MOST 1000

struct life {
    struct kit k;
    struct map launches;   /* "container attempt" of each process that was started */
    char container_id[64]; /* whose end is reported */
    int64_t attempt;
};

static bool is_off(const struct kit *k)
{
    return k->last_step && k->n_steps >= k->last_step;
}

static void note_launches(struct life *l)
{
    for (size_t i = 0; i < l->k.effects.n; i++) {
        const struct eng_effect *e = &l->k.effects.items[i];
        if (e->kind != EFF_LAUNCH)
            continue;
        mem_auto char *key = mem_fmt("%s %lld", e->container_id, (long long)e->launch->attempt);
        map_set(&l->launches, key, &l->launches);
    }
}

/* ---- what happens to it; each may be done once more after a power failure ---- */

static void put(struct life *l, int n)
{
    struct kit *k = &l->k;
    json_auto json_t *request = json_pack("{s:i}", "n", n);
    mem_auto char *text = mem_fmt(
        "{\"name\":\"f\",\"version\":\"1\",\"components\":[{\"name\":\"w\",\"number_of_containers\":%d,"
        "\"launch_command\":\"run\",\"resource\":{\"cpus\":1,\"memory\":\"64\"}}]}",
        n);
    struct eng_rules *rules = eng_rules_new();
    rules->retry = (struct eng_retry_rule){false, 1};
    eng_rules_add(rules, "w")->retry = (struct eng_retry_rule){false, 1};
    kit_ask(k, (struct eng_event){.kind = EV_REDEFINE,
                                  .name = "f",
                                  .value = request,
                                  .take_spec = kit_spec_of(k, text),
                                  .take_rules = rules});
}

static void remember(struct life *l, const char *instance)
{
    const struct eng_instance *inst = kit_instance(&l->k, "f", instance);
    assert_non_null(inst->container_id);
    snprintf(l->container_id, sizeof l->container_id, "%s", inst->container_id);
    l->attempt = inst->attempt;
}

static void end_process(struct life *l, int code)
{
    kit_step(&l->k, (struct eng_event){.kind = EV_EXITED,
                                       .container_id = l->container_id,
                                       .attempt = l->attempt,
                                       .exit = eng_exit_of(CAUSE_EXITED, code, NULL)});
}

static void move_away(struct life *l)
{
    const char *names[] = {l->container_id};
    json_auto json_t *body = json_object();
    kit_ask(&l->k,
            (struct eng_event){.kind = EV_MIGRATE, .name = "f", .names = names, .n_names = 1, .value = body});
}

static const struct act {
    const char *instance; /* whose container is meant; NULL: none */
    int n;                /* tasks that are wanted, or exit code */
    enum { PUT, END, MOVE } kind;
} acts[] = {
    {NULL, 2, PUT},  {"w-0", 1, END}, {NULL, 3, PUT},  {"w-1", 0, MOVE},
    {"w-0", 1, END}, /* the second time: the application fails, and is tried again */
    {"w-0", 0, END}, {"w-1", 7, END}, {"w-1", 0, END}, {"w-2", 0, END},
};

static void carry_out(struct life *l, const struct act *a)
{
    switch (a->kind) {
    case PUT: put(l, a->n); break;
    case END: end_process(l, a->n); break;
    case MOVE: move_away(l); break;
    }
}

/* ---- time ---- */

/** Each task runs or has ended, and nothing waits. */
static bool is_at_rest(const struct kit *k)
{
    const struct eng_service *s = kit_service(k, "f");
    if (!s || !eng_service_is_live(s))
        return s != NULL;
    const struct eng_component *c = s->n_components ? s->components[0] : NULL;
    return s->state == SVC_STABLE && c && !s->n_migrations &&
           (int64_t)c->n_instances == c->spec->number_of_containers;
}

static void settle(struct kit *k)
{
    for (int i = 0; i < 100 && !is_off(k) && !is_at_rest(k); i++)
        kit_fire(k, "f");
    assert_true(is_off(k) || is_at_rest(k));
}

/** @param last_step  power fails after it; 0: never */
static void live(struct life *l, size_t last_step)
{
    struct kit *k = &l->k;
    *l = (struct life){.attempt = 0};
    kit_start(k, "seed");
    k->service_kind = KIND_LAUNCHER;
    k->last_step = last_step ? k->n_steps + last_step : 0;
    for (size_t i = 0; i < ARRAY_LEN(acts); i++) {
        if (acts[i].instance)
            remember(l, acts[i].instance);
        carry_out(l, &acts[i]);
        settle(k);
        note_launches(l);
        if (!is_off(k))
            continue;
        kit_crash(k);
        kit_recover(k);
        carry_out(l, &acts[i]);
        settle(k);
        note_launches(l);
    }
}

static void end_life(struct life *l)
{
    map_fini(&l->launches, NULL);
    kit_end(&l->k);
}

/* ---- what must hold ---- */

static void check(const struct life *l, size_t last_step)
{
    const struct kit *k = &l->k;
    const struct eng_service *s = kit_service(k, "f");
    const struct eng_instance *w1 = kit_instance(k, "f", "w-1");
    bool is_right = s->state == SVC_SUCCEEDED && s->incarnation == 2 && s->retries->n_counted == 1 &&
                    s->retries->n_unknown == 1 && s->retries->n_transient == 0;
    if (!is_right)
        fail_msg("after step %zu: %s, incarnation %lld, %lld retries", last_step,
                 eng_service_state_word(s->state), (long long)s->incarnation,
                 (long long)s->retries->n_counted);
    if (strcmp(kit_list(k, "f"), "w-0:SUCCEEDED w-1:SUCCEEDED w-2:SUCCEEDED") != 0)
        fail_msg("after step %zu: %s", last_step, kit_list(k, "f"));
    if (!w1->retries || w1->retries->n_counted != 1 || w1->retries->n_unknown != 1 || w1->last_exit->raw != 0)
        fail_msg("after step %zu: w-1 was tried another number of times", last_step);
    /* first: two, one again, a third, one moved; then three and one again */
    if (l->launches.n_items != 9)
        fail_msg("after step %zu: %zu processes were started, not 9", last_step, l->launches.n_items);
    assert_int_equal(json_integer_value(json_object_get(s->request, "n")), 3);
}

static void power_fails_after_each_step(void **state)
{
    (void)state;
    struct life l;
    live(&l, 0);
    size_t n = l.k.n_steps;
    check(&l, 0);
    end_life(&l);
    assert_true(n > 50 && n < STEPS_MOST);
    for (size_t last_step = 1; last_step < n; last_step++) {
        live(&l, last_step);
        check(&l, last_step);
        end_life(&l);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(power_fails_after_each_step)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
