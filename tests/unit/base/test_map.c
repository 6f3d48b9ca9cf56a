#include "base/map.h"
#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void get_set_replace_remove(void **state)
{
    (void)state;
    struct map m = MAP_EMPTY;
    int one = 1, two = 2;
    assert_null(map_get(&m, "a"));
    assert_null(map_remove(&m, "a"));
    assert_null(map_set(&m, "a", &one));
    assert_ptr_equal(map_set(&m, "a", &two), &one);
    assert_ptr_equal(map_get(&m, "a"), &two);
    assert_int_equal(m.n_items, 1);
    assert_ptr_equal(map_remove(&m, "a"), &two);
    assert_null(map_get(&m, "a"));
    assert_int_equal(m.n_items, 0);
    map_fini(&m, NULL);
}

static void keys_are_copied_and_may_be_empty(void **state)
{
    (void)state;
    struct map m = MAP_EMPTY;
    int v;
    char key[] = "key";
    map_set(&m, key, &v);
    key[0] = 'X';
    assert_ptr_equal(map_get(&m, "key"), &v);
    map_set(&m, "", &v);
    assert_ptr_equal(map_get(&m, ""), &v);
    map_fini(&m, NULL);
}

static void lookup_by_length_takes_the_whole_key_only(void **state)
{
    (void)state;
    struct map m = MAP_EMPTY;
    int v;
    map_set(&m, "abc", &v);
    assert_ptr_equal(map_getn(&m, "abcdef", 3), &v);
    assert_null(map_getn(&m, "abcdef", 4));
    assert_null(map_getn(&m, "abc", 2));
    assert_null(map_getn(&m, "abc\0x", 5));
    map_fini(&m, NULL);
}

static void a_map_is_emptied_piece_by_piece(void **state)
{
    (void)state;
    enum { N = 100 };
    struct map m = MAP_EMPTY;
    int values[N] = {0}, *value;
    size_t at = 0, n = 0;
    assert_null(map_take(&m, &at));
    for (int i = 0; i < N; i++) {
        char key[16];
        snprintf(key, sizeof key, "k%d", i);
        map_set(&m, key, &values[i]);
    }
    map_remove(&m, "k7");
    while ((value = map_take(&m, &at))) {
        assert_int_equal((*value)++, 0);
        assert_int_equal(m.n_items, N - 1 - ++n);
    }
    assert_int_equal(n, N - 1);
    assert_int_equal(values[7], 0);
    assert_int_equal(at, 0);
    assert_null(m.slots); /* the leak check sees the keys */
    map_set(&m, "again", &values[0]);
    assert_ptr_equal(map_get(&m, "again"), &values[0]);
    map_fini(&m, NULL);
}

/* Insert and remove in turns: slots of removed keys must neither hide others nor make the table grow for ever. */
static void many_keys_survive_churn(void **state)
{
    (void)state;
    struct map m = MAP_EMPTY;
    char key[32];
    for (int round = 0; round < 50; round++) {
        for (int i = 0; i < 200; i++) {
            snprintf(key, sizeof key, "%d/%d", round, i);
            map_set(&m, key, mem_str(key));
        }
        for (int i = 0; i < 200 && round; i++) {
            snprintf(key, sizeof key, "%d/%d", round - 1, i);
            mem_auto char *value = map_remove(&m, key);
            assert_string_equal(value, key);
        }
        assert_int_equal(m.n_items, 200);
    }
    assert_true(m.cap <= 1024);
    size_t n = 0;
    for (MAP_EACH (&m, slot)) {
        assert_string_equal(slot->key, slot->value);
        n++;
    }
    assert_int_equal(n, 200);
    map_fini(&m, free);
    assert_int_equal(m.n_items, 0);
}

/* A key that is set or removed while a large table moves, and the walk through both tables. */
static void a_large_map_moves_piece_by_piece(void **state)
{
    (void)state;
    enum { N = 100000 };
    struct map m = MAP_EMPTY;
    char key[16];
    size_t n_moving = 0, longest = 0, moves = 0;
    static int values[N], seen[N];
    for (int i = 0; i < N; i++) {
        snprintf(key, sizeof key, "k%d", i);
        size_t before = m.old_at;
        assert_null(map_set(&m, key, &values[i]));
        n_moving = m.old ? n_moving + 1 : 0;
        longest = n_moving > longest ? n_moving : longest;
        moves += m.old && !before;
        if (m.old && i % 97 == 0) { /* one of an item that has moved, one of another: both are found */
            assert_ptr_equal(map_set(&m, "k1", &values[1]), &values[1]);
            snprintf(key, sizeof key, "k%d", i / 2);
            assert_ptr_equal(map_remove(&m, key), &values[i / 2]);
            assert_null(map_get(&m, key));
            assert_null(map_set(&m, key, &values[i / 2]));
        }
    }
    assert_true(moves > 0 && longest > N / 100); /* a move is spread over many calls */
    assert_int_equal(m.n_items, N);
    for (int i = 0; i < N; i++) {
        snprintf(key, sizeof key, "k%d", i);
        assert_ptr_equal(map_get(&m, key), &values[i]);
    }
    map_fini(&m, NULL);
    for (int i = 0; !m.old; i++) { /* stop in the middle of a move */
        snprintf(key, sizeof key, "k%d", i);
        map_set(&m, key, &seen[i]);
    }
    size_t n = m.n_items;
    for (MAP_EACH (&m, slot)) {
        assert_int_equal((*(int *)slot->value)++, 0);
        snprintf(key, sizeof key, "%s", slot->key);
        assert_non_null(map_remove(&m, key));
        n--;
    }
    assert_int_equal(n, 0);
    assert_int_equal(m.n_items, 0);
    map_fini(&m, NULL);
}

static void a_map_is_emptied_while_it_moves(void **state)
{
    (void)state;
    struct map m = MAP_EMPTY;
    char key[16];
    size_t at = 0, n = 0, n_items;
    for (int i = 0; !m.old; i++) {
        snprintf(key, sizeof key, "k%d", i);
        map_set(&m, key, &n);
    }
    n_items = m.n_items;
    mem_auto const char **keys = map_sorted_keys(&m);
    while (keys[n])
        n++;
    assert_int_equal(n, n_items);
    for (n = 0; map_take(&m, &at);)
        n++;
    assert_int_equal(n, n_items);
    assert_null(m.slots);
}

static void removing_while_walking_visits_each_once(void **state)
{
    (void)state;
    struct map m = MAP_EMPTY;
    char key[16];
    int v, n = 0;
    for (int i = 0; i < 100; i++) {
        snprintf(key, sizeof key, "k%d", i);
        map_set(&m, key, &v);
    }
    for (MAP_EACH (&m, slot)) {
        snprintf(key, sizeof key, "%s", slot->key);
        assert_ptr_equal(map_remove(&m, key), &v);
        n++;
    }
    assert_int_equal(n, 100);
    assert_int_equal(m.n_items, 0);
    map_fini(&m, NULL);
}

static void sorted_keys_are_in_byte_order(void **state)
{
    (void)state;
    struct map m = MAP_EMPTY;
    int v;
    const char *in[] = {"b", "a/b", "a", "B", "\xc3\xa4", "a.b"};
    const char *want[] = {"B", "a", "a.b", "a/b", "b", "\xc3\xa4"};
    for (int i = 0; i < 6; i++)
        map_set(&m, in[i], &v);
    mem_auto const char **keys = map_sorted_keys(&m);
    for (int i = 0; i < 6; i++)
        assert_string_equal(keys[i], want[i]);
    assert_null(keys[6]);
    map_fini(&m, NULL);
    mem_auto const char **none = map_sorted_keys(&m);
    assert_null(none[0]);
}

static void hash_depends_on_all_bytes(void **state)
{
    (void)state;
    unsigned char bytes[40] = {0};
    for (size_t n = 0; n <= sizeof bytes; n++) {
        uint64_t plain = hash_bytes(bytes, n);
        assert_true(plain == hash_bytes(bytes, n));
        for (size_t i = 0; i < n; i++) {
            bytes[i] = 1;
            assert_true(plain != hash_bytes(bytes, n));
            bytes[i] = 0;
        }
        assert_true(n == 0 || plain != hash_bytes(bytes, n - 1));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_large_map_moves_piece_by_piece),
        cmocka_unit_test(a_map_is_emptied_piece_by_piece),
        cmocka_unit_test(a_map_is_emptied_while_it_moves),
        cmocka_unit_test(get_set_replace_remove),
        cmocka_unit_test(keys_are_copied_and_may_be_empty),
        cmocka_unit_test(lookup_by_length_takes_the_whole_key_only),
        cmocka_unit_test(many_keys_survive_churn),
        cmocka_unit_test(removing_while_walking_visits_each_once),
        cmocka_unit_test(sorted_keys_are_in_byte_order),
        cmocka_unit_test(hash_depends_on_all_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
