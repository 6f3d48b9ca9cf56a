/** Typed exits: see exit.h and step.h. */
#include "engine/exit.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/obj.h"
#include "engine/documents.h"
#include "engine/step.h"

struct cause_row {
    const char *word;
    enum eng_exit_origin origin;
    const char *text;
};

#define CAUSE_ROW(token, word_, origin_, text_) [token] = {word_, origin_, text_},
static const struct cause_row causes[] = {ENG_EXIT_CAUSES(CAUSE_ROW)};

static const struct cause_row *row_of(enum eng_exit_cause cause)
{
    BUG_IF((size_t)cause >= ARRAY_LEN(causes));
    return &causes[cause];
}

const char *eng_exit_origin_word(enum eng_exit_origin origin)
{
#define ORIGIN_ROW(token, word) [token] = word,
    static const char *const words[] = {ENG_EXIT_ORIGINS(ORIGIN_ROW)};
    BUG_IF((size_t)origin >= ARRAY_LEN(words));
    return words[origin];
}

const char *eng_exit_cause_word(enum eng_exit_cause cause)
{
    return row_of(cause)->word;
}

struct eng_exit eng_exit_of(enum eng_exit_cause cause, int64_t raw, const char *text)
{
    return (struct eng_exit){
        .origin = row_of(cause)->origin, .cause = cause, .raw = raw, .text = (char *)text};
}

/* ---- for a person ---- */

void exit_describe(const struct eng_exit *x, char *out, size_t size)
{
    bool has_number = x->cause == CAUSE_EXITED || x->cause == CAUSE_SIGNALLED;
    char number[24] = "";
    if (has_number)
        snprintf(number, sizeof number, " %lld", (long long)x->raw);
    snprintf(out, size, "%s%s%s%s", row_of(x->cause)->text, number, x->text ? ": " : "",
             x->text ? x->text : "");
}

char *eng_exit_text(const struct eng_exit *x)
{
    char text[EXIT_TEXT_MAX];
    exit_describe(x, text, sizeof text);
    return mem_str(x->text ? x->text : text);
}

/* ---- classes that every policy shares ---- */

bool eng_exit_is_success(const struct eng_exit *x)
{
    return x->cause == CAUSE_EXITED && x->raw == 0;
}

bool eng_exit_is_failure(const struct eng_exit *x)
{
    return !eng_exit_is_success(x) && x->cause != CAUSE_STOPPED;
}

enum eng_blame eng_exit_blame(const struct eng_exit *x)
{
    switch (x->cause) {
    case CAUSE_EXITED: return x->raw == 0 ? BLAME_NOBODY : BLAME_PROCESS;
    case CAUSE_ABORTED:
    case CAUSE_STOPPED:
    case CAUSE_MIGRATED:
    case CAUSE_EXPIRED:
    case CAUSE_LOST:
    case CAUSE_RESYNC:
    case CAUSE_GANG_TIMEOUT:
    case CAUSE_APPLICATION_ENDED: return BLAME_NOBODY;
    case CAUSE_DISK: return BLAME_NODE;
    case CAUSE_PREEMPTED: return BLAME_CLUSTER;
    case CAUSE_MEMORY_VIRTUAL:
    case CAUSE_MEMORY_PHYSICAL: return BLAME_LIMITS;
    case CAUSE_UNKNOWN:
    case CAUSE_SIGNALLED:
    case CAUSE_LAUNCH:
    case CAUSE_SOURCE:
    case CAUSE_PORT_CONFLICT:
    case CAUSE_SUBMISSION_FAILED:
    case N_EXIT_CAUSES: break;
    }
    return BLAME_PROCESS;
}

/* ---- documents ---- */

char *stored_text(const char *text, size_t max)
{
    if (!text)
        return NULL;
    size_t len = strnlen(text, max);
    if (len == max)
        len--;
    while (text[len] && len && ((unsigned char)text[len] & 0xC0) == 0x80)
        len--;
    char *copy = mem_strn(text, len);
    for (char *at = copy; *at; at++) {
        if ((unsigned char)*at < ' ' && *at != '\n' && *at != '\t')
            *at = '?';
    }
    return copy;
}

struct eng_exit *exit_copy(const struct eng_exit *x)
{
    struct eng_exit *copy = fld_new(&eng_exit_type);
    *copy = *x;
    copy->text = stored_text(x->text, EXIT_TEXT_MAX);
    copy->last_stderr = stored_text(x->last_stderr, EXIT_STDERR_MAX);
    return copy;
}

bool eng_exit_took_container(enum eng_exit_cause cause)
{
    switch (cause) {
    case CAUSE_DISK:
    case CAUSE_PREEMPTED:
    case CAUSE_LOST:
    case CAUSE_ABORTED:
    case CAUSE_EXPIRED:
    case CAUSE_RESYNC:
    case CAUSE_APPLICATION_ENDED: return true;
    case CAUSE_UNKNOWN:
    case CAUSE_EXITED:
    case CAUSE_SIGNALLED:
    case CAUSE_LAUNCH:
    case CAUSE_SOURCE:
    case CAUSE_MEMORY_VIRTUAL:
    case CAUSE_MEMORY_PHYSICAL:
    case CAUSE_STOPPED:
    case CAUSE_MIGRATED:
    case CAUSE_PORT_CONFLICT:
    case CAUSE_GANG_TIMEOUT:
    case CAUSE_SUBMISSION_FAILED: return false;
    case N_EXIT_CAUSES: return false;
    }
    return false;
}

void eng_exit_upgrade(json_t *exit)
{
    static const struct {
        const char *kind;
        enum eng_exit_cause cause;
    } kinds[] = {{"CODE", CAUSE_EXITED}, {"SIGNAL", CAUSE_SIGNALLED}, {"LAUNCH", CAUSE_LAUNCH},
                 {"LOST", CAUSE_LOST},   {"STOPPED", CAUSE_STOPPED},  {"NONE", CAUSE_UNKNOWN}};
    const char *kind = json_string_value(json_object_get(exit, "kind"));
    for (size_t i = 0; kind && i < ARRAY_LEN(kinds); i++) {
        if (strcmp(kinds[i].kind, kind) != 0)
            continue;
        const struct cause_row *row = row_of(kinds[i].cause);
        json_object_set_new(exit, "cause", json_string(row->word));
        json_object_set_new(exit, "origin", json_string(eng_exit_origin_word(row->origin)));
        json_t *value = json_object_get(exit, "value");
        if (value)
            json_object_set(exit, "raw", value);
        json_object_del(exit, "kind");
        json_object_del(exit, "value");
        return;
    }
}
