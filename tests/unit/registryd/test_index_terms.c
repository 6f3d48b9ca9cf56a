/* Ids of YARN, and what a record is found by. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/obj.h"
#include "index/terms.h"

static void ids(void **state)
{
    (void)state;
    static const struct {
        const char *id, *app, *attempt;
        enum index_persistence persistence;
    } rows[] = {
        {"application_1700000000000_0001", "application_1700000000000_0001", NULL, INDEX_APPLICATION},
        {"application_1_2", "application_1_0002", NULL, INDEX_APPLICATION},
        {"application_1_12345", "application_1_12345", NULL, INDEX_APPLICATION},
        {"appattempt_1_0002_000003", "application_1_0002", NULL, INDEX_ATTEMPT},
        {"container_1_0002_03_000004", "application_1_0002", "appattempt_1_0002_000003", INDEX_CONTAINER},
        {"container_e17_1_0002_03_000004", "application_1_0002", "appattempt_1_0002_000003", INDEX_CONTAINER},
        {"container_e17_1_0002_03", NULL, NULL, INDEX_OTHER},
        {"container_", NULL, NULL, INDEX_OTHER},
        {"container_e", NULL, NULL, INDEX_OTHER},
        {"application_1_", NULL, NULL, INDEX_OTHER},
        {"application_1_2_3", NULL, NULL, INDEX_OTHER},
        {"application_1_-2", NULL, NULL, INDEX_OTHER},
        {"application_99999999999999999999_1", NULL, NULL, INDEX_OTHER},
        {"job_1_0002", NULL, NULL, INDEX_OTHER},
        {"", NULL, NULL, INDEX_OTHER},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        mem_auto char *app = index_app_of(rows[i].id), *attempt = index_attempt_of(rows[i].id);
        if ((app == NULL) != (rows[i].app == NULL) || (app && strcmp(app, rows[i].app) != 0))
            fail_msg("application of %s: %s", rows[i].id, app ? app : "none");
        if ((attempt == NULL) != (rows[i].attempt == NULL) ||
            (attempt && strcmp(attempt, rows[i].attempt) != 0))
            fail_msg("attempt of %s: %s", rows[i].id, attempt ? attempt : "none");
        assert_int_equal(index_persistence_of_id(rows[i].id), rows[i].persistence);
    }
    assert_true(index_attempt_number("appattempt_1_0002_000013") == 13);
    assert_true(index_cluster_time("container_e17_1700000000000_0002_03_000004") == 1700000000000);
}

static void persistence(void **state)
{
    (void)state;
    assert_int_equal(index_persistence_read("application_attempt"), INDEX_ATTEMPT);
    assert_int_equal(index_persistence_read("application-attempt"), INDEX_ATTEMPT);
    assert_int_equal(index_persistence_read("Container"), INDEX_OTHER);
    assert_int_equal(index_persistence_read("permanent"), INDEX_OTHER);
    assert_int_equal(index_persistence_read(""), INDEX_OTHER);
    assert_int_equal(index_persistence_read(NULL), INDEX_OTHER);
}

/* Terms of a record as "kind=text" words. */
static void assert_terms(const char *path, const char *json, const char *expected)
{
    struct reg_record *record;
    struct index_terms terms;
    buf_auto struct buf text = BUF_EMPTY;
    assert_int_equal(reg_record_read(json, strlen(json), REG_STRICT, &record, NULL), 0);
    index_terms_read(path, record, &terms);
    for (size_t i = 0; i < terms.n_items; i++)
        buf_addf(&text, "%d=%s ", (int)terms.items[i].kind, terms.items[i].text);
    assert_string_equal(buf_cstr(&text), expected);
    index_terms_fini(&terms);
    reg_record_free(record);
}

static void terms_of_paths(void **state)
{
    (void)state;
    static const char bare[] = "{\"type\":\"JSONServiceRecord\"}";
    assert_terms("/", bare, "");
    assert_terms("/services/hdfs", bare, "");
    assert_terms("/users/bob", bare, "2=bob ");
    assert_terms("/users/bob/x", bare, "2=bob ");
    assert_terms("/users/bob/services/hbase", bare, "2=bob ");
    assert_terms("/users/bob/services/hbase/one", bare, "2=bob 3=hbase ");
    assert_terms("/users/bob/services/hbase/one/components/c", bare, "2=bob 3=hbase ");
    assert_terms("/users/bob/applications/hbase/one", bare, "2=bob 3=hbase ");
    assert_terms("/users/bob/hbase/one", bare, "2=bob 3=hbase ");
    assert_terms("/net/east/users/bob/hbase/one", bare, "");
}

static void terms_of_records(void **state)
{
    (void)state;
    assert_terms("/x",
                 "{\"type\":\"JSONServiceRecord\",\"yarn:id\":\"container_1_0002_03_000004\","
                 "\"yarn:persistence\":\"container\",\"yarn:component\":\"web\"}",
                 "0=container_1_0002_03_000004 1=application_1_0002 4=web ");
    assert_terms("/x",
                 "{\"type\":\"JSONServiceRecord\",\"yarn:id\":\"application_1_0002\","
                 "\"yarn:persistence\":\"permanent\"}",
                 "0=application_1_0002 ");
    assert_terms(
        "/x",
        "{\"type\":\"JSONServiceRecord\",\"external\":[{\"api\":\"a\",\"addressType\":\"uri\","
        "\"protocolType\":\"web\",\"addresses\":[]}],\"internal\":[{\"api\":\"a\",\"addressType\":\"uri\","
        "\"protocolType\":\"webui\",\"addresses\":[]},{\"api\":\"b\",\"addressType\":\"uri\","
        "\"protocolType\":\"rmi\",\"addresses\":[]}]}",
        "5=a 6=webui 7=a\nwebui 5=b 6=RMI 7=b\nRMI ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids),
        cmocka_unit_test(persistence),
        cmocka_unit_test(terms_of_paths),
        cmocka_unit_test(terms_of_records),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
