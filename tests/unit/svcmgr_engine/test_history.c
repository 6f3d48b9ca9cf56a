/** What happened to a service can be read later: in order, bounded, after a restart too. */
#include "engine/history.h"

#include <stdio.h>
#include <string.h>

#include "engine_kit.h"

/** "object what" of each entry, oldest first. Static. */
static const char *story(const struct kit *k, const char *service)
{
    static char text[16384];
    const struct eng_history_entry *e;
    size_t len = 0;
    text[0] = '\0';
    for (size_t i = 0; (e = eng_service_history(kit_service(k, service), i)); i++)
        len +=
            (size_t)snprintf(text + len, sizeof text - len, "%s%s %s", len ? ", " : "", e->object, e->what);
    return text;
}

static const struct eng_history_entry *newest(const struct kit *k, const char *service)
{
    const struct eng_history_entry *e, *last = NULL;
    for (size_t i = 0; (e = eng_service_history(kit_service(k, service), i)); i++)
        last = e;
    return last;
}

static size_t length(const struct kit *k, const char *service)
{
    size_t n = 0;
    while (eng_service_history(kit_service(k, service), n))
        n++;
    return n;
}

static void what_happened_stands_in_order(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k, kit_spec("web", 1, "ALWAYS", ""), false);
    assert_string_equal(story(&k, "web"), "web created, web ACCEPTED, web STARTED, web STABLE");
    assert_string_equal(eng_service_history(kit_service(&k, "web"), 0)->why, "by user alice");
    assert_int_equal(newest(&k, "web")->time_ms, kit_now(&k).wall_ms);
    k.now_ms += 5000;
    kit_flex(&k, "web", "hello", 2);
    assert_non_null(strstr(story(&k, "web"), ", hello flexed"));
    k.obey = false;
    kit_exit_code(&k, "web", "hello-1", 7);
    assert_non_null(strstr(story(&k, "web"), ", hello-1 exited"));
    kit_request(&k, EV_STOP, "web");
    assert_string_equal(newest(&k, "web")->what, "FINISHING");
    assert_string_equal(newest(&k, "web")->why, "Stopped by user alice");
    kit_end(&k);
}

static void it_survives_a_restart(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k, kit_spec("web", 1, "ALWAYS", ""), false);
    mem_auto char *before = mem_str(story(&k, "web"));
    kit_crash(&k);
    assert_string_equal(story(&k, "web"), before);
    kit_recover(&k);
    kit_flex(&k, "web", "hello", 2);
    kit_crash(&k);
    assert_non_null(strstr(story(&k, "web"), ", hello flexed"));
    kit_end(&k);
}

/** Failures go on for ever; the oldest entries and their documents do not stay. */
static void it_is_bounded(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k, kit_spec("web", 1, "ALWAYS", ""), false);
    for (int i = 1; i <= 3 * HISTORY_CHUNKS * CHUNK_ENTRIES; i++) {
        kit_flex(&k, "web", "hello", 1 + i % 2);
        assert_true(length(&k, "web") <= HISTORY_CHUNKS * CHUNK_ENTRIES);
    }
    assert_true(length(&k, "web") > (HISTORY_CHUNKS - 1) * CHUNK_ENTRIES);
    assert_null(strstr(story(&k, "web"), "created"));
    mem_auto char *before = mem_str(story(&k, "web"));
    kit_crash(&k);
    assert_string_equal(story(&k, "web"), before);
    size_t n_documents = 0;
    for (MAP_EACH (&k.store, slot))
        n_documents += strncmp(slot->key, "services/alice/web/history/", 27) == 0;
    assert_int_equal(n_documents, HISTORY_CHUNKS);
    kit_end(&k);
}

static void a_long_reason_is_cut_between_characters(void **state)
{
    (void)state;
    struct kit k;
    char text[1000] = "";
    while (strlen(text) + 3 < sizeof text)
        strcat(text, "\xe2\x82\xac"); /* euro signs */
    kit_start(&k, "seed");
    kit_create(&k, kit_spec("web", 1, "ALWAYS", ""), false);
    k.obey = false;
    kit_exit(&k, "web", "hello-0", eng_exit_of(CAUSE_LAUNCH, 2, text));
    const struct eng_history_entry *e = newest(&k, "web");
    for (size_t i = 0; strcmp(e->object, "hello-0") != 0; i++)
        e = eng_service_history(kit_service(&k, "web"), i);
    assert_true(strlen(e->why) < HISTORY_WHY_MAX);
    assert_string_equal(e->why + strlen(e->why) - 3, "\xe2\x82\xac");
    kit_end(&k);
}

static void an_undone_request_did_not_happen(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k, kit_spec("web", 1, "ALWAYS", ""), false);
    mem_auto char *before = mem_str(story(&k, "web"));
    struct eng_flex f = {"hello", 5, false};
    kit_undone(
        &k, (struct eng_event){
                .kind = EV_FLEX, .token = ++k.token, .user = k.user, .name = "web", .flex = &f, .n_flex = 1});
    assert_string_equal(story(&k, "web"), before);
    kit_end(&k);
}

static void it_goes_with_its_service(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k, kit_spec("web", 1, "ALWAYS", ""), false);
    assert_non_null(map_get(&k.store, "services/alice/web/history/0"));
    kit_request(&k, EV_DESTROY, "web");
    assert_null(map_get(&k.store, "services/alice/web/history/0"));
    kit_end(&k);
}

static void damaged_parts_are_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "{\"format\":2}",
        "{\"format\":2,\"first\":1,\"entries\":[{\"object\":\"a\",\"what\":\"b\"}]}",
        "{\"format\":2,\"first\":-16,\"entries\":[{\"object\":\"a\",\"what\":\"b\"}]}",
        "{\"format\":2,\"first\":16,\"entries\":[{\"object\":\"a\"}]}",
        "{\"format\":2,\"first\":32,\"entries\":[{\"object\":\"a\",\"what\":\"b\"}]}", /* of part 2 */
    };
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k, kit_spec("web", 1, "ALWAYS", ""), true);
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct err_info why = {0};
        assert_int_equal(engine_load(k.e, "services/alice/web/history/1", texts[i], strlen(texts[i]), &why),
                         ERR_JSON);
    }
    kit_end(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_happened_stands_in_order),
        cmocka_unit_test(it_survives_a_restart),
        cmocka_unit_test(it_is_bounded),
        cmocka_unit_test(a_long_reason_is_cut_between_characters),
        cmocka_unit_test(an_undone_request_did_not_happen),
        cmocka_unit_test(it_goes_with_its_service),
        cmocka_unit_test(damaged_parts_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
