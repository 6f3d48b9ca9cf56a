/* Master files: what is read, and what is reported of a bad one. */
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

#include "base/buf.h"
#include "base/mem.h"
#include "masters/text.h"
#include "masters/zonefile.h"

#define HEAD "@ IN SOA ns hostmaster 7 2 3 4 500\n  IN NS ns\n"

static char dir[64];
static const char *const names[] = {"example.test.zone", "part.inc", "deep.inc"};

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
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        mem_auto char *path = mem_fmt("%s/%s", dir, names[i]);
        unlink(path);
    }
    return rmdir(dir);
}

static void add_text(void *arg, const struct zone_rr *rr)
{
    rr_text(rr, arg);
}

struct got {
    struct buf text, stamp;
    unsigned n_outside;
    uint32_t serial;
    struct err_info why;
};

static int read_zone(const char *text, struct got *got)
{
    uint8_t apex[NAME_MAX_LEN];
    struct zonefile file;
    *got = (struct got){.n_outside = 0};
    write_file(names[0], text);
    mem_auto char *path = mem_fmt("%s/%s", dir, names[0]);
    assert_int_equal(zonefile_apex(names[0], apex), 0);
    int err = zonefile_read(path, apex, &file, &got->stamp, &got->why);
    rrlist_each(&file.rrs, add_text, &got->text);
    got->n_outside = file.n_outside;
    got->serial = file.serial;
    rrlist_fini(&file.rrs);
    return err;
}

static void got_fini(struct got *got)
{
    buf_fini(&got->text);
    buf_fini(&got->stamp);
}

/* The records after SOA and NS. */
static void expect(const char *text, const char *want)
{
    struct got got;
    mem_auto char *whole = mem_fmt(HEAD "%s", text);
    if (read_zone(whole, &got))
        fail_msg("%s: %s", got.why.where, got.why.text);
    const char *rest = strchr(strchr(buf_cstr(&got.text), '\n') + 1, '\n') + 1;
    assert_string_equal(rest, want);
    got_fini(&got);
}

static void every_form_is_read(void **state)
{
    (void)state;
    expect("$TTL 1h\nns IN A 127.0.0.1\n", "ns.example.test.\t3600\tIN\tA\t127.0.0.1\n");
    expect("$ttl 60\na 30 IN A 10.0.0.1\n  A 10.0.0.2\n",
           "a.example.test.\t30\tIN\tA\t10.0.0.1\na.example.test.\t60\tIN\tA\t10.0.0.2\n");
    expect("a IN 30 A 10.0.0.1\nb A 10.0.0.2\n",
           "a.example.test.\t30\tIN\tA\t10.0.0.1\nb.example.test.\t30\tIN\tA\t10.0.0.2\n");
    expect("a A 10.0.0.1 ; no TTL anywhere: the SOA's minimum\n", "a.example.test.\t500\tIN\tA\t10.0.0.1\n");
    expect("$TTL 9\n$ORIGIN sub\na A 10.0.0.1\n$ORIGIN example.test.\na CNAME @\n",
           "a.sub.example.test.\t9\tIN\tA\t10.0.0.1\na.example.test.\t9\tIN\tCNAME\texample.test.\n");
    expect("$TTL 9\nt TXT ( \"a;(b\" ; comment )\n  \"c\\\"d\" )\n",
           "t.example.test.\t9\tIN\tTXT\t\"a;(b\" \"c\\\"d\"\n");
    expect("$TTL 9\nx TYPE65400 \\# 4 0a000001\n", "x.example.test.\t9\tIN\tTYPE65400\t\\# 4 0a000001\n");
    expect("$TTL 9\r\n*.wild A 10.0.0.1\r\nsub NS ns.sub\r\nold DNAME new\r\n",
           "*.wild.example.test.\t9\tIN\tA\t10.0.0.1\nsub.example.test.\t9\tIN\tNS\tns.sub.example.test.\n"
           "old.example.test.\t9\tIN\tDNAME\tnew.example.test.\n");
}

/** Names are written so that BIND, Knot and ldns read them, too; what is written is read back equal. */
static void names_are_escaped(void **state)
{
    (void)state;
    static const char want[] =
        "\\034\\036\\064\\046\\092\\091.example.test.\t500\tIN\tSRV\t1 1 7 a\\034b.example.test.\n"
        "a-_*/Z.example.test.\t500\tIN\tTXT\t\"a \\\"b\\\" \\\\\"\n";
    expect("\\\"\\$\\@\\.\\\\\\091 SRV 1 1 7 a\\\"b\na-_*/Z TXT \"a \\\"b\\\" \\\\\"\n", want);
    expect(want, want);
}

/** RFC 1035 5.1 and RFC 3597 5, one line of it a case; what is read is written in one form. */
static void forms_of_records(void **state)
{
    (void)state;
    static const struct {
        const char *text, *want;
    } cases[] = {
        {"$TTL 1w2d3h4m5s\na A 10.0.0.1\n", "a.example.test.\t788645\tIN\tA\t10.0.0.1\n"},
        {"a 1h30m A 10.0.0.1\n", "a.example.test.\t5400\tIN\tA\t10.0.0.1\n"},
        {"a 1D IN A 10.0.0.1\n", "a.example.test.\t86400\tIN\tA\t10.0.0.1\n"},
        {"a IN 1d A 10.0.0.1\n", "a.example.test.\t86400\tIN\tA\t10.0.0.1\n"},
        {"a in a 10.0.0.1\n", "a.example.test.\t500\tIN\tA\t10.0.0.1\n"},
        {"a 0 A 10.0.0.1\n", "a.example.test.\t0\tIN\tA\t10.0.0.1\n"},
        {"a 7 A 10.0.0.1\n IN A 10.0.0.2\n\t A 10.0.0.3\n",
         "a.example.test.\t7\tIN\tA\t10.0.0.1\na.example.test.\t7\tIN\tA\t10.0.0.2\n"
         "a.example.test.\t7\tIN\tA\t10.0.0.3\n"},
        {"@ 7 MX 10 @\n", "example.test.\t7\tIN\tMX\t10 example.test.\n"},
        {"whole.example.test. 7 CNAME rel\n", "whole.example.test.\t7\tIN\tCNAME\trel.example.test.\n"},
        {"a\\.b 7 A 10.0.0.1\n", "a\\046b.example.test.\t7\tIN\tA\t10.0.0.1\n"},
        {"a\\046b 7 A 10.0.0.1\n", "a\\046b.example.test.\t7\tIN\tA\t10.0.0.1\n"},
        {"a\\032b 7 A 10.0.0.1\n", "a\\032b.example.test.\t7\tIN\tA\t10.0.0.1\n"},
        {"t 7 TXT one two\n", "t.example.test.\t7\tIN\tTXT\t\"one\" \"two\"\n"},
        {"t 7 TXT \"one two\" three \"\"\n", "t.example.test.\t7\tIN\tTXT\t\"one two\" \"three\" \"\"\n"},
        {"t 7 TXT \"a\\\"b\\\\c\\233\"\n", "t.example.test.\t7\tIN\tTXT\t\"a\\\"b\\\\c\\233\"\n"},
        {"t 7 TXT a\\;b ; comment\n", "t.example.test.\t7\tIN\tTXT\t\"a;b\"\n"},
        {"t 7 TXT ( a\n b ; (not this)\n\n c )\n", "t.example.test.\t7\tIN\tTXT\t\"a\" \"b\" \"c\"\n"},
        {"s 7 SRV ( 1\n 2 ) ( 80 host )\n", "s.example.test.\t7\tIN\tSRV\t1 2 80 host.example.test.\n"},
        {"a 7 AAAA ::FFFF:10.0.0.1\n", "a.example.test.\t7\tIN\tAAAA\t::ffff:10.0.0.1\n"},
        {"x 7 TYPE65400 \\# 0\n", "x.example.test.\t7\tIN\tTYPE65400\t\\# 0\n"},
        {"x 7 TYPE65400 \\# 3 (\n 01 02\n 03 )\n", "x.example.test.\t7\tIN\tTYPE65400\t\\# 3 010203\n"},
        {"x 7 TYPE1 \\# 4 0a000001\n", "x.example.test.\t7\tIN\tA\t10.0.0.1\n"},
        {"x 7 A \\# 4 0a000001\n", "x.example.test.\t7\tIN\tA\t10.0.0.1\n"},
        {"x 7 CLASS1 TYPE65400 \\# 1 ff\n", "x.example.test.\t7\tIN\tTYPE65400\t\\# 1 ff\n"},
        {"x 7 CAA 0 issue \"ca.test\"\n", "x.example.test.\t7\tIN\tCAA\t0 issue \"ca.test\"\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect(cases[i].text, cases[i].want);
}

static void generate_makes_records(void **state)
{
    (void)state;
    expect("$TTL 9\n$GENERATE 1-5/2 host$ A 10.0.0.$\n",
           "host1.example.test.\t9\tIN\tA\t10.0.0.1\nhost3.example.test.\t9\tIN\tA\t10.0.0.3\n"
           "host5.example.test.\t9\tIN\tA\t10.0.0.5\n");
    expect("$TTL 9\n$GENERATE 10-11 h-${-8,3,d} A 10.0.0.$\n",
           "h-002.example.test.\t9\tIN\tA\t10.0.0.10\nh-003.example.test.\t9\tIN\tA\t10.0.0.11\n");
}

static void records_outside_are_dropped(void **state)
{
    (void)state;
    struct got got;
    assert_int_equal(read_zone(HEAD "outside.other. A 10.0.0.1\n", &got), 0);
    assert_int_equal(got.n_outside, 1);
    assert_int_equal(got.serial, 7);
    got_fini(&got);
}

static void includes_are_read_in_place(void **state)
{
    (void)state;
    write_file("deep.inc", "deep A 10.0.0.3\n");
    write_file("part.inc", "a A 10.0.0.1\n$INCLUDE deep.inc\n$ORIGIN other.example.test.\nb A 10.0.0.2\n");
    expect("$TTL 9\n$INCLUDE part.inc part\nafter A 10.0.0.4\n",
           "a.part.example.test.\t9\tIN\tA\t10.0.0.1\ndeep.part.example.test.\t9\tIN\tA\t10.0.0.3\n"
           "b.other.example.test.\t9\tIN\tA\t10.0.0.2\nafter.example.test.\t9\tIN\tA\t10.0.0.4\n");
}

static void a_stamp_sees_every_file(void **state)
{
    (void)state;
    struct got got;
    write_file("part.inc", "a A 10.0.0.1\n");
    assert_int_equal(read_zone(HEAD "$INCLUDE part.inc\n", &got), 0);
    assert_true(zonefile_is_current(buf_cstr(&got.stamp)));
    write_file("part.inc", "a A 10.0.0.1 ; longer\n");
    assert_false(zonefile_is_current(buf_cstr(&got.stamp)));
    got_fini(&got);
}

static void expect_refusal(const char *text, const char *where, const char *what)
{
    struct got got;
    assert_int_equal(read_zone(text, &got), ERR_CONFIG);
    if (!strstr(got.why.where, where) || !strstr(got.why.text, what))
        fail_msg("%s: %s", got.why.where, got.why.text);
    assert_int_equal(got.why.where[strlen(got.why.where) - strlen(where)], *where);
    assert_true(got.stamp.len);
    got_fini(&got);
}

static void a_bad_file_is_named_with_its_line(void **state)
{
    (void)state;
    expect_refusal(HEAD "@ IN A not-an-address\n", "example.test.zone:3", "");
    expect_refusal(HEAD "a A 10.0.0.1\n\nt TXT ( \"x\"\n", "example.test.zone:5", "parenthesis");
    expect_refusal(HEAD "t TXT \"x\n", "example.test.zone:3", "quote");
    expect_refusal(HEAD "$TTL soon\n", "example.test.zone:3", "$TTL");
    expect_refusal(HEAD "$FOO bar\n", "example.test.zone:3", "directive");
    expect_refusal(HEAD "a CH A 10.0.0.1\n", "example.test.zone:3", "");
    expect_refusal(HEAD "$GENERATE 1-2 h${9223372036854775807} A 10.0.0.1\n", "example.test.zone:3",
                   "offset");
    expect_refusal(HEAD "$GENERATE 1-2 h${0,4294967297} A 10.0.0.1\n", "example.test.zone:3", "width");
    expect_refusal(HEAD "$GENERATE 9223372036854775806-9223372036854775807 h A 10.0.0.1\n",
                   "example.test.zone:3", "start-stop");
    expect_refusal(HEAD "$GENERATE 0-1/9223372036854775807 h A 10.0.0.1\n", "example.test.zone:3",
                   "start-stop");
    expect_refusal(HEAD "$INCLUDE nowhere.inc\n", "example.test.zone:3", "nowhere.inc");
    expect_refusal(HEAD "x TYPE0 \\# 0\n", "example.test.zone:3", "");
    expect_refusal(HEAD "x ANY \\# 0\n", "example.test.zone:3", "");
    expect_refusal("@ IN NS ns\n", "example.test.zone", "SOA");
    expect_refusal("@ IN SOA ns h 1 2 3 4 5\n", "example.test.zone", "NS");
    write_file("part.inc", "a A 10.0.0.1\nb A nonsense\n");
    expect_refusal(HEAD "$INCLUDE part.inc\n", "part.inc:2", "");
    write_file("part.inc", "$INCLUDE part.inc\n");
    expect_refusal(HEAD "$INCLUDE part.inc\n", "part.inc:1", "deep");
}

static void records_that_cannot_stand_together_are_refused(void **state)
{
    (void)state;
    expect_refusal(HEAD "a CNAME b\nc A 10.0.0.1\nA.example.test. TXT x\n", "example.test.zone:5",
                   "no other");
    expect_refusal(HEAD "a A 10.0.0.1\nc A 10.0.0.1\na CNAME b\n", "example.test.zone:5", "no other");
    expect_refusal(HEAD "a CNAME b\na CNAME c\n", "example.test.zone:4", "one CNAME");
    expect_refusal(HEAD "@ CNAME b\n", "example.test.zone:3", "apex");
    expect_refusal(HEAD "a DNAME b\na DNAME c\n", "example.test.zone:4", "one DNAME");
    expect_refusal(HEAD "$GENERATE 1-2 a CNAME b$\n", "example.test.zone:3", "one CNAME");
    write_file("part.inc", "\na CNAME b\n");
    expect_refusal(HEAD "a A 10.0.0.1\n$INCLUDE part.inc\n", "part.inc:2", "no other");
    write_file("part.inc", "\n\nb A 10.0.0.1\n");
    expect_refusal(HEAD "a CNAME b\n$INCLUDE part.inc\na A 10.0.0.1\n", "example.test.zone:5", "no other");
    expect(
        "a CNAME b\na CNAME B\nd DNAME b\nd A 10.0.0.1\n@ DNAME b.d\n",
        "a.example.test.\t500\tIN\tCNAME\tb.example.test.\na.example.test.\t500\tIN\tCNAME\tB.example.test.\n"
        "d.example.test.\t500\tIN\tDNAME\tb.example.test.\nd.example.test.\t500\tIN\tA\t10.0.0.1\n"
        "example.test.\t500\tIN\tDNAME\tb.d.example.test.\n");
}

static void a_name_that_its_origin_makes_too_long_is_refused(void **state)
{
    (void)state;
    static const char label[] =
        "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz"; /* 52 octets: five are too many */
    struct buf text = BUF_EMPTY;
    buf_addf(&text, HEAD "$ORIGIN %s.%s\n%s.%s.%s A 10.0.0.1\n", label, label, label, label, label);
    expect_refusal(buf_cstr(&text), "example.test.zone:4", "255");
    text.len = 0;
    buf_addf(&text, HEAD "$ORIGIN %s.%s\na CNAME %s.%s.%s\n", label, label, label, label, label);
    expect_refusal(buf_cstr(&text), "example.test.zone:4", "");
    buf_fini(&text);
}

static void a_record_that_is_too_long_is_refused(void **state)
{
    (void)state;
    struct buf text = BUF_EMPTY;
    struct got got;
    buf_add_str(&text, HEAD "long TXT (");
    for (int i = 0; i < 300; i++) { /* 300 strings of 251 octets with their lengths */
        buf_add_str(&text, " \"");
        for (int k = 0; k < 250; k++)
            buf_add_char(&text, 'x');
        buf_add_str(&text, "\"");
    }
    buf_add_str(&text, ")\n");
    assert_int_equal(read_zone(buf_cstr(&text), &got), ERR_CONFIG);
    assert_non_null(strstr(got.why.where, "zone:3"));
    got_fini(&got);
    buf_fini(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_form_is_read),
        cmocka_unit_test(forms_of_records),
        cmocka_unit_test(names_are_escaped),
        cmocka_unit_test(generate_makes_records),
        cmocka_unit_test(records_outside_are_dropped),
        cmocka_unit_test(includes_are_read_in_place),
        cmocka_unit_test(a_stamp_sees_every_file),
        cmocka_unit_test(a_bad_file_is_named_with_its_line),
        cmocka_unit_test(records_that_cannot_stand_together_are_refused),
        cmocka_unit_test(a_name_that_its_origin_makes_too_long_is_refused),
        cmocka_unit_test(a_record_that_is_too_long_is_refused),
    };
    return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
