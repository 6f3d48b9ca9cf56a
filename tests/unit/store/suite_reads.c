/* Paths, get, children, ACL. */
#include "store_suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void bad_paths_never_reach_the_store(void **state)
{
    static const char *const paths[] = {"",      "a",       "/a/",   "//",    "/a//b", "/.",
                                        "/a/..", "/a/../b", "/\x01", "/\x7f", "/\xff"};
    struct kit *kit = *state;
    assert_err(kit_create(kit, "/", ""), 0);
    for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
        assert_err(kit_create(kit, paths[i], "x"), ERR_PATH);
        assert_err(kit_get(kit, paths[i]), ERR_PATH);
        assert_err(kit_set(kit, paths[i], "x", -1), ERR_PATH);
        assert_err(kit_delete(kit, paths[i], -1), ERR_PATH);
        assert_err(kit_children(kit, paths[i]), ERR_PATH);
    }
    assert_int_equal(kit_stat(kit, "/")->stat.n_children, 0);
}

void long_name_is_kept(void **state)
{
    struct kit *kit = *state;
    char path[300] = "/";
    assert_err(kit_create(kit, "/", ""), 0);
    memset(path + 1, 'n', 255);
    assert_err(kit_create(kit, path, "long"), 0);
    assert_string_equal(kit_get(kit, path)->data, "long");
    assert_int_equal(kit_children(kit, "/")->children.len, 256);
    path[256] = 'n';
    assert_err(kit_create(kit, path, "longer"), ERR_PATH);
}

void missing_node_is_named(void **state)
{
    struct kit *kit = *state;
    assert_err(kit_create(kit, "/", ""), 0);
    struct outcome *o = kit_get(kit, "/not/there");
    assert_err(o, ERR_NOTFOUND);
    assert_string_equal(o->why.where, "/not/there");
    assert_true(o->why.text[0] != '\0');
    assert_null(o->data);
    assert_err(kit_stat(kit, "/not"), ERR_NOTFOUND);
    assert_err(kit_children(kit, "/not"), ERR_NOTFOUND);
    assert_err(kit_get_acl(kit, "/not"), ERR_NOTFOUND);
}

void children_come_in_byte_order(void **state)
{
    static const char *const names[] = {"b", "a", "ab", "B", "\xc3\xa4", "0", "a b", "b-1"};
    struct kit *kit = *state;
    assert_err(kit_create(kit, "/", ""), 0);
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        mem_auto char *path = mem_fmt("/%s", names[i]);
        assert_err(kit_create(kit, path, ""), 0);
    }
    assert_err(kit_create(kit, "/a/below", ""), 0);
    struct outcome *o = kit_children(kit, "/");
    assert_err(o, 0);
    assert_int_equal(o->n_children, 8);
    assert_int_equal(o->stat.n_children, 8);
    assert_string_equal(buf_cstr(&o->children), "0\nB\na\na b\nab\nb\nb-1\n\xc3\xa4\n");
    o = kit_children(kit, "/a");
    assert_string_equal(buf_cstr(&o->children), "below\n");
    assert_int_equal(kit_children(kit, "/b")->n_children, 0);
}

void many_children_are_listed(void **state)
{
    enum { N = 3000 };
    struct kit *kit = *state;
    struct outcome *outcomes = mem_array(N, sizeof *outcomes);
    assert_err(kit_create(kit, "/", ""), 0);
    for (size_t i = 0; i < N; i++) {
        char path[32];
        snprintf(path, sizeof path, "/n%05zu", (i * 1237) % N);
        outcome_begin(&outcomes[i], kit);
        store_create(kit->store, path, "", 0, NULL, kit_done, &outcomes[i]);
    }
    kit_wait(kit);
    for (size_t i = 0; i < N; i++)
        assert_err(&outcomes[i], 0);
    free(outcomes);
    struct outcome *o = kit_children(kit, "/");
    assert_int_equal(o->n_children, N);
    assert_memory_equal(buf_cstr(&o->children), "n00000\nn00001\n", 14);
    assert_string_equal(buf_cstr(&o->children) + o->children.len - 7, "n02999\n");
}

void data_are_bytes(void **state)
{
    static const char bytes[7] = "a\0b\xff\n\0";
    struct kit *kit = *state;
    struct outcome made;
    assert_err(kit_create(kit, "/", ""), 0);
    outcome_begin(&made, kit);
    store_create(kit->store, "/a", bytes, sizeof bytes, NULL, kit_done, &made);
    kit_wait(kit);
    assert_err(&made, 0);
    struct outcome *o = kit_get(kit, "/a");
    assert_int_equal(o->data_len, 7);
    assert_memory_equal(o->data, bytes, 7);
    assert_err(kit_set(kit, "/a", "", -1), 0);
    o = kit_get(kit, "/a");
    assert_non_null(o->data);
    assert_int_equal(o->data_len, 0);
    assert_int_equal(o->stat.data_len, 0);
}

void large_data_are_kept_larger_refused(void **state)
{
    enum { LARGE = 1000 * 1000, TOO_LARGE = 1 << 20 };
    struct kit *kit = *state;
    mem_auto char *bytes = mem_alloc(TOO_LARGE);
    for (size_t i = 0; i < TOO_LARGE; i++)
        bytes[i] = (char)(i * 31 + i / 997);
    struct outcome made, refused;
    assert_err(kit_create(kit, "/", ""), 0);
    outcome_begin(&made, kit);
    outcome_begin(&refused, kit);
    store_create(kit->store, "/large", bytes, LARGE, NULL, kit_done, &made);
    store_create(kit->store, "/larger", bytes, TOO_LARGE, NULL, kit_done, &refused);
    kit_wait(kit);
    assert_err(&made, 0);
    assert_err(&refused, ERR_TOOBIG);
    assert_err(kit_create(kit, "/large/child", "x"), 0);
    struct outcome *o = kit_get(kit, "/large");
    assert_int_equal(o->data_len, LARGE);
    assert_memory_equal(o->data, bytes, LARGE);
    assert_err(kit_stat(kit, "/larger"), ERR_NOTFOUND);
}

void acl_is_kept(void **state)
{
    static const struct store_acl_entry entries[] = {
        {STORE_ALL, "world", "anyone"},
        {STORE_READ | STORE_WRITE, "digest", "alice:uK0tzZ8bQDGiQmr3VOFSnMQcVGE="},
    };
    const struct store_acl acl = {entries, 2}, shorter = {entries, 1};
    struct kit *kit = *state;
    struct outcome made;
    assert_err(kit_create(kit, "/", ""), 0);
    outcome_begin(&made, kit);
    store_create(kit->store, "/a", "data", 4, &acl, kit_done, &made);
    kit_wait(kit);
    assert_err(&made, 0);
    assert_string_equal(buf_cstr(&kit_get_acl(kit, "/a")->acl),
                        "31 world anyone\n3 digest alice:uK0tzZ8bQDGiQmr3VOFSnMQcVGE=\n");
    outcome_begin(&made, kit);
    store_set_acl(kit->store, "/a", &shorter, kit_done, &made);
    kit_wait(kit);
    assert_err(&made, 0);
    assert_string_equal(buf_cstr(&kit_get_acl(kit, "/a")->acl), "31 world anyone\n");
    assert_string_equal(kit_get(kit, "/a")->data, "data");
    assert_int_equal(kit_stat(kit, "/a")->stat.version, 0);
    outcome_begin(&made, kit);
    store_set_acl(kit->store, "/missing", &shorter, kit_done, &made);
    kit_wait(kit);
    assert_err(&made, ERR_NOTFOUND);
}

void default_acl_is_open(void **state)
{
    struct kit *kit = *state;
    assert_err(kit_create(kit, "/", ""), 0);
    assert_string_equal(buf_cstr(&kit_get_acl(kit, "/")->acl), "31 world anyone\n");
}

/** More than are under way together; each has its own answer, and sees what was written before it was asked. */
void many_reads_at_once_have_their_own_answers(void **state)
{
    enum { N = 500 };
    struct kit *kit = *state;
    struct outcome *reads = mem_array(N, sizeof *reads);
    assert_err(kit_create(kit, "/", ""), 0);
    for (int i = 0; i < N / 10; i++) {
        mem_auto char *path = mem_fmt("/%d", i);
        assert_err(kit_create(kit, path, path), 0);
    }
    for (int i = 0; i < N; i++) {
        mem_auto char *path = mem_fmt("/%d", i % (N / 5)); /* half of them are not there */
        outcome_begin(&reads[i], kit);
        if (i % 7 == 0)
            store_children(kit->store, path, kit_done, &reads[i]);
        else
            store_get(kit->store, path, kit_done, &reads[i]);
    }
    kit_wait(kit);
    for (int i = 0; i < N; i++) {
        mem_auto char *path = mem_fmt("/%d", i % (N / 5));
        bool is_there = i % (N / 5) < N / 10;
        assert_int_equal(reads[i].n_calls, 1);
        assert_err(&reads[i], is_there ? 0 : ERR_NOTFOUND);
        if (is_there && i % 7)
            assert_string_equal(reads[i].data, path);
        if (!is_there)
            assert_string_equal(reads[i].why.where, path);
        outcome_fini(&reads[i]);
    }
    free(reads);
}
