/** Names that are freer than labels become labels: see svcmgr/spec/label.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/obj.h"
#include "spec/label.h"

static void a_label_stays(void **state)
{
    (void)state;
    static const char *const names[] = {"train", "a", "a-b", "web2", "x9-y-z", "abc-xdef"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        mem_auto char *label = spec_label(names[i], SPEC_LABEL_SERVICE);
        assert_string_equal(label, names[i]);
    }
}

/** Letters, digits and "-", a letter first, none of "-" at the end, not an internationalized name. */
static void check_label(const char *name, const char *label, size_t max)
{
    size_t len = strlen(label);
    bool is_good = len > 0 && len <= max && label[0] >= 'a' && label[0] <= 'z' && label[len - 1] != '-' &&
                   strspn(label, "abcdefghijklmnopqrstuvwxyz0123456789-") == len &&
                   (len < 4 || label[2] != '-' || label[3] != '-');
    if (!is_good)
        fail_msg("%s becomes %s", name, label);
}

static void anything_else_becomes_a_label_that_begins_alike(void **state)
{
    (void)state;
    static const struct {
        const char *name, *prefix;
    } rows[] = {
        {"UA~train", "ua-train-x"},
        {"A~b._C", "a-b-c-x"},
        {"Worker", "worker-x"},
        {"9to5", "n9to5-x"},
        {"-", "n-x"},
        {"~~~", "n-x"},
        {"a-", "a-x"},
        {"xn--abc", "xn-abc-x"},
        {"a.b", "a-b-x"},
        {"_", "n-x"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        mem_auto char *label = spec_label(rows[i].name, SPEC_LABEL_SERVICE);
        check_label(rows[i].name, label, SPEC_LABEL_SERVICE);
        if (strncmp(label, rows[i].prefix, strlen(rows[i].prefix)) != 0)
            fail_msg("%s becomes %s", rows[i].name, label);
    }
}

/** Nobody can choose a name that is the label of another one. */
static void a_name_that_looks_mapped_is_mapped(void **state)
{
    (void)state;
    mem_auto char *once = spec_label("UA~train", SPEC_LABEL_SERVICE);
    mem_auto char *twice = spec_label(once, SPEC_LABEL_SERVICE);
    assert_string_not_equal(once, twice);
    check_label(once, twice, SPEC_LABEL_SERVICE);
}

static void long_names_are_cut(void **state)
{
    (void)state;
    char name[257];
    memset(name, 'a', 256);
    name[256] = '\0';
    for (size_t len = 1; len <= 256; len++) {
        const char *tail = name + 256 - len;
        mem_auto char *label = spec_label(tail, SPEC_LABEL_COMPONENT);
        check_label(tail, label, SPEC_LABEL_COMPONENT);
        assert_int_equal(strcmp(label, tail) == 0, len <= SPEC_LABEL_COMPONENT);
    }
}

static void two_names_have_two_labels(void **state)
{
    (void)state;
    static const char chars[] = "aA1-._~z";
    struct map labels = MAP_EMPTY;
    size_t n = 0;
    for (size_t number = 0; number < 8 * 8 * 8 * 8 * 8; number++) {
        char name[6] = "";
        for (size_t i = 0, rest = number; i < 5; i++, rest /= 8)
            name[i] = chars[rest % 8];
        mem_auto char *label = spec_label(name, SPEC_LABEL_LEAST);
        check_label(name, label, SPEC_LABEL_LEAST);
        if (map_set(&labels, label, &labels))
            fail_msg("%s is the label of two names, one is %s", label, name);
        n++;
    }
    assert_int_equal(labels.n_items, n);
    map_fini(&labels, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_label_stays),
        cmocka_unit_test(anything_else_becomes_a_label_that_begins_alike),
        cmocka_unit_test(a_name_that_looks_mapped_is_mapped),
        cmocka_unit_test(long_names_are_cut),
        cmocka_unit_test(two_names_have_two_labels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
