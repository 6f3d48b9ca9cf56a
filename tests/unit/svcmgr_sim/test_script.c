/* Scripts: what each statement sets, and what is refused by name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/obj.h"
#include "sim/script.h"

static struct sim_script *read_script(const char *text)
{
    struct sim_script *s = NULL;
    struct err_info why = {0};
    if (sim_script_read(text, &s, &why))
        fail_msg("\"%s\": %s", text, why.text);
    return s;
}

static void every_statement_is_read(void **state)
{
    (void)state;
    struct sim_script *s = read_script("nodes 3 memory=4096 vcores=4 gpus=2 label=fast rack=/r1; nodes 2\n"
                                       "delay allocate=20 start=5ms-1s # stop=9s\n"
                                       "end exit=7 of=web-* share=12.5% after=1s-2s attempts=1;end lost\n"
                                       "unready of=db-0 share=100% after=1s for=2s-3s\n"
                                       "node-failure every=1m down=5s\n"
                                       "answers lost=0.0001% repeated=5%\n");
    assert_int_equal(s->n_groups, 2);
    assert_int_equal(s->groups[0].n, 3);
    assert_int_equal(s->groups[0].memory_mb, 4096);
    assert_int_equal(s->groups[0].amounts[0], 2);
    assert_string_equal(s->groups[0].label, "fast");
    assert_string_equal(s->groups[0].rack, "/r1");
    assert_int_equal(s->allocate.min_ms, 20);
    assert_int_equal(s->allocate.max_ms, 20);
    assert_int_equal(s->start.max_ms, 1000);
    assert_int_equal(s->stop.max_ms, 0); /* it stands in a comment */
    assert_int_equal(s->n_ends, 2);
    assert_int_equal(s->ends[0].cause, SIM_EXITED);
    assert_int_equal(s->ends[0].value, 7);
    assert_int_equal(s->ends[0].share_ppm, 125000);
    assert_int_equal(s->ends[0].attempts, 1);
    assert_int_equal(s->ends[1].cause, SIM_LOST);
    assert_int_equal(s->ends[1].share_ppm, SIM_PPM);
    assert_int_equal(s->unready[0].lasts.max_ms, 3000);
    assert_int_equal(s->failure_every.min_ms, 60000);
    assert_int_equal(s->lost_ppm, 1);
    assert_int_equal(s->repeated_ppm, 50000);
    sim_script_free(s);
}

static void without_nodes_there_are_a_hundred(void **state)
{
    (void)state;
    struct sim_script *s = read_script(NULL);
    assert_int_equal(s->n_groups, 1);
    assert_int_equal(s->groups[0].n, 100);
    sim_script_free(s);
}

static void what_cannot_be_read_is_named(void **state)
{
    (void)state;
    static const struct {
        const char *text, *named;
    } cases[] = {
        {"frobnicate", "frobnicate"},
        {"nodes", "nodes"},
        {"nodes 0", "\"0\""},
        {"nodes 5 color=red", "color=red"},
        {"nodes 5\ndelay start=2s-1s", "Statement 2"},
        {"delay sleep=1s", "sleep=1s"},
        {"end of=x", "how it ends"},
        {"end exit=256", "exit=256"},
        {"end lost share=20", "share=20"},
        {"end lost share=101%", "share=101%"},
        {"end lost share=1.00001%", "share=1.00001%"},
        {"node-failure down=1s", "every="},
        {"answers late=1%", "late=1%"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct sim_script *s = NULL;
        struct err_info why = {0};
        assert_int_equal(sim_script_read(cases[i].text, &s, &why), ERR_CONFIG);
        assert_null(s);
        if (!strstr(why.text, cases[i].named))
            fail_msg("\"%s\" is refused without naming %s: %s", cases[i].text, cases[i].named, why.text);
    }
}

static void a_rule_is_for_names_and_their_beginnings(void **state)
{
    (void)state;
    assert_true(sim_rule_is_for(NULL, NULL));
    assert_true(sim_rule_is_for("web-*", "web-12"));
    assert_true(sim_rule_is_for("web-1", "web-1"));
    assert_false(sim_rule_is_for("web-1", "web-12"));
    assert_false(sim_rule_is_for("web-*", "db-0"));
    assert_false(sim_rule_is_for("web-*", NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_statement_is_read),
        cmocka_unit_test(without_nodes_there_are_a_hundred),
        cmocka_unit_test(what_cannot_be_read_is_named),
        cmocka_unit_test(a_rule_is_for_names_and_their_beginnings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
