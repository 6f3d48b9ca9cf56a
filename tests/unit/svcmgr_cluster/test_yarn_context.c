/** Launch contexts of YARN: files from everywhere, what is served and for how long, commands and variables. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include <jansson.h>

#include "base/mem.h"
#include "cluster/yarn_context.h"
#include "spec/spec.h"

#define CONTAINER "container_1700000000000_0001_01_000002"

static struct desk {
    struct run_loop *loop;
    struct yarn_context_maker *maker;
    bool is_done;
    int err;
    char text[512]; /* of the error */
    /* what was made: a line for each file, "link scheme host port file size timestamp" */
    char files[2048], command[512], env[512], secret[64];
    size_t n_tokens;
} desk;

static int set_up(void **state)
{
    const struct yarn_context_config config = {
        .user = "alice", .files_url = "http://am.host:8080/files", .cache_dir = "."};

    (void)state;
    desk = (struct desk){.loop = run_loop_new()};
    struct yarn_context_config own = config;
    own.loop = desk.loop;
    yarn_context_maker_new(&own, &desk.maker);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    yarn_context_maker_free(desk.maker);
    run_loop_free(desk.loop);
    return 0;
}

static void note_file(const Yarn__NamedLocalResource *named)
{
    const Yarn__LocalResource *r = named->value;
    const Yarn__Url *u = r->resource;
    size_t at = strlen(desk.files);

    assert_true(r->has_type && r->has_visibility && u->has_port);
    snprintf(desk.files + at, sizeof desk.files - at, "%s%s %s %s %d %s %d %d\n", named->key,
             r->type == YARN__LOCAL_RESOURCE_TYPE__ARCHIVE ? "/" : "", u->scheme, u->host ? u->host : "-",
             (int)u->port, u->file, (int)r->size, r->timestamp > 0);
    if (u->host && strcmp(u->host, "am.host") == 0)
        snprintf(desk.secret, sizeof desk.secret, "%.32s", u->file + strlen("/files/"));
}

static void on_made(void *arg, int err, const Yarn__LaunchContext *m, const struct err_info *why)
{
    (void)arg;
    desk.is_done = true;
    desk.err = err;
    snprintf(desk.text, sizeof desk.text, "%s", err ? why->text : "");
    if (err)
        return;
    desk.n_tokens = m->tokens.len;
    for (size_t i = 0; i < m->n_local_resources; i++)
        note_file(m->local_resources[i]);
    for (size_t i = 0; i < m->n_environment; i++) {
        size_t at = strlen(desk.env);
        snprintf(desk.env + at, sizeof desk.env - at, "%s=%s;", m->environment[i]->key,
                 m->environment[i]->value);
    }
    snprintf(desk.command, sizeof desk.command, "%s", m->n_command ? m->command[0] : "");
}

static void make(const struct cluster_file *files, size_t n)
{
    static const char *const env[] = {"A=1 $B", "USER=alice", "WORK_DIR=$PWD", NULL};
    const struct cluster_launch launch = {
        .attempt = 1, .owner = "alice", .command = "run \"it\"", .env = env, .files = files, .n_files = n};

    desk.is_done = false;
    yarn_context_make(desk.maker, &(struct cluster_container){.id = CONTAINER}, &launch, on_made, NULL);
    assert_false(desk.is_done); /* later */
    while (!desk.is_done)
        uv_run(run_loop_uv(desk.loop), UV_RUN_ONCE);
}

static void bytes_are_served_until_the_container_is_dropped(void **state)
{
    const struct cluster_file files[] = {{.path = "conf/a", .bytes = "first", .len = 5},
                                         {.path = "b", .bytes = "", .len = 0}};
    const char *bytes = NULL;
    size_t len = 0;
    char second[64];

    (void)state;
    make(files, 2);
    assert_int_equal(desk.err, 0);
    assert_int_equal(strlen(desk.secret), 32);
    assert_int_equal(yarn_context_served(desk.maker, desk.secret, "0", &bytes, &len), 0);
    assert_memory_equal(bytes, "first", len);
    assert_int_equal(len, 5);
    assert_int_equal(yarn_context_served(desk.maker, desk.secret, "1", &bytes, &len), 0);
    assert_int_equal(len, 0);
    assert_int_equal(yarn_context_served(desk.maker, desk.secret, "2", &bytes, &len), ERR_NOTFOUND);
    assert_int_equal(yarn_context_served(desk.maker, desk.secret, "-1", &bytes, &len), ERR_NOTFOUND);
    snprintf(second, sizeof second, "%s", desk.secret);
    make(files, 1); /* the next launch in the container has files of its own */
    assert_string_not_equal(second, desk.secret);
    assert_int_equal(yarn_context_served(desk.maker, second, "0", &bytes, &len), ERR_NOTFOUND);
    yarn_context_drop(desk.maker, CONTAINER);
    yarn_context_drop(desk.maker, "another");
    assert_int_equal(yarn_context_served(desk.maker, desk.secret, "0", &bytes, &len), ERR_NOTFOUND);
}

static void files_of_others_are_fetched_from_there(void **state)
{
    char path[] = "/tmp/test-yarn-context-XXXXXX";
    int fd = mkstemp(path);

    (void)state;
    assert_int_equal(write(fd, "four", 4), 4);
    close(fd);
    mem_auto char *uri = mem_fmt("file://%s", path);
    const struct cluster_file files[] = {
        {.path = "f", .source = uri},
        {.path = "lib", .source = "http://web:81/a/b.tar.gz", .is_archive = true},
        {.path = "w", .source = "https://web/c"}};
    make(files, 3);
    unlink(path);
    assert_string_equal(desk.text, "");
    mem_auto char *wanted =
        mem_fmt("f file - -1 %s 4 1\nlib/ http web 81 /a/b.tar.gz 0 0\nw https web -1 /c 0 0\n", path);
    assert_string_equal(desk.files, wanted);
}

/** An archive is one by its name, and a directory is copied by the node. */
static void sources_of_a_task_are_what_their_names_say(void **state)
{
    const struct cluster_file files[] = {
        {.path = "a.ZIP", .source = "http://web/x/a.ZIP", .is_source = true},
        {.path = "b.tar.gz", .source = "http://web/b.tar.gz", .is_source = true},
        {.path = "c.zip.txt", .source = "http://web/c.zip.txt", .is_source = true},
        {.path = "tmp", .source = "/tmp", .is_source = true}};

    (void)state;
    make(files, 4);
    assert_string_equal(desk.text, "");
    assert_non_null(strstr(desk.files,
                           "a.ZIP/ http web -1 /x/a.ZIP 0 0\nb.tar.gz/ http web -1 /b.tar.gz 0 0\n"
                           "c.zip.txt http web -1 /c.zip.txt 0 0\ntmp file - -1 /tmp "));
}

static void what_a_node_cannot_be_given_is_refused_by_its_name(void **state)
{
    json_t *values = json_object();
    const struct cluster_file absent = {.path = "f", .source = "/nothing/here"};
    const struct cluster_file template = {.path = "f", .source = "/nothing/of-a-template", .values = values};
    const struct cluster_file directory = {.path = "f", .source = "/tmp", .values = values};

    (void)state;
    make(&absent, 1);
    assert_int_equal(desk.err, ERR_NOTFOUND);
    assert_non_null(strstr(desk.text, "/nothing/here"));
    make(&template, 1);
    assert_int_equal(desk.err, ERR_INVALID);
    assert_non_null(
        strstr(desk.text, "src_file /nothing/of-a-template, as user alice: there is no such file"));
    make(&directory, 1);
    assert_int_equal(desk.err, ERR_INVALID);
    assert_non_null(strstr(desk.text, "it is no regular file"));
    json_decref(values);
}

/** A file of a source's text, in a directory of its own. */
static char *file_of(const char *text)
{
    char *path = mem_str("/tmp/test-yarn-context-XXXXXX");
    int fd = mkstemp(path);

    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
    return path;
}

static const char *served(const char *name)
{
    const char *bytes = NULL;
    size_t len = 0;

    assert_int_equal(yarn_context_served(desk.maker, desk.secret, name, &bytes, &len), 0);
    assert_int_equal(strlen(bytes), len);
    return bytes;
}

static void sources_are_read_expanded_and_served(void **state)
{
    json_t *values = json_pack("{s:s}", "NAME", "web");
    struct spec_file properties = {.type = FILE_PROPERTIES,
                                   .properties = json_pack("{s:s}", "b", "over ${NAME}")};
    struct spec_file xml = {.type = FILE_HADOOP_XML, .properties = json_pack("{s:s}", "key", "<${NAME}>")};
    struct spec_file json = {.type = FILE_JSON, .properties = json_pack("{s:s}", "b", "2")};
    mem_auto char *of_text = file_of("of ${NAME}, ${OTHER}\n");
    mem_auto char *of_properties = file_of("a = ${NAME}\nb=under\n");
    mem_auto char *of_xml =
        file_of("<configuration><property><name>x</name><value>1</value></property></configuration>");
    mem_auto char *of_json = file_of("{\"a\": [1]}");
    const struct cluster_file files[] = {
        {.path = "conf/text", .source = of_text, .values = values},
        {.path = "conf/plain", .bytes = "plain", .len = 5},
        {.path = "conf/p", .source = of_properties, .values = values, .config = &properties},
        {.path = "conf/x", .source = of_xml, .values = values, .config = &xml},
        {.path = "conf/j", .source = of_json, .values = values, .config = &json}};

    (void)state;
    make(files, 5);
    assert_string_equal(desk.text, "");
    assert_string_equal(served("0"), "of web, ${OTHER}\n");
    assert_string_equal(served("1"), "plain");
    assert_non_null(strstr(served("2"), "a=web\nb=over web\n"));
    assert_non_null(strstr(served("3"), "<name>x</name><value>1</value>"));
    assert_non_null(strstr(served("3"), "<name>key</name><value>&lt;web&gt;</value>"));
    assert_non_null(strstr(served("4"), "\"b\" : \"2\""));
    assert_non_null(strstr(desk.files, "conf/text http am.host 8080 /files/"));
    make(files + 3, 1);
    unlink(of_json);
    make(files + 4, 1);
    assert_int_equal(desk.err, ERR_INVALID);
    unlink(of_text);
    unlink(of_properties);
    unlink(of_xml);
    json_decref(values);
    json_decref(properties.properties);
    json_decref(xml.properties);
    json_decref(json.properties);
}

static void variables_of_the_node_are_left_to_it_and_no_token_is_given(void **state)
{
    (void)state;
    make(NULL, 0);
    assert_string_equal(desk.env, "A=1 \\$B;WORK_DIR=$PWD;");
    assert_non_null(strstr(desk.command, "run \\\"it\\\""));
    assert_int_equal(desk.n_tokens, 7);
}

static void mounts_of_an_image_are_listed_and_its_entry_point_gets_words(void **state)
{
    static const char *const env[] = {SPEC_MOUNTS_ENV "=/a:/b", "B=1", NULL};
    const struct cluster_file files[] = {{.path = "conf/c", .bytes = "", .mount = "/etc/c"}};
    struct cluster_image image = {.id = "nginx", .mounts = "/a:/b", .has_entry_point = true};
    const struct cluster_launch launch = {
        .command = "serve -v", .env = env, .files = files, .n_files = 1, .image = &image};

    (void)state;
    desk.is_done = false;
    yarn_context_make(desk.maker, &(struct cluster_container){.id = CONTAINER}, &launch, on_made, NULL);
    while (!desk.is_done)
        uv_run(run_loop_uv(desk.loop), UV_RUN_ONCE);
    assert_string_equal(desk.env, "B=1;" SPEC_MOUNTS_ENV "=/a:/b,conf/c:/etc/c:ro;");
    assert_string_equal(desk.command, "serve -v");
}

static void one_that_is_cancelled_is_not_reported(void **state)
{
    static const char *const env[] = {NULL};
    json_t *values = json_object();
    const struct cluster_file files[] = {{.path = "f", .source = "/proc/self/status", .values = values}};
    const struct cluster_launch launch = {.command = "x", .env = env, .files = files, .n_files = 1};
    const struct cluster_container container = {.id = CONTAINER};

    (void)state;
    desk.is_done = false;
    yarn_context_cancel(yarn_context_make(desk.maker, &container, &launch, on_made, NULL));
    struct yarn_context_call *call = yarn_context_make(desk.maker, &container, &launch, on_made, NULL);
    uv_run(run_loop_uv(desk.loop), UV_RUN_ONCE); /* the pool reads */
    yarn_context_cancel(call);
    make(NULL, 0); /* of another */
    assert_int_equal(desk.err, 0);
    json_decref(values);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(bytes_are_served_until_the_container_is_dropped),
        CASE(files_of_others_are_fetched_from_there),
        CASE(sources_of_a_task_are_what_their_names_say),
        CASE(what_a_node_cannot_be_given_is_refused_by_its_name),
        CASE(sources_are_read_expanded_and_served),
        CASE(variables_of_the_node_are_left_to_it_and_no_token_is_given),
        CASE(mounts_of_an_image_are_listed_and_its_entry_point_gets_words),
        CASE(one_that_is_cancelled_is_not_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
