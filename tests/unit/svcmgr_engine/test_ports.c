/** Named ports: fixed ones, and those whose number the engine chooses and keeps. */
#include "engine_kit.h"

#include <string.h>

#include "engine/operation.h"

#define PORTS                                                                                                \
    ",\"ports\":[{\"name\":\"http\",\"port\":8080},{\"name\":\"jmx-in\",\"port\":0},{\"name\":\"debug\"}]"

static int64_t port_of(const struct kit *k, const char *instance, size_t i)
{
    const struct eng_instance *inst = kit_instance(k, "web", instance);
    return eng_instance_port(inst, inst->component->spec->ports[i]);
}

static const char *env_of(const struct eng_launch *l, const char *name)
{
    for (size_t i = 0; i < l->n_env; i++)
        if (strcmp(l->env[i].name, name) == 0)
            return l->env[i].value;
    return NULL;
}

static void a_launch_gets_its_ports(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(
        &k,
        "{\"name\":\"web\",\"version\":\"1\",\"components\":[{\"name\":\"hello\",\"number_of_containers\":1,"
        "\"resource\":{\"memory\":128},\"launch_command\":\"serve ${PORT.http} ${PORT.jmx-in} ${PORT.none}\","
        "\"readiness_check\":{\"type\":\"HTTP\",\"properties\":{\"url\":\"http://${THIS_HOST}:${PORT.jmx-in}/"
        "\"}}" PORTS "},{\"name\":\"after\",\"dependencies\":[\"hello\"],\"number_of_containers\":1,"
        "\"resource\":{\"memory\":128},\"launch_command\":\"ask ${HELLO-0_IP}:${HELLO-0_PORT.jmx-in}\"}]}",
        false);
    const struct eng_launch *l = kit_last(&k, EFF_LAUNCH)->launch;
    const struct eng_probe *probe = kit_last(&k, EFF_PROBE_START)->probe;
    mem_auto char *jmx = mem_fmt("%lld", (long long)port_of(&k, "hello-0", 1));
    mem_auto char *command = mem_fmt("serve 8080 %s ${PORT.none} 1>", jmx);
    mem_auto char *url = mem_fmt("http://%s:%s/", l->ip, jmx);
    assert_memory_equal(l->command, command, strlen(command));
    assert_string_equal(env_of(l, "PORT_HTTP"), "8080");
    assert_string_equal(env_of(l, "PORT_JMX_IN"), jmx);
    assert_string_equal(probe->url, url);
    assert_true(port_of(&k, "hello-0", 1) >= 20000 && port_of(&k, "hello-0", 1) < 32768);
    assert_int_not_equal(port_of(&k, "hello-0", 1), port_of(&k, "hello-0", 2));
    mem_auto char *dependent = mem_fmt("ask %s:%s 1>", l->ip, jmx);
    kit_probe(&k, "web", "hello-0", true);
    assert_memory_equal(kit_last(&k, EFF_LAUNCH)->launch->command, dependent, strlen(dependent));
    kit_end(&k);
}

static void a_port_check_may_name_a_port(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(
        &k,
        kit_spec(
            "web", 1, "ALWAYS",
            ",\"readiness_check\":{\"type\":\"PORT\",\"properties\":{\"port\":\"${PORT.debug}\"}}" PORTS),
        false);
    assert_int_equal(kit_last(&k, EFF_PROBE_START)->probe->port, port_of(&k, "hello-0", 2));
    kit_end(&k);
}

static void a_record_has_the_ports(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k, kit_spec("web", 1, "ALWAYS", PORTS), false);
    const struct eng_record *r = NULL;
    for (size_t i = 0; i < k.effects.n; i++)
        if (k.effects.items[i].kind == EFF_PUBLISH && k.effects.items[i].record->component)
            r = k.effects.items[i].record;
    assert_non_null(r);
    assert_int_equal(r->n_ports, 3);
    assert_string_equal(r->ports[1].name, "jmx-in");
    assert_int_equal(r->ports[0].port, 8080);
    assert_int_equal(r->ports[1].port, port_of(&k, "hello-0", 1));
    kit_end(&k);
}

static void numbers_outlive_processes_and_the_engine(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k, kit_spec("web", 2, "ALWAYS", PORTS), false);
    int64_t before[] = {port_of(&k, "hello-0", 1), port_of(&k, "hello-1", 1)};
    kit_exit_code(&k, "web", "hello-0", 1);
    kit_fire(&k, "web");
    kit_crash(&k);
    kit_recover(&k);
    assert_int_equal(port_of(&k, "hello-0", 1), before[0]);
    assert_int_equal(port_of(&k, "hello-1", 1), before[1]);
    kit_request(&k, EV_STOP, "web");
    kit_request(&k, EV_START, "web");
    assert_int_equal(port_of(&k, "hello-0", 1), before[0]); /* its address is the same */
    kit_end(&k);
}

/** So many instances on one address have different numbers, also after a restart, and give them back. */
static void instances_that_share_an_address_do_not_collide(void **state)
{
    (void)state;
    enum { N = 200 };
    static const char *const moments[] = {"at first", "after a restart, with more of them"};
    struct kit k;
    kit_start(&k, "seed");
    engine_free(k.e);
    k.cfg.address_net = NULL;
    assert_int_equal(engine_new(&k.cfg, &k.e, NULL), 0);
    kit_recover(&k);
    kit_create(&k, kit_spec("web", N, "ALWAYS", ",\"ports\":[{\"name\":\"a\"},{\"name\":\"b\"}]"), false);
    for (int n = N, moment = 0; moment < 2; moment++, n = 2 * N) {
        bool used[65536] = {0};
        for (int i = 0; i < n; i++) {
            mem_auto char *name = mem_fmt("hello-%d", i);
            for (size_t p = 0; p < 2; p++) {
                int64_t port = port_of(&k, name, p);
                if (port < 20000 || used[port])
                    fail_msg("%s: %s has %lld", moments[moment], name, (long long)port);
                used[port] = true;
            }
        }
        kit_crash(&k);
        kit_recover(&k);
        kit_flex(&k, "web", "hello", 2 * N);
    }
    kit_end(&k);
}

static void an_upgrade_cannot_change_them(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    struct spec_service *old = kit_spec_of(&k, kit_spec("web", 1, "ALWAYS", PORTS));
    struct spec_service *new =
        kit_spec_of(&k, kit_spec("web", 1, "ALWAYS", ",\"ports\":[{\"name\":\"http\"}]"));
    mem_auto char *why = revision_refusal(old, new);
    assert_non_null(strstr(why, "changes to component ports not supported by upgrade"));
    spec_free(old);
    spec_free(new);
    kit_end(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_launch_gets_its_ports),
        cmocka_unit_test(a_port_check_may_name_a_port),
        cmocka_unit_test(a_record_has_the_ports),
        cmocka_unit_test(numbers_outlive_processes_and_the_engine),
        cmocka_unit_test(instances_that_share_an_address_do_not_collide),
        cmocka_unit_test(an_upgrade_cannot_change_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
