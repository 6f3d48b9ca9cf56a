/** A service is known by its kind, its user and its name: services of two APIs may have one name. */
#include <string.h>

#include "engine_kit.h"

/** A service "web" of one instance, of this kind. */
static void create(struct kit *k, enum eng_kind kind)
{
    k->service_kind = kind;
    assert_int_equal(kit_create(k, kit_spec("web", 1, "ALWAYS", ""), false), OUT_LAUNCHED);
}

static void every_kind_has_names_records_and_documents_of_its_own(void **state)
{
    (void)state;
    static const struct {
        enum eng_kind kind;
        const char *path, *document;
    } rows[] = {
        {KIND_SERVICE, "/users/alice/services/yarn-service/web", "services/alice/web/hello-0"},
        {KIND_SLIDER, "/users/alice/services/org-apache-slider/web", "sliders/alice/web/hello-0"},
        {KIND_LAUNCHER, "/users/alice/services/framework-launcher/web", "frameworks/alice/web/hello-0"},
    };
    struct kit k;
    kit_start(&k, "seed");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        create(&k, rows[i].kind);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        k.service_kind = rows[i].kind;
        const struct eng_service *s = kit_service(&k, "web");
        assert_non_null(s);
        mem_auto char *path = engine_record_path(s, NULL);
        assert_string_equal(path, rows[i].path);
        assert_non_null(map_get(&k.store, rows[i].document));
        assert_string_equal(kit_list(&k, "web"), "hello-0:READY");
        mem_auto const struct eng_service **of_kind = engine_list_kind(k.e, rows[i].kind, "alice");
        assert_ptr_equal(of_kind[0], s);
        assert_null(of_kind[1]);
    }
    kit_end(&k);
}

static void a_request_of_one_kind_leaves_the_others_alone(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    create(&k, KIND_SERVICE);
    create(&k, KIND_SLIDER);
    assert_int_equal(kit_create(&k, kit_spec("web", 1, "ALWAYS", ""), false), OUT_TAKEN);
    assert_int_equal(kit_request(&k, EV_DESTROY, "web"), OUT_DESTROYED);
    assert_null(kit_service(&k, "web"));
    k.service_kind = KIND_SERVICE;
    assert_int_equal(kit_service(&k, "web")->state, SVC_STABLE);
    k.service_kind = KIND_LAUNCHER;
    assert_int_equal(kit_request(&k, EV_STOP, "web"), OUT_NOT_FOUND);
    kit_end(&k);
}

static void all_kinds_are_loaded_again(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    create(&k, KIND_SERVICE);
    create(&k, KIND_SLIDER);
    create(&k, KIND_LAUNCHER);
    kit_crash(&k);
    kit_recover(&k);
    for (int kind = KIND_SERVICE; kind <= KIND_LAUNCHER; kind++) {
        k.service_kind = (enum eng_kind)kind;
        assert_int_equal(kit_service(&k, "web")->kind, kind);
        assert_string_equal(kit_list(&k, "web"), "hello-0:READY");
    }
    kit_end(&k);
}

/** Whether a lifetime counts from the launch or from STARTED, and destroys or stops, is the dialect's it was made in. */
static void a_service_keeps_the_dialect_that_it_was_made_in(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "hadoop3");
    kit_create(&k,
               "{\"name\":\"web\",\"version\":\"1\",\"lifetime\":60,\"components\":[{\"name\":\"hello\","
               "\"number_of_containers\":1,"
               "\"launch_command\":\"run\",\"resource\":{\"cpus\":1,\"memory\":\"64\"}}]}",
               false);
    k.cfg.dialect = dialect_find("seed"); /* the next start has another default */
    kit_crash(&k);
    kit_recover(&k);
    kit_advance(&k, "web", 60000);
    assert_int_equal(kit_service(&k, "web")->state, SVC_STOPPED); /* seed would have destroyed it */
    kit_end(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_has_names_records_and_documents_of_its_own),
        cmocka_unit_test(a_request_of_one_kind_leaves_the_others_alone),
        cmocka_unit_test(all_kinds_are_loaded_again),
        cmocka_unit_test(a_service_keeps_the_dialect_that_it_was_made_in),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
