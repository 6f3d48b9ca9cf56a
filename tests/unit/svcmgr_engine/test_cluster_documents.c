/** Documents of the FrameworkLauncher API that are of no framework. */
#include <string.h>

#include "engine_kit.h"
#include "json/json.h"

#define CONFIGURATION "{\"nodes\":{\"n1\":{\"gpuType\":\"K80\"},\"n2\":null}}"

static struct eng_event event_of(const char *word, const json_t *value)
{
    return (struct eng_event){.kind = EV_DOCUMENT, .token = 5, .name = word, .value = value};
}

static int set(struct kit *k, const char *word, const char *text)
{
    json_auto json_t *value = text ? json_loads(text, 0, NULL) : NULL;
    kit_clear(k);
    kit_step(k, event_of(word, value));
    return (int)kit_last(k, EFF_ANSWER)->answer->outcome;
}

static void assert_is(const struct kit *k, enum eng_cluster_document document, const char *text)
{
    json_auto json_t *value = json_loads(text, 0, NULL);
    assert_true(json_equal(engine_cluster_document(k->e, document), value));
}

static void a_document_is_kept_as_it_is(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    assert_null(engine_cluster_document(k.e, DOC_CLUSTER_CONFIGURATION));
    assert_int_equal(set(&k, "cluster-configuration", CONFIGURATION), OUT_DOCUMENT_SET);
    assert_is(&k, DOC_CLUSTER_CONFIGURATION, CONFIGURATION);
    kit_crash(&k);
    kit_recover(&k);
    assert_is(&k, DOC_CLUSTER_CONFIGURATION, CONFIGURATION);
    assert_null(engine_cluster_document(k.e, DOC_ACL_CONFIGURATION));
    kit_end(&k);
}

static void what_does_not_change_is_not_written(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    set(&k, "acl-configuration", "{}");
    assert_int_equal(kit_count(&k, EFF_PERSIST), 1);
    assert_int_equal(set(&k, "acl-configuration", "{}"), OUT_DOCUMENT_SET);
    assert_int_equal(kit_count(&k, EFF_PERSIST), 0);
    set(&k, "acl-configuration", "{\"normalAdminUsers\":[]}");
    assert_int_equal(kit_count(&k, EFF_PERSIST), 1);
    assert_int_equal(set(&k, "acl-configuration", NULL), OUT_DOCUMENT_SET);
    assert_null(engine_cluster_document(k.e, DOC_ACL_CONFIGURATION));
    kit_crash(&k);
    assert_null(engine_cluster_document(k.e, DOC_ACL_CONFIGURATION));
    kit_end(&k);
}

static void one_that_is_not_stored_is_undone(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    json_auto json_t *other = json_pack("{s:s}", "launching", "2");
    kit_undone(&k, event_of("data-deployment-version", other));
    assert_null(engine_cluster_document(k.e, DOC_DATA_DEPLOYMENT));
    set(&k, "data-deployment-version", "{\"launching\":\"1\"}");
    kit_undone(&k, event_of("data-deployment-version", other));
    assert_is(&k, DOC_DATA_DEPLOYMENT, "{\"launching\":\"1\"}");
    mem_auto char *service = engine_service_of(k.e, &(struct eng_event){.kind = EV_DOCUMENT, .name = "x"});
    assert_non_null(service); /* requests about one document wait for each other */
    kit_end(&k);
}

static void only_known_documents_are_kept(void **state)
{
    (void)state;
    struct kit k;
    struct err_info why = {0};
    kit_start(&k, "seed");
    assert_int_equal(set(&k, "else", "{}"), OUT_NOT_FOUND);
    assert_int_equal(kit_count(&k, EFF_PERSIST), 0);
    static const char *const keys[] = {"launcher/else", "launcher", "launcher/acl-configuration/x"};
    static const char text[] = "{\"format\":2,\"value\":{}}";
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        assert_int_equal(engine_load(k.e, keys[i], text, strlen(text), &why), ERR_JSON);
    kit_end(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_document_is_kept_as_it_is),
        cmocka_unit_test(what_does_not_change_is_not_written),
        cmocka_unit_test(one_that_is_not_stored_is_undone),
        cmocka_unit_test(only_known_documents_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
