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

/* ---- more members than may be visible ---- */

enum { MANY = 300, MAX = 100 };

/** What a zone has of 10.1.x.y, and how much the last change did to it. */
struct many {
    int n[MANY];
    unsigned n_visible, n_came, n_went;
};

static void on_many(void *arg, const struct zone_rr *rr, bool is_add)
{
    struct many *z = arg;
    int *n = &z->n[rr->rdata[2] << 8 | rr->rdata[3]];
    z->n_visible += is_add && !*n ? 1u : !is_add && *n == 1 ? -1u : 0;
    *n += is_add ? 1 : -1;
    assert_true(*n >= 0);
    z->n_came += is_add;
    z->n_went += !is_add;
}

static struct zone_rr many_rr(uint8_t rdata[4], int i)
{
    static const uint8_t owner[] = "\3web\4test";
    memcpy(rdata, (const uint8_t[]){10, 1, (uint8_t)(i >> 8), (uint8_t)i}, 4);
    return (struct zone_rr){owner, DNS_A, 30, rdata, 4};
}

static void change_many(struct many *z, int i, bool is_ready, bool is_add)
{
    uint8_t rdata[4];
    struct zone_rr rr = many_rr(rdata, i);
    struct shared_sink sink = {on_many, z};
    z->n_came = z->n_went = 0;
    shared_change(&names, &rr, is_ready, is_add, &sink);
}

static enum shared_state state_of(int i, bool is_ready)
{
    uint8_t rdata[4];
    struct zone_rr rr = many_rr(rdata, i);
    return shared_state(&names, &rr, is_ready);
}

/** A member that comes or goes changes one other at most; which are visible depends on the members only. */
static void more_than_the_maximum_are_cut_and_stay(void **state)
{
    (void)state;
    struct many one = {.n_visible = 0}, other = {.n_visible = 0};
    names.max_members = MAX;
    for (int i = 0; i < MANY; i++) {
        change_many(&one, i, true, true);
        assert_true(one.n_came <= 1 && one.n_went <= 1 && one.n_visible == (i < MAX ? (unsigned)i + 1 : MAX));
    }
    for (int i = 0; i < MANY; i++) {
        assert_int_equal(state_of(i, true), one.n[i] ? SHARED_VISIBLE : SHARED_SURPLUS);
        change_many(&one, i, true, true); /* a second contribution moves nobody */
        assert_int_equal(one.n_came, one.n[i] ? 1 : 0);
        assert_int_equal(one.n_went, 0);
        change_many(&one, i, true, false);
    }
    shared_fini(&names);
    for (int i = MANY; i-- > 0;)
        change_many(&other, i, true, true);
    assert_memory_equal(one.n, other.n, sizeof one.n);
    for (int i = 0; i < MANY; i++) {
        change_many(&other, i, true, false);
        unsigned left = MANY - 1u - (unsigned)i;
        assert_true(other.n_came <= 1 && other.n_went <= 1 && other.n_visible == (left < MAX ? left : MAX));
    }
    assert_int_equal(names.by_name.n_items, 0);
    names.max_members = 0;
}

static void unready_ones_are_cut_too_and_come_back(void **state)
{
    (void)state;
    struct many z = {.n_visible = 0};
    names.max_members = MAX;
    for (int i = 1; i < MANY; i++)
        change_many(&z, i, false, true);
    struct many before = z;
    assert_int_equal(z.n_visible, MAX);
    change_many(&z, 0, true, true);
    assert_true(z.n_visible == 1 && z.n[0] == 1 && state_of(7, false) == SHARED_NOT_READY);
    change_many(&z, 0, true, false);
    assert_memory_equal(z.n, before.n, sizeof z.n);
    shared_fini(&names);
    names.max_members = 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(ready_ones_hide_the_others, reset),
        cmocka_unit_test_teardown(readiness_changes, reset),
        cmocka_unit_test_teardown(more_than_the_maximum_are_cut_and_stay, reset),
        cmocka_unit_test_teardown(unready_ones_are_cut_too_and_come_back, reset),
        cmocka_unit_test_teardown(an_address_that_two_share_is_counted, reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
