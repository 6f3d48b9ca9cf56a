#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

#include "base/nearest.h"

static const char *const names[] = {
    "createParents",         "create", "overwrite", "readiness_check", "ttl", "max", "hadoop.registry.store",
    "hadoop.registry.rm.url"};
#define N_NAMES (sizeof names / sizeof *names)

static void near_names_are_found(void **state)
{
    (void)state;
    static const struct {
        const char *word, *name; /* NULL: nothing is near enough */
    } rows[] = {
        {"createparents", "createParents"},
        {"CREATE_PARENTS", "createParents"},
        {"readyness_check", "readiness_check"},
        {"hadoop.registry.storee", "hadoop.registry.store"},
        {"hadoop.registry.tsore", "hadoop.registry.store"}, /* a swap is one edit */
        {"overwirte", "overwrite"},
        {"overite", "overwrite"},
        {"tll", "ttl"},
        {"TTL", "ttl"},
        {"ttl", "ttl"},
        {"mx", NULL}, /* two octets say nothing */
        {"MAX", "max"},
        {"oveite", NULL}, /* three edits of six */
        {"hadoop.registry.acl", NULL},
        {"", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *found = nearest_of(rows[i].word, names, N_NAMES);
        if (rows[i].name)
            assert_string_equal(found ? found : rows[i].word, rows[i].name);
        else
            assert_null(found);
    }
}

static void first_of_equally_near_names(void **state)
{
    (void)state;
    static const char *const twins[] = {"port-a", NULL, "port-b"};
    assert_string_equal(nearest_of("port-c", twins, 3), "port-a");
    assert_string_equal(nearest_of("port-b", twins, 3), "port-b");
    assert_null(nearest_of("port-c", NULL, 0));
}

static void long_words_are_not_compared(void **state)
{
    (void)state;
    char longest[NEAREST_MAX_LEN + 2], other[NEAREST_MAX_LEN + 2];
    memset(longest, 'a', NEAREST_MAX_LEN);
    longest[NEAREST_MAX_LEN] = '\0';
    memcpy(other, longest, sizeof longest);
    other[0] = 'b';
    const char *const one[] = {longest};
    assert_string_equal(nearest_of(other, one, 1), longest);
    memset(longest, 'a', NEAREST_MAX_LEN + 1);
    longest[NEAREST_MAX_LEN + 1] = '\0';
    assert_null(nearest_of(other, one, 1));
    assert_null(nearest_of(longest, one, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(near_names_are_found),
        cmocka_unit_test(first_of_equally_near_names),
        cmocka_unit_test(long_words_are_not_compared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
