/** Exit codes and the pretty form of the FrameworkLauncher API: svcmgr/faces/launcher/{exits,pretty}.h. */
#include <string.h>

#include "bobbin/error.h"
#include "engine_kit.h"
#include "launcher/exits.h"
#include "launcher/pretty.h"

static void each_exit_has_its_code_and_type(void **state)
{
    (void)state;
    static const struct {
        struct eng_exit exit;
        enum launcher_scope scope;
        int64_t code;
        enum eng_exit_type type;
    } rows[] = {
        {{.cause = CAUSE_EXITED, .raw = 0}, LAUNCHER_TASK, 0, TYPE_SUCCEEDED},
        {{.cause = CAUSE_EXITED, .raw = 1}, LAUNCHER_TASK, 1, TYPE_UNKNOWN},
        {{.cause = CAUSE_EXITED, .raw = 193}, LAUNCHER_TASK, 193, TYPE_TRANSIENT_NORMAL},
        {{.cause = CAUSE_EXITED, .raw = 194}, LAUNCHER_TASK, 194, TYPE_NON_TRANSIENT},
        {{.cause = CAUSE_SIGNALLED, .raw = 9}, LAUNCHER_TASK, 137, TYPE_TRANSIENT_NORMAL},
        {{.cause = CAUSE_SIGNALLED, .raw = 6}, LAUNCHER_TASK, 134, TYPE_UNKNOWN},
        {{.cause = CAUSE_EXITED, .raw = 205}, LAUNCHER_TASK, 205, TYPE_TRANSIENT_NORMAL},
        {{.cause = CAUSE_EXITED, .raw = 206}, LAUNCHER_TASK, 206, TYPE_NON_TRANSIENT},
        {{.cause = CAUSE_LAUNCH, .raw = 2}, LAUNCHER_TASK, -7150, TYPE_TRANSIENT_NORMAL},
        {{.cause = CAUSE_LAUNCH, .raw = -1000}, LAUNCHER_TASK, -7100, TYPE_TRANSIENT_NORMAL},
        {{.cause = CAUSE_LOST, .raw = -100}, LAUNCHER_TASK, -7111, TYPE_TRANSIENT_NORMAL},
        {{.cause = CAUSE_EXPIRED, .raw = -100}, LAUNCHER_TASK, -7112, TYPE_TRANSIENT_CONFLICT},
        {{.cause = CAUSE_APPLICATION_ENDED, .raw = -100}, LAUNCHER_TASK, -7113, TYPE_TRANSIENT_CONFLICT},
        {{.cause = CAUSE_APPLICATION_ENDED, .raw = -107}, LAUNCHER_TASK, -7125, TYPE_TRANSIENT_NORMAL},
        {{.cause = CAUSE_APPLICATION_ENDED}, LAUNCHER_TASK, -7400, TYPE_NON_TRANSIENT},
        {{.cause = CAUSE_ABORTED, .raw = -100}, LAUNCHER_TASK, -7110, TYPE_TRANSIENT_NORMAL},
        {{.cause = CAUSE_ABORTED, .raw = -106}, LAUNCHER_TASK, -7124, TYPE_TRANSIENT_NORMAL},
        {{.cause = CAUSE_ABORTED}, LAUNCHER_TASK, -7110, TYPE_TRANSIENT_NORMAL},
        {{.cause = CAUSE_DISK, .raw = -101}, LAUNCHER_TASK, -7102, TYPE_TRANSIENT_NORMAL},
        {{.cause = CAUSE_PREEMPTED, .raw = -102}, LAUNCHER_TASK, -7120, TYPE_TRANSIENT_NORMAL},
        {{.cause = CAUSE_MEMORY_VIRTUAL, .raw = -103}, LAUNCHER_TASK, -7121, TYPE_NON_TRANSIENT},
        {{.cause = CAUSE_MEMORY_PHYSICAL, .raw = -104}, LAUNCHER_TASK, -7122, TYPE_NON_TRANSIENT},
        {{.cause = CAUSE_UNKNOWN, .raw = -200}, LAUNCHER_TASK, -7126, TYPE_TRANSIENT_NORMAL},
        {{.cause = CAUSE_UNKNOWN, .raw = -555}, LAUNCHER_TASK, -555, TYPE_UNKNOWN},
        {{.cause = CAUSE_MIGRATED}, LAUNCHER_TASK, -7153, TYPE_TRANSIENT_NORMAL},
        {{.cause = CAUSE_SOURCE}, LAUNCHER_APPLICATION, -7251, TYPE_NON_TRANSIENT},
        {{.cause = CAUSE_GANG_TIMEOUT}, LAUNCHER_APPLICATION, -7252, TYPE_TRANSIENT_CONFLICT},
        {{.cause = CAUSE_STOPPED}, LAUNCHER_APPLICATION, -7351, TYPE_NON_TRANSIENT},
        {{.cause = CAUSE_APPLICATION_ENDED}, LAUNCHER_APPLICATION, -7303, TYPE_TRANSIENT_NORMAL},
        {{.cause = CAUSE_SUBMISSION_FAILED, .raw = ERR_UNAVAILABLE},
         LAUNCHER_APPLICATION,
         -7301,
         TYPE_TRANSIENT_NORMAL},
        {{.cause = CAUSE_SUBMISSION_FAILED, .raw = ERR_INVALID},
         LAUNCHER_APPLICATION,
         -7300,
         TYPE_NON_TRANSIENT},
        {{.cause = CAUSE_SUBMISSION_FAILED, .raw = ERR_IO}, LAUNCHER_APPLICATION, -7302, TYPE_UNKNOWN},
        {{.cause = CAUSE_EXITED, .raw = 1}, LAUNCHER_APPLICATION, -7353, TYPE_TRANSIENT_NORMAL},
        {{.cause = CAUSE_EXITED}, LAUNCHER_APPLICATION, 0, TYPE_SUCCEEDED},
    };
    struct kit k;
    kit_start(&k, "seed");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct launcher_exit x = launcher_exit_of(k.e, &rows[i].exit, rows[i].scope);
        if (x.code != rows[i].code || x.type != rows[i].type || !x.description)
            fail_msg("row %zu: %lld %s %s", i, (long long)x.code, launcher_exit_type_word(x.type),
                     x.description);
    }
    kit_end(&k);
}

static void diagnostics_have_the_code_and_the_last_lines(void **state)
{
    (void)state;
    struct eng_exit x = {.cause = CAUSE_EXITED};
    mem_auto char *none = launcher_exit_diagnostics(&x);
    assert_string_equal(none, "");
    x.raw = 3;
    x.last_stderr = "no such file\n";
    mem_auto char *text = launcher_exit_diagnostics(&x);
    assert_string_equal(text, "Exit code 3. The last lines of its standard error:\nno such file\n");
    struct eng_exit lost = {.cause = CAUSE_LOST, .text = "node n1 is lost"};
    mem_auto char *other = launcher_exit_diagnostics(&lost);
    assert_non_null(strstr(other, "node n1 is lost"));
}

static void json_is_written_as_java_does(void **state)
{
    (void)state;
    static const char compact[] =
        "{\"a\":1,\"t\":\"x,{\\\"}\\\\\",\"o\":{},\"l\":[],\"n\":[1,2],\"d\":[{\"b\":null},{\"c\":[{}]}]}";
    static const char pretty[] =
        "{\n  \"a\" : 1,\n  \"t\" : \"x,{\\\"}\\\\\",\n  \"o\" : { },\n  \"l\" : [ ],\n"
        "  \"n\" : [ 1, 2 ],\n  \"d\" : [ {\n    \"b\" : null\n  }, {\n    \"c\" : [ { } ]\n"
        "  } ]\n}";
    for (size_t piece = 1; piece <= sizeof compact; piece++) {
        struct launcher_pretty p = {0};
        buf_auto struct buf out = BUF_EMPTY;
        for (size_t at = 0; at < sizeof compact - 1; at += piece) {
            size_t left = sizeof compact - 1 - at;
            launcher_pretty_add(&p, compact + at, left < piece ? left : piece, &out);
        }
        assert_string_equal(buf_cstr(&out), pretty);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_exit_has_its_code_and_type),
        cmocka_unit_test(diagnostics_have_the_code_and_the_last_lines),
        cmocka_unit_test(json_is_written_as_java_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
