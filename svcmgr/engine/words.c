/** Words of the engine's tables: see engine.h. */
#include "base/obj.h"
#include "engine/engine.h"

#define WORD_ROW(token, word) [token] = word,
#define TOKEN_ROW(token)      [token] = #token,

static const char *word_of(const char *const *words, size_t n, unsigned i)
{
    BUG_IF(i >= n);
    return words[i];
}

const char *eng_kind_word(enum eng_kind kind)
{
    static const char *const words[] = {ENG_KINDS(WORD_ROW)};
    return word_of(words, ARRAY_LEN(words), (unsigned)kind);
}

const char *eng_service_state_word(enum eng_service_state s)
{
    static const char *const words[] = {ENG_SERVICE_STATES(WORD_ROW)};
    return word_of(words, ARRAY_LEN(words), (unsigned)s);
}

const char *eng_instance_state_word(enum eng_instance_state s)
{
    static const char *const words[] = {ENG_INSTANCE_STATES(WORD_ROW)};
    return word_of(words, ARRAY_LEN(words), (unsigned)s);
}

const char *eng_component_state_word(enum eng_component_state s)
{
    static const char *const words[] = {ENG_COMPONENT_STATES(WORD_ROW)};
    return word_of(words, ARRAY_LEN(words), (unsigned)s);
}

const char *eng_upgrade_word(enum eng_upgrade u)
{
    static const char *const words[] = {ENG_UPGRADES(WORD_ROW)};
    return word_of(words, ARRAY_LEN(words), (unsigned)u);
}

const char *eng_placing_word(enum eng_placing p)
{
    static const char *const words[] = {ENG_PLACINGS(WORD_ROW)};
    return word_of(words, ARRAY_LEN(words), (unsigned)p);
}

const char *eng_operation_word(enum eng_operation_kind kind)
{
    static const char *const words[] = {ENG_OPERATIONS(WORD_ROW)};
    return word_of(words, ARRAY_LEN(words), (unsigned)kind);
}

const char *eng_mode_word(enum eng_mode mode)
{
    static const char *const words[] = {ENG_MODES(WORD_ROW)};
    return word_of(words, ARRAY_LEN(words), (unsigned)mode);
}

const char *eng_result_word(enum eng_result result)
{
    static const char *const words[] = {ENG_RESULTS(WORD_ROW)};
    return word_of(words, ARRAY_LEN(words), (unsigned)result);
}

const char *eng_event_word(enum eng_event_kind kind)
{
    static const char *const words[] = {ENG_EVENTS(TOKEN_ROW)};
    return word_of(words, ARRAY_LEN(words), (unsigned)kind);
}

const char *eng_effect_word(enum eng_effect_kind kind)
{
    static const char *const words[] = {ENG_EFFECTS(TOKEN_ROW)};
    return word_of(words, ARRAY_LEN(words), (unsigned)kind);
}

const char *eng_outcome_word(enum eng_outcome outcome)
{
    static const char *const words[] = {ENG_OUTCOMES(TOKEN_ROW)};
    return word_of(words, ARRAY_LEN(words), (unsigned)outcome);
}
