/** What a process gets: environment, command and files, expanded when the container is known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/mem.h"
#include "base/obj.h"
#include "json/json.h"
#include "launch/launch.h"

static const struct cluster_container container = {
    .id = "container_1_1_01_000002",
    .ip = "127.77.0.3",
    .hostname = "host7",
    .work_dir = "/w",
    .log_dir = "/l",
    .run_user = "nobody",
};

static const char *value_of(const struct launch_plan *p, const char *name)
{
    size_t n = strlen(name);

    for (size_t i = 0; p->env[i]; i++)
        if (!strncmp(p->env[i], name, n) && p->env[i][n] == '=')
            return p->env[i] + n + 1;
    return NULL;
}

static void plan(const struct eng_launch *l, struct launch_plan *p)
{
    struct err_info why = {0};

    if (launch_plan(l, &container, p, &why))
        fail_msg("%s", why.text);
}

static void environment_is_expanded_and_the_platform_wins(void **state)
{
    (void)state;
    struct eng_env env[] = {
        {(char *)"A", (char *)"$PWD/x:${PWD}:$PWDX:<LOG_DIR>/y"},
        {(char *)"B", (char *)"{{CONTAINER_ID}}-{{A}}-{{NONE}}"},
        {(char *)"A2", (char *)"1"},
        {(char *)"A2", (char *)"2"},
        {(char *)"CONTAINER_IP", (char *)"6.6.6.6"},
        {(char *)"PATH", (char *)"/mine"},
    };
    struct eng_launch l = {
        .command = (char *)"true", .run_as = (char *)"alice", .env = env, .n_env = ARRAY_LEN(env)};
    struct launch_plan p;

    plan(&l, &p);
    assert_string_equal(value_of(&p, "A"), "/w/x:/w:$PWDX:/l/y");
    assert_string_equal(value_of(&p, "B"), "container_1_1_01_000002-/w/x:/w:$PWDX:/l/y-");
    assert_string_equal(value_of(&p, "A2"), "2");
    assert_string_equal(value_of(&p, "CONTAINER_IP"), "127.77.0.3");
    assert_string_equal(value_of(&p, "CONTAINER_ID"), "container_1_1_01_000002");
    assert_string_equal(value_of(&p, "NM_HOST"), "host7");
    assert_string_equal(value_of(&p, "USER"), "alice");
    assert_string_equal(value_of(&p, "PWD"), "/w");
    assert_string_equal(value_of(&p, "PATH"), "/mine");
    launch_plan_fini(&p);
}

static void commands_lose_their_redirection_and_nothing_else(void **state)
{
    (void)state;
    static const struct {
        const char *given, *wanted;
    } cases[] = {
        {"run a; run b 1><LOG_DIR>/stdout.txt 2><LOG_DIR>/stderr.txt ", "run a; run b"},
        {"run 1><LOG_DIR>/other.txt", "run 1>/l/other.txt"},
        {"  echo $PWD {{NM_HOST}} ${X}", "echo $PWD host7 ${X}"},
        {"", ""},
        {NULL, ""},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct eng_launch l = {.command = (char *)cases[i].given, .run_as = (char *)"a"};
        struct launch_plan p;
        plan(&l, &p);
        assert_string_equal(p.launch.command, cases[i].wanted);
        launch_plan_fini(&p);
    }
}

/** Each variable names the one before ten times. */
static void an_image_is_described_by_variables(void **state)
{
    (void)state;
    struct eng_image image = {.id = (char *)"nginx", .hostname = (char *)"h", .network = (char *)"bridge"};
    struct eng_launch l = {.command = (char *)"x", .run_as = (char *)"alice", .image = &image};
    struct launch_plan p;

    plan(&l, &p);
    assert_string_equal(value_of(&p, "YARN_CONTAINER_RUNTIME_TYPE"), "docker");
    assert_string_equal(value_of(&p, "YARN_CONTAINER_RUNTIME_DOCKER_IMAGE"), "nginx");
    assert_string_equal(value_of(&p, "YARN_CONTAINER_RUNTIME_DOCKER_CONTAINER_HOSTNAME"), "h");
    assert_string_equal(value_of(&p, "YARN_CONTAINER_RUNTIME_DOCKER_CONTAINER_NETWORK"), "bridge");
    assert_null(value_of(&p, "YARN_CONTAINER_RUNTIME_DOCKER_RUN_PRIVILEGED_CONTAINER"));
    launch_plan_fini(&p);
    image.network = NULL;
    plan(&l, &p);
    assert_null(value_of(&p, "YARN_CONTAINER_RUNTIME_DOCKER_CONTAINER_NETWORK"));
    launch_plan_fini(&p);
}

static void expanded_texts_have_a_bound(void **state)
{
    (void)state;
    char names[8][16], values[8][64] = {"0123456789"};
    struct eng_env env[8];

    for (int i = 0; i < 8; i++) {
        snprintf(names[i], sizeof names[i], "A%d", i);
        for (int k = 0; i && k < 10; k++)
            snprintf(values[i] + 6 * k, sizeof values[i] - 6 * (size_t)k, "{{A%d}}", i - 1);
        env[i] = (struct eng_env){names[i], values[i]};
    }
    struct eng_launch l = {.instance = (char *)"w-0",
                           .component = (char *)"w",
                           .command = (char *)"{{A5}}{{A5}}",
                           .run_as = (char *)"alice",
                           .env = env,
                           .n_env = 8};
    struct err_info why = {0};
    struct launch_plan p;
    assert_int_equal(launch_plan(&l, &container, &p, &why), ERR_TOOBIG);
    assert_non_null(strstr(why.text, "variable A7"));
    assert_non_null(strstr(why.text, "16777216 bytes"));
    assert_null(p.env);
    l.n_env = 7; /* 11 MB together, and the command asks for 2 MB: that fits */
    plan(&l, &p);
    launch_plan_fini(&p);
    l.command = (char *)"{{A6}}";
    assert_int_equal(launch_plan(&l, &container, &p, &why), ERR_TOOBIG);
    assert_non_null(strstr(why.text, "launch_command"));
    l.too_large = (char *)"the engine says so";
    assert_int_equal(launch_plan(&l, &container, &p, &why), ERR_TOOBIG);
    assert_string_equal(why.text, "the engine says so");
}

/** Nothing that a caller names is opened here: a path that leads nowhere is as good as any. */
static void sources_are_left_to_who_may_read_them(void **state)
{
    (void)state;
    struct eng_file files[] = {
        {.name = (char *)"conf/t", .mode = FILE_EXPAND, .src = (char *)"/no/such/template"},
        {.name = (char *)"conf/b", .mode = FILE_BYTES, .bytes = (char *)"raw", .len = 3},
        {.name = (char *)"c", .mode = FILE_COPY, .src = (char *)"/etc/passwd"},
        {.name = (char *)"lib", .mode = FILE_UNPACK, .src = (char *)"https://host/a.tar.gz"},
    };
    json_auto json_t *values = json_pack("{s:s}", "ID", "7");
    struct eng_launch l = {.command = (char *)"x",
                           .run_as = (char *)"alice",
                           .files = files,
                           .n_files = ARRAY_LEN(files),
                           .values = values,
                           .attempt = 3};
    struct launch_plan p;

    plan(&l, &p);
    assert_int_equal(p.launch.n_files, 4);
    assert_int_equal(p.launch.attempt, 3);
    assert_string_equal(p.launch.owner, "alice");
    assert_null(p.launch.files[0].bytes);
    assert_string_equal(p.launch.files[0].source, "/no/such/template");
    assert_ptr_equal(p.launch.files[0].values, values);
    assert_string_equal(p.launch.files[1].bytes, "raw");
    assert_null(p.launch.files[2].bytes);
    assert_string_equal(p.launch.files[2].source, "/etc/passwd");
    assert_null(p.launch.files[2].values);
    assert_false(p.launch.files[2].is_archive);
    assert_string_equal(p.launch.files[3].source, "https://host/a.tar.gz");
    assert_true(p.launch.files[3].is_archive);
    launch_plan_fini(&p);
}

static void what_cannot_be_run_says_why(void **state)
{
    (void)state;
    struct eng_env bad = {(char *)"A=B", (char *)"c"};
    const struct {
        struct eng_launch launch;
        int err;
        const char *says;
    } cases[] = {
        {{.command = (char *)"x", .env = &bad, .n_env = 1}, ERR_UNSUPPORTED, "A=B"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct eng_launch l = cases[i].launch;
        struct launch_plan p;
        struct err_info why = {0};
        l.run_as = (char *)"a";
        assert_int_equal(launch_plan(&l, &container, &p, &why), cases[i].err);
        assert_non_null(strstr(why.text, cases[i].says));
        assert_null(p.command);
    }
}

/* ---- tasks ---- */

/** As it is: what a shell would take, marks and placeholders too. */
static void an_entry_point_stands_between_double_quotes(void **state)
{
    (void)state;
    struct eng_launch l = {
        .command = (char *)"X=3; exit \\$X {{USER}} <LOG_DIR>", .run_as = (char *)"a", .is_task = true};
    struct cluster_container elsewhere = container;
    struct err_info why;
    struct launch_plan p;

    plan(&l, &p);
    assert_string_equal(p.launch.command,
                        "exec /bin/bash -c \"X=3; exit \\$X {{USER}} <LOG_DIR> 1>&1 2>&2\"");
    assert_true(p.launch.is_task);
    launch_plan_fini(&p);
    elsewhere.log_dir = elsewhere.work_dir = NULL;
    l.command = (char *)"run";
    assert_int_equal(launch_plan(&l, &elsewhere, &p, &why), 0);
    assert_string_equal(p.launch.command, "exec /bin/bash -c \"run 1><LOG_DIR>/stdout 2><LOG_DIR>/stderr\"");
    launch_plan_fini(&p);
}

static void a_task_knows_its_container(void **state)
{
    (void)state;
    static const struct {
        const char *id, *attempt;
    } cases[] = {
        {"container_1700000000000_0012_02_000003", "appattempt_1700000000000_0012_000002"},
        {"container_e17_1700000000000_0012_02_000003", "appattempt_1700000000000_0012_000002"},
        {"other", ""},
    };
    struct cluster_container c = container;
    struct err_info why;
    c.gpus = 5;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct eng_launch l = {.command = (char *)"x", .run_as = (char *)"a", .is_task = true};
        struct launch_plan p;
        c.id = cases[i].id;
        assert_int_equal(launch_plan(&l, &c, &p, &why), 0);
        assert_string_equal(value_of(&p, "CONTAINER_GPUS"), "5");
        assert_string_equal(value_of(&p, "ATTEMPT_ID"), cases[i].attempt);
        launch_plan_fini(&p);
    }
}

static void each_source_has_a_name_of_its_own(void **state)
{
    (void)state;
    static const struct {
        const char *names[2], *says;
    } cases[] = {
        {{"a", "a"}, "is there twice"},
        {{"a", ""}, "has no base name"},
        {{"..", "a"}, "has no base name"},
        {{"a", "b"}, NULL},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct eng_file files[] = {
            {.name = (char *)cases[i].names[0], .mode = FILE_SOURCE, .src = (char *)"/x/a"},
            {.name = (char *)cases[i].names[1], .mode = FILE_SOURCE, .src = (char *)"/y/a"},
        };
        struct eng_launch l = {
            .command = (char *)"x", .run_as = (char *)"a", .is_task = true, .files = files, .n_files = 2};
        struct launch_plan p;
        struct err_info why = {0};
        int err = launch_plan(&l, &container, &p, &why);
        assert_int_equal(err, cases[i].says ? ERR_INVALID : 0);
        assert_int_equal(p.cause, cases[i].says ? CAUSE_SOURCE : CAUSE_LAUNCH);
        if (cases[i].says && !strstr(why.text, cases[i].says))
            fail_msg("%s", why.text);
        assert_true(err || p.launch.files[1].is_source);
        launch_plan_fini(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(environment_is_expanded_and_the_platform_wins),
        cmocka_unit_test(commands_lose_their_redirection_and_nothing_else),
        cmocka_unit_test(sources_are_left_to_who_may_read_them),
        cmocka_unit_test(an_image_is_described_by_variables),
        cmocka_unit_test(expanded_texts_have_a_bound),
        cmocka_unit_test(what_cannot_be_run_says_why),
        cmocka_unit_test(an_entry_point_stands_between_double_quotes),
        cmocka_unit_test(a_task_knows_its_container),
        cmocka_unit_test(each_source_has_a_name_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
