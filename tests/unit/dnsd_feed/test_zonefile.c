/* Master files: what is loaded, and what a bad one is told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "feed/zonefile.h"
#include "wire/rdata.h"

static char dir[64];

static void write_file(const char *name, const char *text)
{
    mem_auto char *path = mem_fmt("%s/%s", dir, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static int make_dir(void **state)
{
    (void)state;
    strcpy(dir, "/tmp/bobbin-zones-XXXXXX");
    return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
    (void)state;
    static const char *const names[] = {"example.test.zone", "bad.test.zone", "notes.txt"};
    for (size_t i = 0; i < 3; i++) {
        mem_auto char *path = mem_fmt("%s/%s", dir, names[i]);
        unlink(path);
    }
    return rmdir(dir);
}

static int count(void *owner, const struct zone_rr *rr)
{
    (void)rr;
    ++*(int *)owner;
    return 0;
}

static int load(int *n_rrs, struct err_info *why)
{
    uint8_t apex[NAME_MAX_LEN], zone_name[NAME_MAX_LEN];
    name_from_text("bobbin.test.", 12, apex);
    name_from_text("example.test.", 13, zone_name);
    struct zoneset *set = zoneset_new(NULL);
    int n = zonefile_load_dir(set, dir, apex, 7, why);
    int zone = zoneset_zone(set, zone_name);
    *n_rrs = 0;
    struct zone_visitor visitor = {count, n_rrs};
    if (zone >= 0)
        zone_dump(zoneset_current(set), (unsigned)zone, &visitor);
    zoneset_free(set);
    return n;
}

static void a_good_file_is_loaded(void **state)
{
    (void)state;
    int n_rrs;
    struct err_info why = {0};
    write_file("notes.txt", "not a zone");
    write_file("example.test.zone", "$ORIGIN example.test.\n$TTL 60\n"
                                    "@ IN SOA ns hostmaster 1 2 3 4 ( 5 ) ; comment\n"
                                    "  IN NS ns\n"
                                    "ns IN A 127.0.0.1\n"
                                    "*.wild 30 IN TXT \"a b\" \"c\"\n"
                                    "outside.other. IN A 127.0.0.2\n");
    assert_int_equal(load(&n_rrs, &why), 1);
    assert_int_equal(n_rrs, 4);
}

static void expect_refusal(const char *text, const char *where, const char *what)
{
    int n_rrs;
    struct err_info why = {0};
    write_file("bad.test.zone", text);
    assert_int_equal(load(&n_rrs, &why), ERR_CONFIG);
    assert_non_null(strstr(why.where, where));
    assert_non_null(strstr(why.text, what));
}

static void a_bad_file_is_named(void **state)
{
    (void)state;
    expect_refusal("@ IN SOA ns h 1 2 3 4 5\n@ IN A not-an-address\n", "bad.test.zone:2", "");
    expect_refusal("@ IN NS ns\n", "bad.test.zone", "SOA");
    expect_refusal("@ IN SOA ns h 1 2 3 4 5\n", "bad.test.zone", "NS");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_good_file_is_loaded, make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(a_bad_file_is_named, make_dir, remove_dir),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
