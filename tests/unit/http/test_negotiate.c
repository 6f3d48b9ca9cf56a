/* lib/http/negotiate: which form an Accept header wants. */
#include "base/obj.h"
#include "http/negotiate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

enum { TEXT, OPEN };
static const struct http_form forms[] = {{"text/plain", "0.0.4"},
                                         {"application/openmetrics-text", "1.0.0 0.0.1"}};

static const struct {
    const char *accept;
    size_t form;
} rows[] = {
    {NULL, TEXT},
    {"", TEXT},
    {"*/*", TEXT},
    {"application/json", TEXT},
    {"application/openmetrics-text", OPEN},
    {"APPLICATION/OpenMetrics-Text", OPEN},
    {"application/openmetrics-text;version=1.0.0", OPEN},
    {"application/openmetrics-text; version=\"1.0.0\" ; charset=utf-8", OPEN},
    {"application/openmetrics-text;version=2.0.0", TEXT},
    {"application/openmetrics-text;version=2.0.0,application/openmetrics-text;version=0.0.1;q=0.1", OPEN},
    {"text/plain;version=0.0.4,application/openmetrics-text", TEXT}, /* equal: the first of the header */
    {"application/openmetrics-text,text/plain;version=0.0.4", OPEN},
    {"text/plain;q=0.5,application/openmetrics-text;q=0.501", OPEN},
    {"text/plain;q=0.9,application/openmetrics-text;q=0.25", TEXT},
    {"application/openmetrics-text;q=0", TEXT},
    {"application/openmetrics-text;q=0.000,text/plain;q=0.001", TEXT},
    {"application/openmetrics-text;q=x", OPEN},
    {" ,, ;q=1 , application/openmetrics-text ;q=0.3", OPEN},
    {"text/html;a=\"application/openmetrics-text,\\\",b\"", TEXT},
    {"text/plain;version=\"0.0.4", TEXT},
    /* Prometheus 2.42, 2.53 and 3.1 as they come. */
    {"application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,"
     "text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
     OPEN},
    {"application/openmetrics-text;version=1.0.0;q=0.5,application/openmetrics-text;version=0.0.1;q=0.4,"
     "text/plain;version=0.0.4;q=0.3,*/*;q=0.2",
     OPEN},
    {"application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,"
     "application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,"
     "text/plain;version=0.0.4;q=0.3,*/*;q=0.2",
     OPEN},
    /* Prometheus asked for the protobuf form first: there is none here. */
    {"application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;q=0.6,"
     "text/plain;version=0.0.4;q=0.5,application/openmetrics-text;version=1.0.0;q=0.4,*/*;q=0.2",
     TEXT},
};

static const struct {
    const char *accept;
    bool takes_json;
} accepted[] = {
    {NULL, true},
    {"", true},
    {" , ", true},
    {"application/json", true},
    {"Application/JSON; charset=utf-8", true},
    {"application/*", true},
    {"*/*;q=0.1", true},
    {"text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2", true}, /* Java's */
    {"text/html", false},
    {"application/xml, text/*", false},
    {"application/json;q=0", false},
    {"*/*, application/json;q=0", false}, /* the more specific one counts */
    {"application/*;q=0, */*", false},
    {"application/*;q=0, application/json", true},
    {"*/*;q=0.0", false},
    {"text/html;a=\"application/json\"", false},
};

static void a_type_is_taken_by_its_most_specific_range(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(accepted); i++) {
        if (http_accepts(accepted[i].accept, "application/json") != accepted[i].takes_json)
            fail_msg("Accept: %s", accepted[i].accept ? accepted[i].accept : "(none)");
    }
}

static void the_best_form_wins(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        size_t form = http_negotiate(rows[i].accept, forms, ARRAY_LEN(forms));
        if (form != rows[i].form)
            fail_msg("Accept: %s gives form %zu", rows[i].accept ? rows[i].accept : "(none)", form);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_best_form_wins),
                                       cmocka_unit_test(a_type_is_taken_by_its_most_specific_range)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
