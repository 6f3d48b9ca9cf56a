/** Members that no definition knows: where they are, and what they may have been meant for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/obj.h"
#include "base/str.h"
#include "spec/spec.h"

/** The unknown members of a document, in words. free() */
static char *unknown_in(const char *text)
{
    struct buf unknown = BUF_EMPTY;
    struct err_info why = {0};
    struct spec_service *s = NULL;
    if (spec_read(text, strlen(text), &s, &unknown, &why))
        fail_msg("%s: %s", text, why.text);
    spec_free(s);
    return buf_take(&unknown);
}

static const struct {
    const char *text, *said;
} rows[] = {
    {"{}", ""},
    {"{\"nam\":\"x\"}", "/nam, did you mean \"name\"?"},
    {"{\"zzzzzzzz\":1}", "/zzzzzzzz"},
    {"{\"resource\":{\"uri\":null}}", ""}, /* Hadoop's own client sends it */
    {"{\"components\":[{},{\"readyness_check\":{}}]}",
     "/components/1/readyness_check, did you mean \"readiness_check\"?"},
    {"{\"components\":[{\"restartPolicy\":\"NEVER\"}]}",
     "/components/0/restartPolicy, did you mean \"restart_policy\"?"},
    {"{\"components\":[{\"readiness_check\":{\"typ\":\"HTTP\"}}]}",
     "/components/0/readiness_check/typ, did you mean \"type\"?"},
    {"{\"configuration\":{\"file\":[],\"files\":[{\"dest\":\"x\",\"props\":{}}]}}",
     "/configuration/file, did you mean \"files\"?; /configuration/files/0/dest"},
    {"{\"resource\":{\"additional\":{\"yarn.io/gpu\":{\"value\":4,\"unit\":\"\",\"vale\":1}}}}",
     "/resource/additional/yarn.io~1gpu/vale, did you mean \"value\"?"},
    {"{\"components\":[{\"placement_policy\":{\"label\":\"a\",\"constraints\":[{\"scop\":\"NODE\"}]}}]}",
     "/components/0/placement_policy/constraints/0/scop, did you mean \"scope\"?"},
    /* What an answer has, and what the API's own document uses. */
    {"{\"id\":1,\"launch_time\":2,\"number_of_running_containers\":3,\"diagnostics\":\"\",\"last_failure\":{}"
     ","
     "\"placement_policy\":{\"label\":\"x\"},\"components\":[{\"containers\":[{\"id\":1,\"x\":2}],"
     "\"unique_component_support\":\"true\"}]}",
     ""},
    /* Of definitions that an API of ours makes. */
    {"{\"components\":[{\"task\":{\"gpu_mask\":1}}]}", "/components/0/task"},
    /* Keys of maps are the user's own. */
    {"{\"quicklinks\":{\"nam\":\"x\"},\"configuration\":{\"env\":{\"nam\":1},\"properties\":{\"nam\":1}}}",
     ""},
};

static void unknown_members_are_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        mem_auto char *said = unknown_in(rows[i].text);
        assert_string_equal(said, rows[i].said);
    }
}

static void a_caller_makes_no_task(void **state)
{
    (void)state;
    static const char text[] = "{\"components\":[{\"name\":\"a\",\"task\":{\"gpu_mask\":1}}]}";
    struct err_info why = {0};
    struct spec_service *s = NULL;
    assert_int_equal(spec_read(text, strlen(text), &s, NULL, &why), 0);
    assert_null(s->components[0]->task);
    spec_free(s);
}

static void the_list_is_bounded(void **state)
{
    (void)state;
    struct buf text = BUF_EMPTY;
    buf_add_str(&text, "{\"");
    for (int i = 0; i < 100000; i++)
        buf_add_str(&text, "\xc3\xbc");
    buf_add_str(&text, "\":1");
    for (int i = 0; i < 20; i++)
        buf_addf(&text, ",\"zzzz%d\":1", i);
    buf_add_str(&text, "}");
    mem_auto char *said = unknown_in(buf_cstr(&text));
    assert_true(strlen(said) < 500);
    assert_true(utf8_valid(said, strlen(said)));
    assert_non_null(strstr(said, "; and 11 more"));
    buf_fini(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unknown_members_are_named),
        cmocka_unit_test(a_caller_makes_no_task),
        cmocka_unit_test(the_list_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
