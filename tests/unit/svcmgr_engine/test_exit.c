/** Typed exits: their words, how one that an earlier version stored is read, what each does to an instance of a service. */
#include <string.h>

#include "engine_kit.h"
#include "json/json.h"

static void every_cause_has_a_word_an_origin_and_a_sentence(void **state)
{
    (void)state;
    for (int c = 0; c < N_EXIT_CAUSES; c++) {
        struct eng_exit x = eng_exit_of((enum eng_exit_cause)c, 7, NULL);
        mem_auto char *text = eng_exit_text(&x);
        assert_true(strlen(eng_exit_cause_word(x.cause)) > 0);
        assert_true(strlen(eng_exit_origin_word(x.origin)) > 0);
        assert_true(strlen(text) > 0);
        for (int d = 0; d < c; d++)
            assert_string_not_equal(eng_exit_cause_word(x.cause),
                                    eng_exit_cause_word((enum eng_exit_cause)d));
    }
}

static void the_sentence_of_the_cluster_comes_first(void **state)
{
    (void)state;
    struct eng_exit x = eng_exit_of(CAUSE_EXITED, 3, NULL);
    mem_auto char *plain = eng_exit_text(&x);
    assert_string_equal(plain, "exit code 3");
    x.text = "The process ended with exit code 3.";
    mem_auto char *said = eng_exit_text(&x);
    assert_string_equal(said, "The process ended with exit code 3.");
}

/** What format 1 has stored: kind, value. */
static const struct {
    const char *text;
    enum eng_exit_cause cause;
    enum eng_exit_origin origin;
    int64_t raw;
} stored[] = {
    {"{\"kind\":\"CODE\",\"value\":3}", CAUSE_EXITED, ORIGIN_PROCESS, 3},
    {"{\"kind\":\"CODE\"}", CAUSE_EXITED, ORIGIN_PROCESS, 0},
    {"{\"kind\":\"SIGNAL\",\"value\":9}", CAUSE_SIGNALLED, ORIGIN_PROCESS, 9},
    {"{\"kind\":\"LAUNCH\",\"value\":2}", CAUSE_LAUNCH, ORIGIN_CONTAINER, 2},
    {"{\"kind\":\"LOST\"}", CAUSE_LOST, ORIGIN_CLUSTER, 0},
    {"{\"kind\":\"STOPPED\"}", CAUSE_STOPPED, ORIGIN_US, 0},
};

/** The last exit in the document of an instance, as the engine reads it. */
static void check_stored(size_t row)
{
    struct kit k;
    struct err_info why = {0};
    kit_start(&k, "seed");
    kit_create(&k, kit_spec("s", 1, "ALWAYS", ""), false);
    const char *key = "services/alice/s/hello-0";
    json_auto json_t *doc = NULL;
    json_auto json_t *exit = NULL;
    const char *text = map_get(&k.store, key);
    assert_int_equal(json_read(text, strlen(text), &doc, &why), 0);
    assert_int_equal(json_read(stored[row].text, strlen(stored[row].text), &exit, &why), 0);
    json_object_del(doc, "format");
    json_object_set(doc, "last_exit", exit);
    char *old = json_dumps(doc, JSON_COMPACT);
    char *was = map_set(&k.store, key, mem_str(old));
    free(was);
    free(old);
    kit_crash(&k);
    const struct eng_exit *x = kit_instance(&k, "s", "hello-0")->last_exit;
    assert_int_equal(x->cause, stored[row].cause);
    assert_int_equal(x->origin, stored[row].origin);
    assert_int_equal(x->raw, stored[row].raw);
    kit_end(&k);
}

static void an_exit_of_an_earlier_version_is_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(stored); i++)
        check_stored(i);
}

/** An end of the container that is not the process's own work leaves the count of failures alone. */
static void only_the_process_and_its_container_fail_a_component(void **state)
{
    (void)state;
    static const struct {
        enum eng_exit_cause cause;
        int64_t raw, n_failures;
    } rows[] = {{CAUSE_EXITED, 0, 0},          {CAUSE_EXITED, 137, 1},  {CAUSE_SIGNALLED, 9, 1},
                {CAUSE_LAUNCH, 2, 1},          {CAUSE_PREEMPTED, 0, 0}, {CAUSE_LOST, 0, 0},
                {CAUSE_MEMORY_PHYSICAL, 0, 1}, {CAUSE_ABORTED, 0, 0},   {CAUSE_DISK, 0, 0},
                {CAUSE_MEMORY_VIRTUAL, 0, 1},  {CAUSE_EXPIRED, 0, 0},   {CAUSE_PORT_CONFLICT, 0, 1},
                {CAUSE_MIGRATED, 0, 0},        {CAUSE_STOPPED, 0, 0}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct kit k;
        kit_start(&k, "seed");
        kit_create(&k, kit_spec("s", 1, "ALWAYS", ""), false);
        kit_exit(&k, "s", "hello-0", eng_exit_of(rows[i].cause, rows[i].raw, NULL));
        const struct eng_instance *inst = kit_instance(&k, "s", "hello-0");
        assert_int_equal(inst->state, INST_PENDING); /* a new container is on its way */
        assert_int_equal(inst->component->n_failures, rows[i].n_failures);
        assert_int_equal(inst->last_exit->cause, rows[i].cause);
        kit_end(&k);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_cause_has_a_word_an_origin_and_a_sentence),
        cmocka_unit_test(the_sentence_of_the_cluster_comes_first),
        cmocka_unit_test(an_exit_of_an_earlier_version_is_read),
        cmocka_unit_test(only_the_process_and_its_container_fail_a_component),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
