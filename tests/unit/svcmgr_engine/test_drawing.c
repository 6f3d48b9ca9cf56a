/** The drawings of the machines name exactly the states of the enums. */
#include "engine_kit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

/** First comment of a file of the engine. free() */
static char *drawing_of(const char *file)
{
    mem_auto char *path = mem_fmt("%s/%s", ENGINE_DIR, file);
    FILE *f = fopen(path, "r");
    if (!f)
        fail_msg("%s cannot be read", path);
    struct buf text = BUF_EMPTY;
    size_t n;
    do {
        n = fread(buf_room(&text, 4096), 1, 4096, f);
        text.len += n;
    } while (n > 0);
    fclose(f);
    char *all = buf_take(&text);
    char *end = strstr(all, "*/");
    assert_non_null(end);
    *end = '\0';
    return all;
}

static bool has_word(const char *text, const char *word)
{
    const char *letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    size_t len = strlen(word);
    for (const char *p = strstr(text, word); p; p = strstr(p + 1, word)) {
        bool starts = p == text || !strchr(letters, p[-1]);
        if (starts && (p[len] == '\0' || !strchr(letters, p[len])))
            return true;
    }
    return false;
}

static void check(const char *file, const char *const *words, size_t n_words, const char *const *others)
{
    mem_auto char *drawing = drawing_of(file);
    for (size_t i = 0; i < n_words; i++) {
        if (!has_word(drawing, words[i]))
            fail_msg("the drawing in %s lacks %s", file, words[i]);
    }
    for (char *p = drawing; *p;) {
        size_t len = strspn(p, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_");
        mem_auto char *word = mem_strn(p, len);
        bool known = len < 3;
        for (size_t i = 0; i < n_words && !known; i++)
            known = strcmp(words[i], word) == 0;
        for (size_t i = 0; others[i] && !known; i++)
            known = strcmp(others[i], word) == 0;
        if (!known)
            fail_msg("the drawing in %s names %s, which is no state", file, word);
        p += len ? len : 1;
    }
}

#define WORD(token, word) word,

static void operations_are_drawn(void **state)
{
    (void)state;
    static const char *const words[] = {ENG_OPERATIONS(WORD) ENG_RESULTS(WORD)};
    mem_auto char *drawing = drawing_of("operation.c");
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        if (!strstr(drawing, words[i]) && strcmp(words[i], eng_result_word(RESULT_NONE)) != 0)
            fail_msg("the drawing in operation.c lacks %s", words[i]);
    }
}

static void drawings_and_enums_agree(void **state)
{
    (void)state;
    static const char *const services[] = {ENG_SERVICE_STATES(WORD)};
    static const char *const instances[] = {ENG_INSTANCE_STATES(WORD)};
    static const char *const components[] = {ENG_COMPONENT_STATES(WORD)};
    static const char *const none[] = {NULL};
    static const char *const signals[] = {"KILL", "TERM", "NEVER", NULL};
    static const char *const policies[] = {"ON_FAILURE", "NEVER", NULL};
    check("service.c", services, ARRAY_LEN(services), none);
    check("instance.c", instances, ARRAY_LEN(instances), signals);
    static const char *const drains[] = {"RECORD", "SYNC", "PAUSE"};
    static const char *const around[] = {"READY", "RELEASING", "DNS", NULL};
    check("drain.c", drains, ARRAY_LEN(drains), around);
    check("component.c", components, ARRAY_LEN(components), policies);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(drawings_and_enums_agree),
                                       cmocka_unit_test(operations_are_drawn)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
