/** What a container is started with, and how it is probed. */
#include "engine_kit.h"

#include <string.h>

static const char *env_of(const struct eng_launch *l, const char *name)
{
    const char *value = NULL;
    for (size_t i = 0; i < l->n_env; i++)
        value = strcmp(l->env[i].name, name) == 0 ? l->env[i].value : value;
    return value;
}

static const struct eng_file *file_of(const struct eng_launch *l, const char *name)
{
    for (size_t i = 0; i < l->n_files; i++) {
        if (strcmp(l->files[i].name, name) == 0)
            return &l->files[i];
    }
    fail_msg("no file %s", name);
    return NULL;
}

static void command_and_environment(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(
        &k,
        "{\"name\":\"web\",\"version\":\"1\",\"components\":[{\"name\":\"hello\",\"number_of_containers\":1,"
        "\"resource\":{\"cpus\":2,\"memory\":128},"
        "\"artifact\":{\"type\":\"TARBALL\",\"id\":\"/srv/web.tgz\"},"
        "\"launch_command\":\"echo $X ${COMPONENT_ID} ${X} ${NOTHING} "
        "${LOG_DIR}\",\"configuration\":{\"env\":{"
        "\"X\":\"${COMPONENT_INSTANCE_NAME}\",\"Y\":\"a$b${DOMAIN}\",\"LANG\":\"C\",\"SERVICE_NAME\":"
        "\"mine\"},"
        "\"files\":[{\"type\":\"TEMPLATE\",\"dest_file\":\"t\",\"properties\":{\"content\":\"${SERVICE_NAME} "
        "${USER} {{k}}\","
        "\"k\":\"${CONTAINER_IP}\"}},{\"type\":\"STATIC\",\"dest_file\":\"s\",\"src_file\":\"/etc/s.conf\"},"
        "{\"type\":\"TEMPLATE\",\"dest_file\":\"u\",\"src_file\":\"/etc/u\"}]}}]}",
        false);
    const struct eng_launch *l = kit_last(&k, EFF_LAUNCH)->launch;
    assert_string_equal(
        l->command, "echo $X 0 hello-0 ${NOTHING} <LOG_DIR> 1><LOG_DIR>/stdout.txt 2><LOG_DIR>/stderr.txt ");
    assert_string_equal(env_of(l, "X"), "hello-0");
    assert_string_equal(env_of(l, "Y"), "a$bbobbin.test");
    assert_string_equal(env_of(l, "LANG"), "en_US.UTF-8");
    assert_string_equal(env_of(l, "WORK_DIR"), "$PWD");
    assert_string_equal(env_of(l, "CONTAINER_ID"), "container_1700000000000_0001_01_000002");
    assert_string_equal(env_of(l, "CONTAINER_IP"), kit_instance(&k, "web", "hello-0")->ip);
    assert_int_equal(l->memory_mb, 128);
    assert_int_equal(l->vcores, 2);
    assert_string_equal(l->run_as, "alice");
    mem_auto char *wanted = mem_fmt("mine alice %s", l->ip); /* a variable beats the placeholder */
    assert_string_equal(file_of(l, "conf/t")->bytes, wanted);
    assert_int_equal(file_of(l, "s")->mode, FILE_COPY);
    assert_string_equal(file_of(l, "s")->src, "/etc/s.conf");
    assert_int_equal(file_of(l, "conf/u")->mode, FILE_EXPAND);
    assert_int_equal(file_of(l, "lib")->mode, FILE_UNPACK);
    assert_string_equal(file_of(l, "lib")->src, "/srv/web.tgz");
    kit_end(&k);
}

/** fs.defaultFS and yarn.service.base.path as placeholders. */
static void the_file_system_is_named(void **state)
{
    (void)state;
    static const struct {
        const char *fs, *base;
        const char *command;
    } rows[] = {
        {"hdfs://nn.example:8020", NULL,
         "hdfs://nn.example:8020 nn.example hdfs://nn.example:8020/user/alice/.yarn/services/web"},
        {"hdfs://mycluster/", NULL,
         "hdfs://mycluster/ mycluster hdfs://mycluster/user/alice/.yarn/services/web"},
        {"abfs://box@store.net/", "/apps",
         "abfs://box@store.net/ store.net abfs://box@store.net/apps/services/web"},
        {"hdfs://[::1]:9000", "yarn",
         "hdfs://[::1]:9000 [::1] hdfs://[::1]:9000/user/alice/yarn/services/web"},
        {"hdfs://a", "s3a://b/yarn", "hdfs://a a s3a://b/yarn/services/web"},
        {"nn:9000", NULL, "hdfs://nn:9000 nn hdfs://nn:9000/user/alice/.yarn/services/web"},
        {NULL, NULL, "file:///  file:///user/alice/.yarn/services/web"},
        {"file:///", "/srv/yarn", "file:///  file:///srv/yarn/services/web"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct kit k;
        kit_start(&k, "seed");
        k.cfg.fs_uri = rows[i].fs;
        k.cfg.base_path = rows[i].base;
        kit_crash(&k);
        kit_recover(&k);
        kit_create(
            &k,
            "{\"name\":\"web\",\"version\":\"1\",\"resource\":{\"memory\":1},\"components\":[{\"name\":"
            "\"a\",\"number_of_containers\":1,\"launch_command\":\"${CLUSTER_FS_URI} ${CLUSTER_FS_HOST} "
            "${SERVICE_HDFS_DIR}\"}]}",
            false);
        const char *command = kit_last(&k, EFF_LAUNCH)->launch->command;
        if (strncmp(command, rows[i].command, strlen(rows[i].command)) != 0)
            fail_msg("row %zu: %s", i, command);
        kit_end(&k);
    }
}

static void dependents_see_addresses_of_what_they_name(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k,
               "{\"name\":\"web\",\"version\":\"1\",\"resource\":{\"memory\":1},\"components\":["
               "{\"name\":\"db-x\",\"number_of_containers\":1,\"launch_command\":\"a\"},"
               "{\"name\":\"other\",\"number_of_containers\":1,\"launch_command\":\"a\"},"
               "{\"name\":\"hello\",\"number_of_containers\":1,\"dependencies\":[\"db-x\"],"
               "\"launch_command\":\"${DB-X-0_IP} ${DB-X-0_HOST} ${OTHER-0_IP}\"}]}",
               false);
    mem_auto char *wanted = mem_fmt("%s node1 ${OTHER-0_IP} ", kit_instance(&k, "web", "db-x-0")->ip);
    assert_int_equal(strncmp(kit_last(&k, EFF_LAUNCH)->launch->command, wanted, strlen(wanted)), 0);
    kit_end(&k);
}

static void probes_are_complete(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(
        &k,
        kit_spec(
            "web", 1, "ALWAYS",
            ",\"readiness_check\":{\"type\":\"HTTP\",\"properties\":{\"url\":\"http://${THIS_HOST}:8/x\","
            "\"timeout\":\"250\",\"max.success\":\"399\",\"dns.check.enabled\":\"true\"}},"
            "\"configuration\":{\"properties\":{\"yarn.service.readiness-check-interval.seconds\":\"2\"}}"),
        false);
    const struct eng_probe *p = kit_last(&k, EFF_PROBE_START)->probe;
    mem_auto char *url = mem_fmt("http://%s:8/x", kit_instance(&k, "web", "hello-0")->ip);
    assert_int_equal(p->type, CHECK_HTTP);
    assert_string_equal(p->url, url);
    assert_string_equal(p->dns_name, "hello-0.web.alice.bobbin.test");
    assert_int_equal(p->timeout_ms, 250);
    assert_int_equal(p->min_success, 200);
    assert_int_equal(p->max_success, 399);
    assert_int_equal(p->interval_ms, 2000);
    assert_string_equal(kit_wait(&k, "web", "hello-0"), "readiness: not probed yet");
    kit_probe(&k, "web", "hello-0", false);
    assert_string_equal(kit_wait(&k, "web", "hello-0"), "readiness: refused");
    kit_exit_signal(&k, "web", "hello-0", 9);
    assert_int_equal(kit_count(&k, EFF_PROBE_STOP), 1);
    kit_end(&k);
}

static void a_plain_process_is_ready_when_it_runs(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k, kit_spec("web", 1, "ALWAYS", ",\"readiness_check\":{}"), false);
    assert_int_equal(kit_count(&k, EFF_PROBE_START), 0);
    assert_int_equal(kit_state(&k, "web", "hello-0"), INST_READY);
    kit_end(&k);
}

static void every_policy_waits_for_the_probe(void **state)
{
    (void)state;
    static const char *const policies[] = {"ALWAYS", "ON_FAILURE", "NEVER"};
    for (size_t i = 0; i < ARRAY_LEN(policies); i++) {
        struct kit k;
        kit_start(&k, "seed");
        kit_create(&k,
                   kit_spec("web", 1, policies[i],
                            ",\"readiness_check\":{\"type\":\"PORT\",\"properties\":{\"port\":\"9\"}}"),
                   false);
        assert_int_equal(kit_service(&k, "web")->state, SVC_STARTED);
        kit_probe(&k, "web", "hello-0", false);
        assert_int_equal(kit_service(&k, "web")->state, SVC_STARTED);
        kit_probe(&k, "web", "hello-0", true);
        assert_int_equal(kit_service(&k, "web")->state, SVC_STABLE);
        kit_end(&k);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(command_and_environment),
        cmocka_unit_test(the_file_system_is_named),
        cmocka_unit_test(dependents_see_addresses_of_what_they_name),
        cmocka_unit_test(probes_are_complete),
        cmocka_unit_test(a_plain_process_is_ready_when_it_runs),
        cmocka_unit_test(every_policy_waits_for_the_probe),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
