/**
 * The table of properties against the contract's (tests/contract/services_properties.tsv: key, an allowed value, what becomes
 * of it; and keys of ours): no key is accepted and ignored without the table saying why.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "spec/properties.h"

static const char *const uses[] = {[SPEC_PROP_HONOURED] = "honoured",
                                   [SPEC_PROP_NO_MEANING] = "no meaning",
                                   [SPEC_PROP_REFUSED] = "refused"};

static const struct spec_prop_row *row_of(const char *key)
{
    for (size_t i = 0; i < N_SPEC_PROPS; i++) {
        if (strcmp(spec_props[i].key, key) == 0)
            return &spec_props[i];
    }
    fail_msg("%s has no row", key);
    return NULL;
}

/** Whether a service may set key to value; a refusal names the key. */
static bool may_set(const char *key, const char *value)
{
    struct err_info why = {0};
    json_t *properties = json_pack("{s:s}", key, value);
    int rc = spec_check_properties(properties, "/configuration/properties", &why);
    mem_auto char *where = spec_pointer("/configuration/properties", key);
    json_decref(properties);
    if (rc && !str_starts(why.text, where))
        fail_msg("%s=%s: the refusal does not name it: %s", key, value, why.text);
    return rc == 0;
}

static void check_values(const struct spec_prop_row *row, const char *value)
{
    bool is_refused = row->use == SPEC_PROP_REFUSED;
    if (may_set(row->key, value) == is_refused || may_set(row->key, "") == is_refused)
        fail_msg("%s=%s is %s", row->key, value, is_refused ? "accepted" : "refused");
    if (row->type != SPEC_PROP_TEXT && may_set(row->key, "maybe"))
        fail_msg("%s=maybe is accepted", row->key);
    if (row->type != SPEC_PROP_INT || is_refused)
        return;
    mem_auto char *least = mem_fmt("%lld", (long long)row->least);
    mem_auto char *most = mem_fmt("%lld", (long long)row->most);
    mem_auto char *less = mem_fmt("%lld", (long long)row->least - 1);
    mem_auto char *more = mem_fmt("%lld", (long long)row->most + 1);
    assert_true(may_set(row->key, least) && may_set(row->key, most));
    if (may_set(row->key, less) || may_set(row->key, more))
        fail_msg("%s is accepted out of its range", row->key);
}

static void every_key_of_the_contract_is_decided(void **state)
{
    (void)state;
    char line[512];
    size_t n = 0;
    FILE *f = fopen(PROPERTIES_FILE, "r");
    assert_non_null(f);
    for (; fgets(line, sizeof line, f); n++) {
        line[strcspn(line, "\n")] = '\0';
        mem_auto char *key = str_field(line, '\t', 0);
        mem_auto char *value = str_field(line, '\t', 1);
        mem_auto char *use = str_field(line, '\t', 2);
        const struct spec_prop_row *row = row_of(key);
        if (strcmp(uses[row->use], use) != 0)
            fail_msg("%s is %s, not %s", key, uses[row->use], use);
        if (row->def[0])
            assert_string_equal(row->def, value);
        assert_true(row->prose[0] != '\0');
        check_values(row, value);
    }
    fclose(f);
    assert_int_equal(n, N_SPEC_PROPS); /* and no row is beside the contract */
}

static void other_keys(void **state)
{
    (void)state;
    assert_false(may_set("yarn.service.container-failure.retry.maximum", "1"));
    assert_false(may_set("yarn.service.a/b~c", "1"));
    assert_true(may_set("my.own.key", "1"));
    assert_true(may_set("yarn.servicefoo", "1"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_key_of_the_contract_is_decided),
        cmocka_unit_test(other_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
