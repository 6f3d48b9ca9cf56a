#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "store/mirror/identity.h"

static void without_a_past_the_id_is_the_stores_own(void **state)
{
    (void)state;
    struct mirror_identity identity = {0};
    assert_int_equal(mirror_identity_adopt(&identity, "5f3a"), 0);
    assert_string_equal(identity.tree_id, "5f3a");
    assert_string_equal(identity.store_id, "5f3a");
    assert_int_equal(mirror_identity_adopt(&identity, "77"), 0);
    assert_string_equal(identity.store_id, "77");
}

static const struct mirror_past past = {.tree_id = "5f3a", .store_id = "0000000000005f3abeef", .newest = 40};

static void the_same_store_keeps_the_id_that_readers_have_seen(void **state)
{
    (void)state;
    struct mirror_identity identity = {.past = past};
    assert_int_equal(mirror_identity_adopt(&identity, "5f3a"), 40);
    assert_string_equal(identity.tree_id, "5f3a");
    assert_string_equal(identity.store_id, "0000000000005f3abeef");
}

static void another_store_has_no_past(void **state)
{
    (void)state;
    struct mirror_identity identity = {.past = past};
    assert_int_equal(mirror_identity_adopt(&identity, "77"), 0);
    assert_string_equal(identity.store_id, "77");
}

static void a_past_counts_for_the_first_store_only(void **state)
{
    (void)state;
    struct mirror_identity identity = {.past = past};
    mirror_identity_adopt(&identity, "77");
    assert_int_equal(mirror_identity_adopt(&identity, "5f3a"), 0);
    assert_string_equal(identity.store_id, "5f3a");
}

static const struct {
    const char *tree_id, *prefix;
} renewed[] = {
    {"3", "0000000000000003"},
    {"5f3a9c21b04477de", "5f3a9c21b04477de"},
};

static void a_renewed_id_is_the_stores_own_and_four_digits(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof renewed / sizeof *renewed; i++) {
        struct mirror_identity identity = {0};
        char id[STORE_REVISION_MAX], text[STORE_REVISION_MAX];
        int64_t n = 0;
        mirror_identity_adopt(&identity, renewed[i].tree_id);
        mirror_identity_renew(&identity);
        assert_int_equal(strlen(identity.store_id), 20);
        assert_memory_equal(identity.store_id, renewed[i].prefix, 16);
        assert_string_equal(identity.tree_id, renewed[i].tree_id);
        assert_int_equal(store_revision_read(store_revision_text(identity.store_id, 7, text), id, &n), 0);
        assert_string_equal(id, identity.store_id);
    }
}

static void each_renewal_gives_another_id(void **state)
{
    (void)state;
    struct mirror_identity identity = {0};
    char before[STORE_REVISION_MAX];
    mirror_identity_adopt(&identity, "3");
    for (size_t i = 0; i < 200000; i++) { /* some three of them draw the digits that are there already */
        memcpy(before, identity.store_id, sizeof before);
        mirror_identity_renew(&identity);
        assert_string_not_equal(before, identity.store_id);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_past_the_id_is_the_stores_own),
        cmocka_unit_test(the_same_store_keeps_the_id_that_readers_have_seen),
        cmocka_unit_test(another_store_has_no_past),
        cmocka_unit_test(a_past_counts_for_the_first_store_only),
        cmocka_unit_test(a_renewed_id_is_the_stores_own_and_four_digits),
        cmocka_unit_test(each_renewal_gives_another_id),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
