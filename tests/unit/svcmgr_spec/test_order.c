/** Start order of components: by depth, input order inside a depth. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "base/obj.h"
#include "spec/spec.h"

/* d depends on c, e on b and d; in row 4 c on e too */
static void known_orders(void **state)
{
    (void)state;
    static const struct {
        const char *input, *order; /* NULL: a cycle */
        bool cycle;
    } rows[] = {{"abc", "abc", false},
                {"cab", "cab", false},
                {"abcde", "abcde", false},
                {"edcba", "cbade", false},
                {"abcde", "Invalid dependencies, a cycle may exist: [c, d, e]", true}};
    for (size_t r = 0; r < ARRAY_LEN(rows); r++) {
        char *on_c[] = {"c"}, *on_b_d[] = {"b", "d"}, *on_e[] = {"e"};
        char names[5][2] = {{0}};
        struct spec_component components[5] = {{0}}, *list[5];
        size_t n = strlen(rows[r].input), order[5];
        for (size_t i = 0; i < n; i++) {
            names[i][0] = rows[r].input[i];
            components[i].name = names[i];
            list[i] = &components[i];
            if (names[i][0] == 'd' || names[i][0] == 'e') {
                components[i].dependencies = names[i][0] == 'd' ? on_c : on_b_d;
                components[i].n_dependencies = names[i][0] == 'd' ? 1 : 2;
            } else if (names[i][0] == 'c' && rows[r].cycle) {
                components[i].dependencies = on_e;
                components[i].n_dependencies = 1;
            }
        }
        struct spec_service s = {.components = list, .n_components = n};
        struct err_info why = {0};
        int rc = spec_order(&s, order, &why);
        assert_int_equal(rc, rows[r].cycle ? ERR_INVALID : 0);
        if (rows[r].cycle)
            assert_string_equal(why.text, rows[r].order);
        for (size_t i = 0; !rc && i < n; i++)
            assert_int_equal(list[order[i]]->name[0], rows[r].order[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(known_orders)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
