/** Documents of the format before are read and become those of the present one; documents of a newer one are refused. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "engine/step.h"
#include "engine_kit.h"
#include "json/json.h"

/* FORMAT1: what a version wrote before documents had a format, a line each: key, tab, text */

static void read_file(const char *path, struct buf *out)
{
    char chunk[4096];
    size_t n;
    FILE *in = fopen(path, "r");
    assert_non_null(in);
    while ((n = fread(chunk, 1, sizeof chunk, in)) > 0)
        buf_add(out, chunk, n);
    fclose(in);
}

/** The kit's store has what the file says, and nothing else. */
static void fill_store(struct kit *k, const char *path)
{
    buf_auto struct buf text = BUF_EMPTY;
    char *rest = NULL;
    read_file(path, &text);
    map_fini(&k->store, free);
    for (char *line = strtok_r((char *)buf_cstr(&text), "\n", &rest); line;
         line = strtok_r(NULL, "\n", &rest)) {
        char *tab = strchr(line, '\t');
        *tab = '\0';
        map_set(&k->store, line, mem_str(tab + 1));
    }
}

struct expected {
    const char *user, *name;
    enum eng_service_state state;
    const char *instances;
};

static const struct expected expected[] = {
    {"Bob_2", "web", SVC_STABLE, "hello-0:READY"},
    {"alice", "batch", SVC_STABLE, "hello-0:SUCCEEDED hello-1:FAILED hello-2:READY"},
    {"alice", "done", SVC_SUCCEEDED, ""},
    {"alice", "ends", SVC_STABLE, "hello-0:READY"},
    {"alice", "failed", SVC_FAILED, ""},
    {"alice", "fewer", SVC_STABLE, "hello-0:READY hello-2:READY"},
    {"alice", "going", SVC_FINISHING, "hello-0:RELEASING hello-1:RELEASING"},
    {"alice", "leaving", SVC_FINISHING, "hello-0:RELEASING"},
    {"alice", "saved", SVC_STOPPED, ""},
    {"alice", "slow", SVC_STARTED,
     "hello-0:REQUESTED hello-1:ALLOCATED hello-2:LAUNCHED hello-3:RUNNING hello-4:RELEASING"},
    {"alice", "stopped", SVC_STOPPED, ""},
    {"alice", "waits", SVC_ACCEPTED, ""},
    {"alice", "web", SVC_STARTED, "db-0:RUNNING front-0:READY front-1:EXITED front-2:PENDING"},
};

static void check_all(struct kit *k)
{
    for (size_t i = 0; i < ARRAY_LEN(expected); i++) {
        k->user = expected[i].user;
        const struct eng_service *s = kit_service(k, expected[i].name);
        assert_non_null(s);
        assert_int_equal(s->state, expected[i].state);
        assert_string_equal(kit_list(k, expected[i].name), expected[i].instances);
    }
    k->user = "alice";
}

static void check_what_is_wanted(const struct kit *k)
{
    const struct eng_service *web = kit_service(k, "web");
    assert_int_equal(web->incarnation, 1);
    assert_int_equal(web->spec->n_components, 2);
    assert_true(kit_service(k, "leaving")->destroying);
    assert_int_equal(kit_service(k, "fewer")->spec->components[0]->n_decommissioned_instances, 1);
    assert_string_equal(kit_service(k, "waits")->spec->dependencies[0], "base");
}

static void check_what_is(const struct kit *k)
{
    const struct eng_service *web = kit_service(k, "web"), *ends = kit_service(k, "ends"),
                             *failed = kit_service(k, "failed");
    const struct eng_exit *x = kit_instance(k, "web", "front-1")->last_exit;
    assert_string_equal(web->app_id, "application_1700000000000_0001");
    assert_int_equal(web->lifetime_end_ms, 4600000);
    assert_int_equal(x->cause, CAUSE_EXITED);
    assert_int_equal(x->raw, 3);
    assert_string_equal(x->last_stderr, "no such file");
    assert_int_equal(kit_instance(k, "web", "front-1")->due_ms, 1000100);
    assert_int_equal(eng_service_n_stale(ends), 2);
    assert_int_equal(eng_service_n_ended(ends), 2);
    assert_string_equal(failed->failure->instance, "hello-1");
    assert_int_equal(failed->failure->exit->raw, 3);
}

static void documents_of_the_format_before_are_read(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    fill_store(&k, FORMAT1);
    kit_crash(&k);
    check_all(&k);
    check_what_is_wanted(&k);
    check_what_is(&k);
    kit_end(&k);
}

static int64_t format_of(const char *text)
{
    json_auto json_t *doc = NULL;
    assert_int_equal(json_read(text, strlen(text), &doc, NULL), 0);
    return json_integer_value(json_object_get(doc, "format"));
}

/** Each service is written as two documents once it is settled, and both together say what the one did. */
static void they_become_those_of_the_present_format(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    fill_store(&k, FORMAT1);
    kit_crash(&k);
    k.obey = false;
    kit_step(&k, (struct eng_event){.kind = EV_RESUME});
    for (size_t i = 0; i < ARRAY_LEN(expected); i++) {
        mem_auto char *user = mem_str(strcmp(expected[i].user, "alice") == 0 ? "alice" : "%42ob%5F2");
        mem_auto char *wanted = mem_fmt("definitions/services/%s/%s", user, expected[i].name);
        mem_auto char *is = mem_fmt("services/%s/%s", user, expected[i].name);
        assert_non_null(map_get(&k.store, wanted));
        assert_int_equal(format_of(map_get(&k.store, wanted)), 2);
        assert_int_equal(format_of(map_get(&k.store, is)), 2);
        assert_null(strstr(map_get(&k.store, is), "\"spec\""));
    }
    kit_crash(&k);
    check_what_is_wanted(&k);
    assert_string_equal(kit_service(&k, "web")->app_id, "application_1700000000000_0001");
    assert_string_equal(kit_service(&k, "failed")->failure->instance, "hello-1");
    kit_end(&k);
}

static void every_document_says_its_format(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k, kit_spec("web", 2, "ALWAYS", ""), false);
    kit_exit_code(&k, "web", "hello-0", 1);
    assert_int_equal(k.store.n_items, 6); /* the engine's, two of the service, its history, two instances */
    for (MAP_EACH (&k.store, slot))
        assert_int_equal(format_of(slot->value), 2);
    kit_end(&k);
}

static void a_newer_document_is_refused_by_name(void **state)
{
    (void)state;
    static const char *const keys[] = {"engine", "definitions/services/alice/web", "services/alice/web",
                                       "services/alice/web/hello-0"};
    struct kit k;
    kit_start(&k, "seed");
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        struct err_info why = {0};
        const char *text = "{\"format\":3,\"user\":\"alice\"}";
        assert_int_equal(engine_load(k.e, keys[i], text, strlen(text), &why), ERR_UNSUPPORTED);
        assert_non_null(strstr(why.text, keys[i]));
        assert_non_null(strstr(why.text, "format 3"));
    }
    kit_end(&k);
}

static void what_is_no_format_is_damage(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "{\"format\":0}", "{\"format\":-1}", "{\"format\":\"2\"}", "{\"format\":null}", "[]", "{"};
    struct kit k;
    kit_start(&k, "seed");
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct err_info why = {0};
        assert_int_equal(engine_load(k.e, "services/alice/web", texts[i], strlen(texts[i]), &why), ERR_JSON);
    }
    kit_end(&k);
}

/** Take members out of a stored document. */
static void strip(struct kit *k, const char *key, const char *const *members, size_t n)
{
    json_auto json_t *doc = NULL;
    const char *text = map_get(&k->store, key);
    assert_int_equal(json_read(text, strlen(text), &doc, NULL), 0);
    for (size_t i = 0; i < n; i++)
        json_object_del(doc, members[i]);
    free(map_set(&k->store, key, json_dumps(doc, JSON_COMPACT)));
}

/** A framework that a version stored which did not keep requests, nor times of tasks. */
static void documents_without_later_members_are_read(void **state)
{
    (void)state;
    static const char *const wanted[] = {"request", "first_request_ms", "last_request_ms", "wanted_stopped"};
    static const char *const is[] = {"launched_ms", "ended_ms", "completed_ms", "final_ms", "migrations"};
    static const char *const task[] = {"created_ms", "launched_ms", "completed_ms", "gpus", "node_http"};
    struct kit k;
    kit_start(&k, "seed");
    k.service_kind = KIND_LAUNCHER;
    kit_create(&k, kit_spec("f", 2, "ALWAYS", ""), false);
    kit_exit_code(&k, "f", "hello-0", 0);
    strip(&k, "definitions/frameworks/alice/f", wanted, ARRAY_LEN(wanted));
    strip(&k, "frameworks/alice/f", is, ARRAY_LEN(is));
    strip(&k, "frameworks/alice/f/hello-0", task, ARRAY_LEN(task));
    kit_crash(&k);
    kit_recover(&k);
    const struct eng_service *s = kit_service(&k, "f");
    assert_string_equal(kit_list(&k, "f"), "hello-0:SUCCEEDED hello-1:READY");
    assert_null(s->request);
    assert_int_equal(s->first_request_ms, 0);
    assert_true(engine_find_framework(k.e, "f") == s);
    kit_exit_code(&k, "f", "hello-1", 0);
    assert_true(kit_service(&k, "f")->completed_ms > 0);
    kit_end(&k);
}

/** What is wanted is written by requests only, and what is wanted of a service needs nothing of what it is. */
static void requests_write_what_is_wanted_and_events_what_is(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k, kit_spec("web", 1, "ALWAYS", ""), false);
    kit_clear(&k);
    k.obey = false;
    kit_exit_code(&k, "web", "hello-0", 1);
    for (size_t i = 0; i < k.effects.n; i++)
        assert_true(!k.effects.items[i].key || strncmp(k.effects.items[i].key, "definitions/", 12) != 0);
    kit_clear(&k);
    kit_flex(&k, "web", "hello", 2);
    assert_string_equal(k.effects.items[0].key, "definitions/services/alice/web");
    assert_non_null(strstr(k.effects.items[0].bytes, "\"number_of_containers\":2"));
    kit_end(&k);
}

/** Every instance has ended with as many last words as a cluster can report, and more, and all are started again at once. */
static void a_step_fits_one_transaction_whatever_is_reported(void **state)
{
    (void)state;
    static const char words[] = {'"', '\x01', '\n', 'x'};
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        struct kit k;
        char text[4001];
        memset(text, words[i], sizeof text - 1);
        text[sizeof text - 1] = '\0';
        kit_start(&k, "seed");
        kit_create(&k,
                   kit_spec("web", 100, "ALWAYS",
                            ",\"configuration\":{\"properties\":{"
                            "\"yarn.service.container-failure-per-component.threshold\":\"1000\"}}"),
                   false);
        k.obey = false;
        for (int n = 0; n < 100; n++) {
            mem_auto char *name = mem_fmt("hello-%d", n);
            struct eng_exit x = eng_exit_of(CAUSE_SIGNALLED, 9, text);
            x.last_stderr = text;
            kit_exit(&k, "web", name, x);
        }
        k.most_bytes = 0;
        kit_fire(&k, "web");
        assert_int_equal(kit_state(&k, "web", "hello-99"), INST_REQUESTED);
        assert_true(k.most_bytes > STEP_INSTANCES * 2000); /* their last words are among what was written */
        kit_end(&k);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(documents_of_the_format_before_are_read),
        cmocka_unit_test(they_become_those_of_the_present_format),
        cmocka_unit_test(every_document_says_its_format),
        cmocka_unit_test(a_newer_document_is_refused_by_name),
        cmocka_unit_test(what_is_no_format_is_damage),
        cmocka_unit_test(a_step_fits_one_transaction_whatever_is_reported),
        cmocka_unit_test(requests_write_what_is_wanted_and_events_what_is),
        cmocka_unit_test(documents_without_later_members_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
