/** Every wait has a typed reason, and its sentence names the parameters. */
#include "engine_kit.h"

#include <string.h>

#define WORD(token, word, sentence, remedy)     word,
#define TOKEN(token, word, sentence, remedy)    token,
#define SENTENCE(token, word, sentence, remedy) sentence,
#define REMEDY(token, word, sentence, remedy)   remedy,

static const enum eng_wait reasons[] = {ENG_WAITS(TOKEN)};
static const char *const words[] = {ENG_WAITS(WORD)};
static const char *const sentences[] = {ENG_WAITS(SENTENCE)};
static const char *const remedies[] = {ENG_WAITS(REMEDY)};

/** A text has the parameters that its pattern names, and no others. */
static void check_filled(const char *pattern, const char *text)
{
    assert_null(strpbrk(text, "{}"));
    assert_int_equal(!!strstr(pattern, "{name}"), !!strstr(text, "THE-NAME"));
    assert_int_equal(!!strstr(pattern, "{text}"), !!strstr(text, "THE-TEXT"));
    assert_int_equal(!!strstr(pattern, "{n}"), !!strstr(text, "17"));
    assert_int_equal(!!strstr(pattern, "{of}"), !!strstr(text, "23"));
}

/** Each has a sentence and says what would end it. */
static void every_reason_has_its_sentence_and_its_remedy(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(reasons); i++) {
        struct eng_waiting w = {reasons[i], "THE-NAME", "THE-TEXT", 17, 23};
        mem_auto char *text = eng_wait_text(&w);
        mem_auto char *remedy = eng_wait_remedy(&w);
        assert_string_equal(eng_wait_word(reasons[i]), words[i]);
        check_filled(sentences[i], text);
        check_filled(remedies[i], remedy);
        assert_int_equal(reasons[i] == WAIT_NONE, text[0] == '\0');
        assert_int_equal(reasons[i] == WAIT_NONE, remedy[0] == '\0');
    }
}

static void no_parameter_is_needed(void **state)
{
    (void)state;
    mem_auto char *text = eng_wait_text(&(struct eng_waiting){.why = WAIT_RESOURCE});
    assert_string_equal(text, "resource: ");
    mem_auto char *none = eng_wait_text(&(struct eng_waiting){.why = WAIT_NONE});
    assert_string_equal(none, "");
}

static enum eng_wait reason_of(const struct kit *k, const char *instance)
{
    const struct eng_waiting *w = eng_instance_waiting(kit_instance(k, "web", instance));
    return w ? w->why : WAIT_NONE;
}

/** From the request to READY, and a failure. */
static void each_stage_has_its_reason(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    k.obey = false;
    kit_create(&k,
               kit_spec("web", 1, "ALWAYS",
                        ",\"readiness_check\":{\"type\":\"PORT\",\"properties\":{\"port\":\"80\"}}"),
               false);
    mem_auto char *id = mem_str(kit_instance(&k, "web", "hello-0")->container_id);
    assert_int_equal(reason_of(&k, "hello-0"), WAIT_ALLOCATION);
    kit_step(&k, (struct eng_event){.kind = EV_WAITING, .container_id = id, .text = "no memory"});
    assert_int_equal(reason_of(&k, "hello-0"), WAIT_RESOURCE);
    kit_step(&k, (struct eng_event){.kind = EV_ALLOCATED, .container_id = id, .host = "n"});
    assert_int_equal(reason_of(&k, "hello-0"), WAIT_START);
    kit_step(&k, (struct eng_event){.kind = EV_LAUNCHED, .container_id = id, .attempt = 1});
    assert_int_equal(reason_of(&k, "hello-0"), WAIT_CONTAINER_ADDRESS);
    kit_step(&k, (struct eng_event){.kind = EV_RUNNING, .container_id = id, .attempt = 1, .host = "n"});
    assert_int_equal(reason_of(&k, "hello-0"), WAIT_FIRST_PROBE);
    kit_probe(&k, "web", "hello-0", false);
    assert_int_equal(reason_of(&k, "hello-0"), WAIT_READINESS);
    kit_probe(&k, "web", "hello-0", true);
    assert_int_equal(reason_of(&k, "hello-0"), WAIT_NONE);
    kit_exit_code(&k, "web", "hello-0", 3);
    assert_int_equal(reason_of(&k, "hello-0"), WAIT_RETRY);
    kit_end(&k);
}

/** One reason for a component, however many instances it has; and it goes when the component starts. */
static void a_component_waits_once(void **state)
{
    (void)state;
    static const char text[] =
        "{\"name\":\"web\",\"version\":\"1\",\"components\":[{\"name\":\"a\",\"number_of_containers\":1,"
        "\"launch_command\":\"run\",\"resource\":{\"cpus\":1,\"memory\":\"64\"}},"
        "{\"name\":\"b\",\"number_of_containers\":2,\"dependencies\":[\"a\"],"
        "\"launch_command\":\"run\",\"resource\":{\"cpus\":1,\"memory\":\"64\"}}]}";
    struct kit k;
    kit_start(&k, "seed");
    k.obey = false;
    kit_create(&k, text, false);
    const struct eng_waiting *first = eng_instance_waiting(kit_instance(&k, "web", "b-0"));
    assert_int_equal(first->why, WAIT_COMPONENT);
    assert_string_equal(first->name, "a");
    assert_int_equal(first->n, 0);
    assert_int_equal(first->of, 1);
    assert_ptr_equal(first, eng_instance_waiting(kit_instance(&k, "web", "b-1")));
    kit_end(&k);

    kit_start(&k, "seed");
    kit_create(&k, text, false);
    assert_null(eng_instance_waiting(kit_instance(&k, "web", "b-0")));
    kit_end(&k);
}

static void a_reason_is_stored(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k, kit_spec("web", 1, "ALWAYS", ""), false);
    kit_exit_signal(&k, "web", "hello-0", 9);
    mem_auto char *before = mem_str(kit_wait(&k, "web", "hello-0"));
    kit_crash(&k);
    assert_string_equal(kit_wait(&k, "web", "hello-0"), before);
    kit_end(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_reason_has_its_sentence_and_its_remedy),
        cmocka_unit_test(no_parameter_is_needed),
        cmocka_unit_test(each_stage_has_its_reason),
        cmocka_unit_test(a_component_waits_once),
        cmocka_unit_test(a_reason_is_stored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
