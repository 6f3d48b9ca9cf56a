/* Shared names: an unready record is visible only when no ready one is left. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "names/shared.h"
#include "wire/rdata.h"

/* How often each address 10.0.0.i is in the zone now. */
struct zone_copy {
    int n[8];
};

static void on_rr(void *arg, const struct zone_rr *rr, bool is_add)
{
    struct zone_copy *z = arg;
    assert_int_equal(rr->type, DNS_A);
    z->n[rr->rdata[3]] += is_add ? 1 : -1;
    assert_true(z->n[rr->rdata[3]] >= 0);
}

static struct shared_names names;
static struct zone_copy zone;

static void change(uint8_t i, bool is_ready, bool is_add)
{
    uint8_t owner[NAME_MAX_LEN], rdata[4] = {10, 0, 0, i};
    /* The same name in any case. */
    assert_true(name_from_text(i % 2 ? "Web.Test." : "web.test.", 9, owner) > 0);
    struct zone_rr rr = {owner, DNS_A, 30, rdata, 4};
    struct shared_sink sink = {on_rr, &zone};
    shared_change(&names, &rr, is_ready, is_add, &sink);
}

static void expect(const char *shown)
{
    for (int i = 0; i < 8; i++)
        assert_int_equal(zone.n[i], shown[i] == ' ' ? 0 : shown[i] - '0');
}

static int reset(void **state)
{
    (void)state;
    shared_fini(&names);
    memset(&zone, 0, sizeof zone);
    return 0;
}

static void ready_ones_hide_the_others(void **state)
{
    (void)state;
    change(1, false, true);
    change(2, false, true);
    expect(" 11     ");
    change(3, true, true);
    expect("   1    ");
    change(4, true, true);
    change(5, false, true);
    expect("   11   ");
    change(3, true, false);
    expect("    1   ");
    change(4, true, false);
    expect(" 11  1  ");
}

static void readiness_changes(void **state)
{
    (void)state;
    change(1, false, true);
    change(2, true, true);
    change(1, false, false);
    change(1, true, true);
    expect(" 11     ");
    change(2, true, false);
    change(2, false, true);
    expect(" 1      ");
}

static void an_address_that_two_share_is_counted(void **state)
{
    (void)state;
    change(1, false, true);
    change(1, false, true);
    expect(" 2      ");
    change(2, true, true);
    expect("  1     ");
    change(1, false, false);
    change(2, true, false);
    expect(" 1      ");
    change(1, false, false);
    expect("        ");
    assert_int_equal(names.by_name.n_items, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(ready_ones_hide_the_others, reset),
        cmocka_unit_test_teardown(readiness_changes, reset),
        cmocka_unit_test_teardown(an_address_that_two_share_is_counted, reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
