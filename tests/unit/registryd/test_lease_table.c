/* What a keeper holds in memory: time is a number here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/mem.h"
#include "lease/table.h"

#define OWNER "0123456789abcdef0123456789abcdef"
#define OTHER "ffffffffffffffffffffffffffffffff"

static int64_t last_zxid;

static struct lease_record *add(struct lease_table *t, const char *owner, const char *path, int64_t ttl_ms,
                                int64_t now_ms)
{
    char name[64];
    struct lease_record *older = NULL;
    snprintf(name, sizeof name, "%s%016lld", owner, (long long)++last_zxid);
    const struct lease_def def = {owner, name, path, ttl_ms, last_zxid, false};
    struct lease_record *r = lease_table_add(t, &def, now_ms, &older);
    assert_null(older);
    return r;
}

static void a_record_is_due_after_its_ttl(void **state)
{
    struct lease_table t = {0};
    (void)state;
    assert_int_equal(lease_table_due_ms(&t), INT64_MAX);
    struct lease_record *r = add(&t, OWNER, "/a", 100, 1000);
    assert_null(lease_table_next(&t, 1099));
    assert_ptr_equal(lease_table_next(&t, 1100), r);
    assert_ptr_equal(lease_table_next(&t, 1100), r); /* until it is ended */
    lease_table_state(&t, r, LEASE_ENDED);
    assert_null(lease_table_next(&t, 5000));
    assert_int_equal(t.n_living, 0);
    lease_table_fini(&t);
}

static void a_renewal_is_for_all_records_of_the_owner(void **state)
{
    struct lease_table t = {0};
    (void)state;
    struct lease_record *one = add(&t, OWNER, "/a", 100, 0), *two = add(&t, OWNER, "/b", 300, 0);
    struct lease_record *foreign = add(&t, OTHER, "/c", 100, 0);
    assert_non_null(lease_table_renew(&t, OWNER, 50));
    assert_null(lease_table_renew(&t, "nobody", 50));
    assert_ptr_equal(lease_table_next(&t, 149), foreign);
    lease_table_remove(&t, foreign);
    assert_null(lease_table_next(&t, 149));
    assert_ptr_equal(lease_table_next(&t, 150), one);
    lease_table_remove(&t, one);
    assert_ptr_equal(lease_table_next(&t, 350), two);
    lease_table_remove(&t, two);
    assert_null(lease_table_renew(&t, OWNER, 400)); /* gone with its last record */
    lease_table_fini(&t);
}

static void a_grant_is_for_all_also_for_those_that_were_to_end(void **state)
{
    struct lease_table t = {0};
    (void)state;
    struct lease_record *one = add(&t, OWNER, "/a", 100, 0), *marked = add(&t, OTHER, "/b", 100, 0);
    lease_table_state(&t, one, LEASE_ENDING);
    lease_table_state(&t, marked, LEASE_ENDING);
    marked->is_marked = true;
    one->is_reported = marked->is_reported = true;
    lease_table_grant(&t, 500);
    assert_int_equal(one->state, LEASE_LIVING);
    assert_false(one->is_reported); /* its end will be another one */
    assert_true(marked->is_reported);
    assert_int_equal(marked->state, LEASE_ENDING); /* that is durable */
    assert_ptr_equal(lease_table_next(&t, 599), marked);
    lease_table_remove(&t, marked);
    assert_null(lease_table_next(&t, 599));
    assert_ptr_equal(lease_table_next(&t, 600), one);
    lease_table_fini(&t);
}

static void put_off_is_not_before(void **state)
{
    struct lease_table t = {0};
    (void)state;
    struct lease_record *r = add(&t, OWNER, "/a", 100, 0);
    lease_table_put_off(&t, r, 1000);
    assert_null(lease_table_next(&t, 999));
    assert_int_equal(lease_record_due_ms(&t, r), 1000);
    assert_ptr_equal(lease_table_next(&t, 1000), r);
    lease_table_state(&t, r, LEASE_ENDING);
    lease_table_put_off(&t, r, 2000);
    assert_null(lease_table_next(&t, 1999));
    assert_ptr_equal(lease_table_next(&t, 2000), r);
    lease_table_fini(&t);
}

static void of_two_records_of_a_path_the_later_one_counts(void **state)
{
    struct lease_table t = {0};
    struct lease_record *older = NULL;
    (void)state;
    struct lease_record *one = add(&t, OWNER, "/a", 100, 0);
    const struct lease_def later = {OTHER, OTHER "0000000000000001", "/a", 100, one->zxid + 2, false};
    struct lease_record *two = lease_table_add(&t, &later, 0, &older);
    assert_ptr_equal(older, one);
    assert_ptr_equal(lease_table_at(&t, "/a"), two);
    const struct lease_def between = {OTHER, OTHER "0000000000000002", "/a", 100, one->zxid + 1, false};
    struct lease_record *three = lease_table_add(&t, &between, 0, &older);
    assert_ptr_equal(older, three);
    assert_ptr_equal(lease_table_add(&t, &later, 0, &older), two);
    assert_null(older); /* it was there */
    last_zxid += 2;
    lease_table_fini(&t);
}

static void below_is_below(void **state)
{
    struct lease_table t = {0};
    (void)state;
    add(&t, OWNER, "/a", 100, 0);
    add(&t, OWNER, "/ab", 100, 0);
    assert_false(lease_table_has_below(&t, "/a"));
    struct lease_record *r = add(&t, OWNER, "/a/b/c", 100, 0);
    assert_true(lease_table_has_below(&t, "/a"));
    lease_table_state(&t, r, LEASE_LOST);
    assert_false(lease_table_has_below(&t, "/a"));
    lease_table_fini(&t);
}

/* Every record becomes due at its time and in order, whatever is renewed, removed and granted meanwhile. */
static void random_work_keeps_the_order(void **state)
{
    enum { N = 300, STEPS = 20000 };
    struct lease_table t = {0};
    struct lease_record *records[N] = {NULL};
    int64_t now_ms = 0;
    uint32_t random = 7;
    (void)state;
    for (int i = 0; i < STEPS; i++) {
        random = random * 1664525u + 1013904223u;
        size_t at = (random >> 8) % N;
        char owner[33], path[16];
        snprintf(owner, sizeof owner, "%032zx", at / 10);
        snprintf(path, sizeof path, "/%zu", at);
        if (!records[at])
            records[at] = add(&t, owner, path, 1 + (random >> 20) % 200, now_ms);
        else if (random % 7 == 0)
            lease_table_renew(&t, owner, now_ms);
        else if (random % 911 == 0)
            lease_table_grant(&t, now_ms);
        else
            now_ms += random % 4;
        for (struct lease_record *r; (r = lease_table_next(&t, now_ms));) {
            assert_true(lease_record_due_ms(&t, r) <= now_ms);
            records[strtoul(r->path + 1, NULL, 10)] = NULL;
            lease_table_remove(&t, r);
        }
        for (size_t k = 0; k < N; k++)
            assert_true(!records[k] || lease_record_due_ms(&t, records[k]) > now_ms);
    }
    lease_table_fini(&t);
    assert_int_equal(t.n_living, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_record_is_due_after_its_ttl),
        cmocka_unit_test(a_renewal_is_for_all_records_of_the_owner),
        cmocka_unit_test(a_grant_is_for_all_also_for_those_that_were_to_end),
        cmocka_unit_test(put_off_is_not_before),
        cmocka_unit_test(of_two_records_of_a_path_the_later_one_counts),
        cmocka_unit_test(below_is_below),
        cmocka_unit_test(random_work_keeps_the_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
