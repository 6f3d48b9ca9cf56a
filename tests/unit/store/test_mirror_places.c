/* The hash table of a mirror's children: what was added and not taken out is found, and nothing else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/obj.h"
#include "store/mirror/tree.h"

enum { N_PARENTS = 7, N_NAMES = 3000 };

/* Whether name i is to be there under a parent in this round. */
static bool is_there(int round, int parent, int i)
{
    return (i * 31 + parent * 17 + round * 7) % 5 < 3;
}

static const char *name_of(int i, char out[16])
{
    snprintf(out, 16, i % 2 ? "n%d" : "name-%d", i);
    return out;
}

static struct mirror_item *child(const struct mirror_tree *t, const struct mirror_item *parent,
                                 const char *name)
{
    char path[64];
    int len = snprintf(path, sizeof path, "/%s/%s and more", parent->name, name);
    return mirror_places_find(t->places, path, (size_t)len - strlen(" and more"));
}

static struct mirror_item *add(struct mirror_tree *t, struct mirror_item *parent, const char *name)
{
    char path[64];
    snprintf(path, sizeof path, "%s%s/%s", *parent->name ? "/" : "", parent->name, name);
    return mirror_tree_add(t, parent, path);
}

static void check(const struct mirror_tree *t, struct mirror_item *const parents[N_PARENTS], int round)
{
    for (int p = 0; p < N_PARENTS; p++) {
        for (int i = 0; i < N_NAMES; i++) {
            char name[16];
            name_of(i, name);
            struct mirror_item *item = child(t, parents[p], name);
            assert_int_equal(item != NULL, is_there(round, p, i));
            if (!item)
                continue;
            assert_string_equal(item->name, name);
            assert_ptr_equal(item->node.parent, &parents[p]->node);
            char path[64];
            snprintf(path, sizeof path, "/%s/%s", parents[p]->name, name);
            assert_ptr_equal(mirror_tree_find(t, path), item);
        }
        assert_null(child(t, parents[p], "name"));
        assert_null(child(t, parents[p], "name-10/x"));
        assert_null(child(t, parents[p], ""));
    }
}

static void children_are_found_under_their_parents(void **state)
{
    (void)state;
    struct mirror_tree t = {0};
    struct mirror_item *root = mirror_tree_add(&t, NULL, "/"), *parents[N_PARENTS];
    for (int p = 0; p < N_PARENTS; p++) {
        char name[24];
        snprintf(name, sizeof name, "parent%d", p);
        parents[p] = add(&t, root, name);
    }
    for (int round = 0; round < 6; round++) {
        for (int p = 0; p < N_PARENTS; p++) {
            for (int i = 0; i < N_NAMES; i++) {
                bool was = round > 0 && is_there(round - 1, p, i), is = is_there(round, p, i);
                char name[16];
                name_of(i, name);
                if (is && !was)
                    add(&t, parents[p], name);
                if (!was || is)
                    continue;
                struct mirror_item *item = child(&t, parents[p], name);
                assert_non_null(item);
                mirror_tree_remove(&t, item);
                mirror_item_free(item);
            }
        }
        check(&t, parents, round);
    }
    assert_ptr_equal(mirror_tree_find(&t, "/"), root);
    assert_ptr_equal(mirror_tree_find(&t, "/parent3"), parents[3]);
    static const char *const not_there[] = {"/parent", "/parent33", "/parent3/",     "/parent3/n",
                                            "/n1",     "/x/y",      "/parent3/n1/n1"};
    for (size_t i = 0; i < ARRAY_LEN(not_there); i++)
        assert_null(mirror_tree_find(&t, not_there[i]));
    assert_true(t.n_place_bytes <= 64 * t.n_nodes);
    mirror_tree_fini(&t);
    assert_int_equal(t.n_place_bytes, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(children_are_found_under_their_parents),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
