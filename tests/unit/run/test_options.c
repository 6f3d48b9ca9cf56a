#include "base/mem.h"
#include "base/obj.h"
#include "base/str.h"
#include "run/options.h"
#include "tree_kit.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define TEST_OPTIONS(X)                                                                                      \
    X(O_TEXT, "t.text", OPT_TEXT, "", NULL, 0, 0, OPT_RELOADABLE, "A text.")                                 \
    X(O_BOOL, "t.bool", OPT_BOOL, "", "false", 0, 0, OPT_FIXED, "A switch.")                                 \
    X(O_PORT, "t.port", OPT_INT, "", "5335", 0, 65535, OPT_FIXED, "A port.")                                 \
    X(O_TIME, "t.time", OPT_TIME, "s", "30", 1, 3600000, OPT_RELOADABLE, "A time.")                          \
    X(O_SIZE, "t.size", OPT_SIZE, "", "64k", 1, 1048576, OPT_FIXED, "A size.")                               \
    X(O_ADDR, "t.addr", OPT_ADDR, "", "127.0.0.1:80", 0, 0, OPT_FIXED, "An address.")                        \
    X(O_ENUM, "t.enum", OPT_ENUM, "red|green", "red", 0, 0, OPT_FIXED, "A colour.")                          \
    X(O_DERIVED, "t.derived", OPT_TEXT, "", "file:${t.text}/x", 0, 0, OPT_FIXED, "A derived text.")
enum { OPTIONS_ENUM(TEST_OPTIONS) N_OPTIONS };
static const struct opt_def defs[] = {OPTIONS_ROWS(TEST_OPTIONS)};

static int make_dir(void **state)
{
    char path[] = "/tmp/test_options.XXXXXX";
    *state = mem_str(mkdtemp(path));
    return 0;
}

static int remove_dir(void **state)
{
    mem_auto char *dir = *state;
    return kit_remove_tree(dir);
}

static void write_file(const char *dir, const char *name, const char *text)
{
    mem_auto char *path = mem_fmt("%s/%s", dir, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

#define CONF(body)        "<?xml version=\"1.0\"?>\n<configuration>\n" body "\n</configuration>\n"
#define PROP(name, value) "<property><name>" name "</name><value>" value "</value></property>\n"
#define FINAL(name, value)                                                                                   \
    "<property><name>" name "</name><value>" value "</value><final>true</final></property>\n"

static struct options *read_ok(const char *dir, const char *const *sets)
{
    buf_auto struct buf errors = BUF_EMPTY;
    struct options *o = options_read(defs, ARRAY_LEN(defs), dir, sets, &errors);
    if (!o)
        fail_msg("unexpected errors: %s", buf_cstr(&errors));
    assert_int_equal(errors.len, 0);
    return o;
}

/* The errors, with the directory's name taken away. */
static char *read_bad(const char *dir, const char *const *sets)
{
    buf_auto struct buf errors = BUF_EMPTY, out = BUF_EMPTY;
    assert_null(options_read(defs, ARRAY_LEN(defs), dir, sets, &errors));
    for (const char *p = buf_cstr(&errors); *p;) {
        if (dir && str_starts(p, dir)) {
            p += strlen(dir);
            p += *p == '/';
        } else {
            buf_add_char(&out, *p++);
        }
    }
    return buf_take(&out);
}

#define SETS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void defaults_apply_without_files(void **state)
{
    struct options *o = read_ok(*state, SETS("t.text=/d"));
    assert_false(opt_bool(o, O_BOOL));
    assert_int_equal(opt_int(o, O_PORT), 5335);
    assert_int_equal(opt_ms(o, O_TIME), 30000);
    assert_int_equal(opt_int(o, O_SIZE), 65536);
    assert_string_equal(opt_text(o, O_ENUM), "red");
    assert_string_equal(opt_text(o, O_DERIVED), "file:/d/x");
    assert_false(opt_is_set(o, O_PORT));
    assert_string_equal(opt_origin(o, O_PORT), "default");
    assert_true(opt_is_set(o, O_TEXT));
    assert_string_equal(opt_origin(o, O_TEXT), "-D");
    options_free(o);
    options_free(NULL);
}

static void later_file_wins_unless_final(void **state)
{
    write_file(*state, "core-site.xml",
               CONF(PROP("t.port", "1") FINAL("t.size", "2k") PROP("t.text", " a b\n")));
    write_file(*state, "yarn-site.xml",
               CONF(PROP("t.port", "2") "<!-- note -->" PROP("t.size", "3k")
                        PROP("other.key", "${t.port}!${nowhere}") PROP("other.two", "${t.port}")));
    write_file(*state, "hdfs-site.xml", CONF(PROP("t.port", "7") PROP("of.hdfs", "here")));
    struct options *o = read_ok(*state, NULL);
    assert_int_equal(opt_int(o, O_PORT), 2);
    assert_string_equal(opt_other(o, "of.hdfs"), "here");
    assert_int_equal(opt_int(o, O_SIZE), 2048);
    assert_string_equal(opt_text(o, O_TEXT), "a b");
    mem_auto char *origin = mem_fmt("%s/yarn-site.xml:3", (char *)*state);
    assert_string_equal(opt_origin(o, O_PORT), origin);
    assert_string_equal(opt_other(o, "other.key"), "${t.port}!${nowhere}");
    assert_string_equal(opt_other(o, "other.two"), "2");
    assert_null(opt_other(o, "t.port"));
    assert_null(opt_other(o, "absent"));
    options_free(o);
    o = read_ok(*state, SETS("t.size=5k", "t.port=3", "t.port=4"));
    assert_int_equal(opt_int(o, O_SIZE), 5120);
    assert_int_equal(opt_int(o, O_PORT), 4);
    options_free(o);
}

static void references_are_expanded(void **state)
{
    (void)state;
    setenv("T_SET", "env", 1);
    setenv("T_EMPTY", "", 1);
    unsetenv("T_UNSET");
    const char *user = getpwuid(geteuid())->pw_name;
    mem_auto char *user_twice = mem_fmt("%s-%s", user, user);
    const struct {
        const char *text, *want; /* NULL: refused */
    } rows[] = {
        {"plain", "plain"},
        {"${t.port}/${t.enum}", "5335/red"},
        {"${env.T_SET}", "env"},
        {"${env.T_SET-no}", "env"},
        {"${env.T_UNSET-yes}", "yes"},
        {"${env.T_UNSET:-yes}", "yes"},
        {"${env.T_UNSET-}", ""},
        {"${env.T_EMPTY-no}", ""},
        {"${env.T_EMPTY:-yes}", "yes"},
        {"${env.T_UNSET-a-b}", "a-b"},
        {"${user.name}-${user.name}", user_twice},
        {"$${t.port}", "$5335"},
        {"${}", "${}"},
        {"${not a name}", "${not a name}"},
        {"${t.${x.inner}}", "5335"},
        {"${x.a}", "A5335"},
        {"cut ${t.port", "cut ${t.port"},
        {"${t.absent}", NULL},
        {"${env.T_UNSET}", NULL},
        {"${t.text}", NULL},
        {"${x.loop}", NULL},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        mem_auto char *set = mem_fmt("t.text=%s", rows[i].text);
        const char *const sets[] = {
            set, "x.inner=port", "x.a=A${t.port}", "x.loop=${x.pool}", "x.pool=${x.loop}", "t.derived=-",
            NULL};
        print_message("%s\n", rows[i].text);
        if (rows[i].want) {
            struct options *o = read_ok(NULL, sets);
            assert_string_equal(opt_text(o, O_TEXT), rows[i].want);
            options_free(o);
        } else {
            mem_auto char *errors = read_bad(NULL, sets);
            assert_true(str_starts(errors, "-D: t.text: "));
        }
    }
}

static void at_most_twenty_references(void **state)
{
    (void)state;
    buf_auto struct buf set = BUF_EMPTY;
    buf_add_str(&set, "t.text=");
    for (int i = 0; i < 20; i++)
        buf_add_str(&set, "${t.enum}");
    struct options *o = read_ok(NULL, SETS(set.bytes, "t.derived=-"));
    assert_int_equal(strlen(opt_text(o, O_TEXT)), 60);
    options_free(o);
    buf_add_str(&set, "${t.enum}");
    mem_auto char *errors = read_bad(NULL, SETS(set.bytes, "t.derived=-"));
    assert_non_null(strstr(errors, "20"));
}

static void values_are_checked(void **state)
{
    (void)state;
    static const struct {
        const char *set;
        bool is_good;
    } rows[] = {
        {"t.bool=TRUE", true},      {"t.bool=yes", false},       {"t.bool=", false},
        {"t.port=0", true},         {"t.port=65535", true},      {"t.port=65536", false},
        {"t.port=-1", false},       {"t.port=x", false},         {"t.port= 7 ", true},
        {"t.time=1ms", true},       {"t.time=0", false},         {"t.time=1H", true},
        {"t.time=3601s", false},    {"t.time=abc", false},       {"t.size=1M", true},
        {"t.size=1025k", false},    {"t.addr=[::1]:53", true},   {"t.addr=localhost:1", true},
        {"t.addr=0.0.0.0:0", true}, {"t.addr=1.2.3.4", false},   {"t.addr=::1", false},
        {"t.addr=::1:53", false},   {"t.addr=[::1]", false},     {"t.addr=h.example:1", false},
        {"t.addr=1.2.3.4:", false}, {"t.addr=1.2.3.4:x", false}, {"t.addr=:80", false},
        {"t.enum=green", true},     {"t.enum=blue", false},      {"t.enum=Red", false},
        {"t.enum=", false},         {"t.enum=red|green", false},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        buf_auto struct buf errors = BUF_EMPTY;
        print_message("%s\n", rows[i].set);
        struct options *o =
            options_read(defs, ARRAY_LEN(defs), NULL, SETS(rows[i].set, "t.derived=-"), &errors);
        assert_int_equal(o != NULL, rows[i].is_good);
        assert_int_equal(errors.len == 0, rows[i].is_good);
        options_free(o);
    }
}

static void all_errors_are_reported_at_once(void **state)
{
    write_file(*state, "core-site.xml", CONF(PROP("t.port", "many") PROP("t.bool", "maybe")));
    write_file(*state, "yarn-site.xml",
               CONF("<property><value>1</value></property>\n"
                    "<property><name>n</name><value>1</value><final>perhaps</final></property>\n"
                    "<propperty/>\n" PROP("t.enum", "a\nb")));
    mem_auto char *errors = read_bad(*state, SETS("nonsense", "t.time=0", "t.derived=-"));
    assert_string_equal(errors,
                        "yarn-site.xml:3: a property needs a name\n"
                        "yarn-site.xml:4: final must be true or false\n"
                        "yarn-site.xml:5: only property stands in configuration\n"
                        "-D nonsense: not of the form key=value\n"
                        "core-site.xml:4: t.bool: maybe is wrong; wanted: true or false\n"
                        "core-site.xml:3: t.port: many is wrong; wanted: integer in 0 to 65535\n"
                        "-D: t.time: 0 is wrong; wanted: time in 1 to 3600000 ms\n"
                        "yarn-site.xml:6: t.enum: \"a\\nb\" is wrong; wanted: one word of red|green\n");
}

static void bad_files_are_errors(void **state)
{
    static const struct {
        const char *text, *errors; /* beginning of the errors */
    } rows[] = {
        {"<configuration>\n<property>\n</configuration>", "core-site.xml:3: "},
        {"", "core-site.xml:"},
        {"<other/>", "core-site.xml:1: the root element must be configuration\n"},
        {"<configuration>&nope;</configuration>", "core-site.xml:1: "},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        write_file(*state, "core-site.xml", rows[i].text);
        mem_auto char *errors = read_bad(*state, SETS("t.derived=-"));
        print_message("%s", errors);
        assert_true(str_starts(errors, rows[i].errors));
    }
    mem_auto char *nowhere = mem_fmt("%s/nowhere", (char *)*state);
    mem_auto char *errors = read_bad(nowhere, SETS("t.derived=-"));
    assert_string_equal(errors, ": is not a directory of configuration files\n");
}

static void values_may_be_attributes_or_absent(void **state)
{
    write_file(*state, "core-site.xml",
               CONF("<property name=\"t.port\" value=\"7\" final=\"true\"/>\n"
                    "<property><name>t.bool</name></property>\n"
                    "<property><name>t.text</name><value/></property>\n"));
    write_file(*state, "yarn-site.xml", CONF(PROP("t.port", "8")));
    struct options *o = read_ok(*state, NULL);
    assert_int_equal(opt_int(o, O_PORT), 7);
    assert_false(opt_is_set(o, O_BOOL));
    assert_string_equal(opt_text(o, O_TEXT), "");
    options_free(o);
}

#define INCLUDE(inner)                                                                                       \
    "<?xml version=\"1.0\"?>\n<configuration xmlns:xi=\"http://www.w3.org/2001/XInclude\">\n" inner          \
    "\n</configuration>\n"

static void files_include_others(void **state)
{
    write_file(*state, "more.xml", CONF(PROP("t.port", "1") "\n" PROP("t.size", "wrong")));
    write_file(*state, "core-site.xml",
               INCLUDE("<xi:include href=\"more.xml\"/>\n" PROP("t.port", "2") PROP("t.size", "4k")));
    struct options *o = read_ok(*state, SETS("t.derived=-"));
    assert_int_equal(opt_int(o, O_PORT), 2);
    assert_int_equal(opt_int(o, O_SIZE), 4096);
    options_free(o);

    write_file(*state, "core-site.xml", INCLUDE("<xi:include href=\"more.xml\"/>"));
    mem_auto char *errors = read_bad(*state, SETS("t.derived=-"));
    assert_string_equal(errors, "more.xml:5: t.size: wrong is wrong; wanted: size in 1 to 1048576 bytes\n");

    write_file(*state, "core-site.xml",
               INCLUDE("<xi:include href=\"none.xml\"><xi:fallback>" PROP(
                   "t.port", "3") "</xi:fallback></xi:include>"));
    o = read_ok(*state, SETS("t.derived=-"));
    assert_int_equal(opt_int(o, O_PORT), 3);
    options_free(o);

    write_file(*state, "core-site.xml", INCLUDE("<xi:include href=\"none.xml\"/>"));
    mem_auto char *missing = read_bad(*state, SETS("t.derived=-"));
    assert_non_null(strstr(missing, "none.xml"));

    write_file(*state, "core-site.xml", INCLUDE("<xi:include href=\"core-site.xml\"/>"));
    mem_auto char *loop = read_bad(*state, SETS("t.derived=-"));
    assert_true(str_starts(loop, "core-site.xml:"));
}

static void reload_changes_reloadable_rows_only(void **state)
{
    (void)state;
    struct options *o = read_ok(NULL, SETS("t.text=old", "t.port=1", "t.bool=true"));
    const char *port = opt_text(o, O_PORT);
    buf_auto struct buf kept = BUF_EMPTY;
    options_reload(o, read_ok(NULL, SETS("t.text=new", "t.time=5", "t.port=2", "t.enum=green")), &kept);
    assert_string_equal(opt_text(o, O_TEXT), "new");
    assert_int_equal(opt_ms(o, O_TIME), 5000);
    assert_true(opt_is_set(o, O_TIME));
    assert_int_equal(opt_int(o, O_PORT), 1);
    assert_ptr_equal(opt_text(o, O_PORT), port);
    assert_true(opt_bool(o, O_BOOL));
    assert_string_equal(kept.bytes, "t.bool t.port t.enum t.derived");
    options_free(o);
}

static void table_is_shown(void **state)
{
    (void)state;
    buf_auto struct buf out = BUF_EMPTY;
    options_show(defs, 4, &out);
    assert_string_equal(out.bytes,
                        "t.text (unset)\n    text; read again on SIGHUP\n    A text.\n"
                        "t.bool=false\n    true or false\n    A switch.\n"
                        "t.port=5335\n    integer in 0 to 65535\n    A port.\n"
                        "t.time=30\n    time in 1 to 3600000 ms; a bare number counts s; read again on "
                        "SIGHUP\n    A time.\n");
}

#define IN_DIR(fn) cmocka_unit_test_setup_teardown(fn, make_dir, remove_dir)

static void rows_are_found_by_key(void **state)
{
    (void)state;
    struct options *o = read_ok(NULL, SETS("t.derived=-"));
    for (int id = 0; id < N_OPTIONS; id++)
        assert_int_equal(opt_find(o, defs[id].key), id);
    assert_int_equal(opt_find(o, "t.tex"), -1);
    options_free(o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_DIR(defaults_apply_without_files),
        IN_DIR(later_file_wins_unless_final),
        cmocka_unit_test(references_are_expanded),
        cmocka_unit_test(at_most_twenty_references),
        cmocka_unit_test(values_are_checked),
        IN_DIR(all_errors_are_reported_at_once),
        IN_DIR(bad_files_are_errors),
        IN_DIR(values_may_be_attributes_or_absent),
        IN_DIR(files_include_others),
        cmocka_unit_test(reload_changes_reloadable_rows_only),
        cmocka_unit_test(rows_are_found_by_key),
        cmocka_unit_test(table_is_shown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
