/**
 * The conformance rows of paths and records (tests/contract/registry_*.tsv): every row is run, every failing row is
 * named with its line, what was expected and what came.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/obj.h"
#include "bobbin/path.h"
#include "bobbin/record.h"

#define COLUMNS_MAX 7

struct column {
    char *text; /* unescaped; NULL for <null> */
    size_t len;
};

struct row {
    struct column columns[COLUMNS_MAX];
    size_t n_columns;
};

/* ---- reading a row ---- */

static size_t unescape(char *s)
{
    char *out = s, *start = s;

    for (; *s; s++) {
        if (*s != '\\') {
            *out++ = *s;
        } else if (*++s == 'x') {
            char hex[3] = {s[1], s[2], '\0'};

            *out++ = (char)strtol(hex, NULL, 16);
            s += 2;
        } else {
            *out++ = *s == 't' ? '\t' : *s == 'n' ? '\n' : *s == 'r' ? '\r' : *s;
        }
    }
    *out = '\0';
    return (size_t)(out - start);
}

static void split_row(char *line, struct row *row)
{
    char *at = line;

    row->n_columns = 0;
    while (at) {
        char *text = strsep(&at, "\t");
        struct column *c = &row->columns[row->n_columns++];

        assert_true(row->n_columns < COLUMNS_MAX);
        c->len = unescape(text);
        c->text = strcmp(text, "<null>") == 0 ? NULL : text;
    }
}

/** The answer as the last column has it: "!ERR_NAME", "<null>" or the text. Takes text. */
static char *answer(int err, char *take_text)
{
    char *out = err ? mem_fmt("!%s", err_name(err)) : mem_str(take_text ? take_text : "<null>");

    free(take_text);
    return out;
}

/* ---- the functions that rows name ---- */

static char *run_join(const struct row *r)
{
    return answer(0, reg_path_join(r->columns[1].text, r->columns[2].text));
}

static char *run_split(const struct row *r)
{
    char **elements = reg_path_split(r->columns[1].text, NULL);
    buf_auto struct buf b = BUF_EMPTY;

    for (size_t i = 0; elements[i]; i++)
        buf_addf(&b, "%s%s", i ? "," : "", elements[i]);
    reg_path_split_free(elements);
    return buf_take(&b);
}

#define TEXT_FN(name, call)                                                                                  \
    static char *run_##name(const struct row *r)                                                             \
    {                                                                                                        \
        const struct column *c = r->columns;                                                                 \
        return answer(0, call);                                                                              \
    }
#define OUT_FN(name, call)                                                                                   \
    static char *run_##name(const struct row *r)                                                             \
    {                                                                                                        \
        const struct column *c = r->columns;                                                                 \
        char *out = NULL;                                                                                    \
        struct err_info why = {0};                                                                           \
        int err = call;                                                                                      \
        assert_int_equal(why.code, err);                                                                     \
        return answer(err, out);                                                                             \
    }
#define CHECK_FN(name, call)                                                                                 \
    static char *run_##name(const struct row *r)                                                             \
    {                                                                                                        \
        const struct column *c = r->columns;                                                                 \
        struct err_info why = {0};                                                                           \
        int err = call;                                                                                      \
        assert_int_equal(why.code, err);                                                                     \
        return answer(err, mem_str("ok"));                                                                   \
    }

TEXT_FN(last, reg_path_last(c[1].text))
TEXT_FN(yarn_id, reg_encode_yarn_id(c[1].text))
TEXT_FN(convert, reg_convert_user(c[1].text))
TEXT_FN(path_user, reg_path_user(c[1].text))
OUT_FN(full, reg_path_full(c[1].text, c[2].text, &out, &why))
OUT_FN(normal, reg_path_normal(c[1].text, &out, &why))
OUT_FN(parent, reg_path_parent(c[1].text, &out, &why))
OUT_FN(encode, reg_encode(c[1].text, &out, &why))
OUT_FN(home, reg_home_path(c[1].text, &out, &why))
OUT_FN(user, reg_user(c[1].text, &out, &why))
OUT_FN(class, reg_class_path(c[1].text, c[2].text, &out, &why))
OUT_FN(service, reg_service_path(c[1].text, c[2].text, c[3].text, &out, &why))
OUT_FN(design_service, reg_design_service_path(c[1].text, c[2].text, c[3].text, &out, &why))
OUT_FN(components, reg_components_path(c[1].text, c[2].text, c[3].text, &out, &why))
OUT_FN(component, reg_component_path(c[1].text, c[2].text, c[3].text, c[4].text, &out, &why))
CHECK_FN(check, reg_path_check(c[1].text, &why))
CHECK_FN(dns, reg_path_check_dns(c[1].text, &why))
CHECK_FN(element, reg_path_check_element(c[1].text, &why))

static char *read_record(const struct row *r, enum reg_read mode, bool write)
{
    /* Exactly as many bytes as there are, so that the sanitizer sees a read past the end. */
    mem_auto char *bytes = mem_copy(r->columns[1].text, r->columns[1].len);
    struct reg_record *record = NULL;
    struct err_info why = {0};
    int err = reg_record_read(bytes, r->columns[1].len, mode, &record, &why);
    char *out = NULL;

    assert_int_equal(why.code, err);
    if (!err)
        out = write ? reg_record_write(record, NULL) : mem_str("ok");
    reg_record_free(record);
    return answer(err, out);
}

static char *run_strict(const struct row *r)
{
    return read_record(r, REG_STRICT, false);
}

static char *run_strict_write(const struct row *r)
{
    return read_record(r, REG_STRICT, true);
}

static char *run_lenient(const struct row *r)
{
    return read_record(r, REG_LENIENT, false);
}

static char *run_lenient_write(const struct row *r)
{
    return read_record(r, REG_LENIENT, true);
}

static const struct {
    const char *name;
    char *(*run)(const struct row *r);
} functions[] = {
    {"join", run_join},
    {"full", run_full},
    {"normal", run_normal},
    {"split", run_split},
    {"last", run_last},
    {"parent", run_parent},
    {"check", run_check},
    {"dns", run_dns},
    {"element", run_element},
    {"encode", run_encode},
    {"yarn_id", run_yarn_id},
    {"home", run_home},
    {"user", run_user},
    {"convert", run_convert},
    {"class", run_class},
    {"service", run_service},
    {"design_service", run_design_service},
    {"components", run_components},
    {"component", run_component},
    {"path_user", run_path_user},
    {"strict", run_strict},
    {"strict>", run_strict_write},
    {"lenient", run_lenient},
    {"lenient>", run_lenient_write},
};

/* ---- driver ---- */

static bool row_passes(const char *file, size_t line_number, const struct row *row)
{
    const struct column *expected = &row->columns[row->n_columns - 1];
    const char *want = expected->text ? expected->text : "<null>";

    for (size_t i = 0; i < ARRAY_LEN(functions); i++) {
        mem_auto char *got = NULL;

        if (strcmp(functions[i].name, row->columns[0].text) != 0)
            continue;
        got = functions[i].run(row);
        if (strcmp(got, want) == 0)
            return true;
        print_error("%s:%zu: %s(%.200s)\n  expected %.600s\n  got      %.600s\n", file, line_number,
                    row->columns[0].text, row->columns[1].text ? row->columns[1].text : "<null>", want, got);
        return false;
    }
    print_error("%s:%zu: no function \"%s\"\n", file, line_number, row->columns[0].text);
    return false;
}

static void run_file(const char *name, size_t at_least)
{
    mem_auto char *path = mem_fmt("%s/%s", ROWS_DIR, name);
    FILE *f = fopen(path, "r");
    char *line = NULL;
    size_t room = 0, line_number = 0, n_rows = 0, n_failed = 0;
    ssize_t len;

    assert_non_null(f);
    while ((len = getline(&line, &room, f)) > 0) {
        struct row row;

        line_number++;
        if (line[0] == '#')
            continue;
        line[len - 1] = '\0';
        split_row(line, &row);
        n_rows++;
        n_failed += !row_passes(name, line_number, &row);
    }
    free(line);
    fclose(f);
    assert_int_equal(n_failed, 0);
    assert_true(n_rows >= at_least);
}

static void test_paths(void **state)
{
    (void)state;
    run_file("registry_paths.tsv", 200);
}

static void test_records(void **state)
{
    (void)state;
    run_file("registry_records.tsv", 150);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_paths),
        cmocka_unit_test(test_records),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
