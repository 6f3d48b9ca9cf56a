#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

#include "base/list.h"
#include "bobbin/error.h"

/* Items are pairs: a letter and how long its text was. */
struct item {
    char letter;
    unsigned len;
};

static int read_item(const char *text, void *out)
{
    struct item *item = out;
    if (*text < 'a' || *text > 'z')
        return ERR_PARSE;
    *item = (struct item){*text, (unsigned)strlen(text)};
    return 0;
}

static const struct list_kind kind = {"word", "LETTERS", 3, sizeof(struct item), read_item};

static void items_in_their_order(void **state)
{
    (void)state;
    struct item items[3];
    size_t n;
    assert_int_equal(list_read(" a, bb ,,ccc ,", &kind, items, &n, NULL), 0);
    assert_int_equal(n, 3);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(items[i].letter, "abc"[i]);
        assert_int_equal(items[i].len, i + 1);
    }
}

static void nothing_is_no_item(void **state)
{
    (void)state;
    static const char *const empty[] = {NULL, "", " ", ",", " , ,"};
    struct item items[3];
    for (size_t i = 0; i < sizeof empty / sizeof *empty; i++) {
        size_t n = 9;
        assert_int_equal(list_read(empty[i], &kind, items, &n, NULL), 0);
        assert_int_equal(n, 0);
    }
}

static void what_cannot_be_taken_is_named(void **state)
{
    (void)state;
    struct item items[3];
    struct err_info why;
    size_t n;
    assert_int_equal(list_read("a, 7x ,b", &kind, items, &n, &why), ERR_INVALID);
    assert_string_equal(why.where, "7x");
    assert_string_equal(why.text, "\"7x\" is no word: LETTERS was expected");
    assert_int_equal(list_read("a,b,c,d", &kind, items, &n, &why), ERR_INVALID);
    assert_string_equal(why.where, "d");
    assert_string_equal(why.text, "more than 3 words");
    assert_int_equal(list_read("a,b,c,", &kind, items, &n, &why), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_in_their_order),
        cmocka_unit_test(nothing_is_no_item),
        cmocka_unit_test(what_cannot_be_taken_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
