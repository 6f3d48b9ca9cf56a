#include "cluster/yarn_exit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/obj.h"

enum {
    STATUS_LOCALIZATION = -1000,
    STATUS_ABORTED = -100,
    SIGNAL_BASE = 128,
    MAX_SIGNAL = 64,
    MAX_CODE = 255
};

static const struct {
    int32_t status;
    enum eng_exit_cause cause;
} causes[] = {
    {STATUS_LOCALIZATION, CAUSE_LAUNCH},
    {YARN_EXIT_SOURCE, CAUSE_SOURCE},
    {-101, CAUSE_DISK},
    {-102, CAUSE_PREEMPTED},
    {-103, CAUSE_MEMORY_VIRTUAL},
    {-104, CAUSE_MEMORY_PHYSICAL},
    {-105, CAUSE_STOPPED},
    {-106, CAUSE_ABORTED},
    {-107, CAUSE_APPLICATION_ENDED},
    {-108, CAUSE_ABORTED},
    {-109, CAUSE_ABORTED},
};

/* What the resource manager writes for its ends of status -100. */
static const struct {
    const char *words;
    enum eng_exit_cause cause;
} aborts[] = {
    {"*lost* node", CAUSE_LOST},
    {"expired since it was unused", CAUSE_EXPIRED},
    {"released by application", CAUSE_STOPPED},
    {"a completed application", CAUSE_APPLICATION_ENDED},
};

static enum eng_exit_cause cause_of_abort(const char *diagnostics)
{
    for (size_t i = 0; i < ARRAY_LEN(aborts); i++) {
        if (diagnostics && strstr(diagnostics, aborts[i].words))
            return aborts[i].cause;
    }
    return CAUSE_ABORTED;
}

static enum eng_exit_cause cause_of(int32_t status, const char *diagnostics)
{
    if (status > SIGNAL_BASE && status <= SIGNAL_BASE + MAX_SIGNAL)
        return CAUSE_SIGNALLED;
    if (status >= 0 && status <= MAX_CODE)
        return CAUSE_EXITED;
    if (status == STATUS_ABORTED)
        return cause_of_abort(diagnostics);
    for (size_t i = 0; i < ARRAY_LEN(causes); i++) {
        if (causes[i].status == status)
            return causes[i].cause;
    }
    return CAUSE_UNKNOWN;
}

/** The text becomes one line of whole characters: a foreign one may be long, and of any octets. */
static void put_text(struct cluster_exit *x, const char *diagnostics, const char *usual)
{
    const char *from = diagnostics ? diagnostics + strspn(diagnostics, " \t\r\n") : "";
    size_t len = 0;

    if (!*from || !strcmp(from, "N/A"))
        from = usual;
    for (; *from && len + 1 < sizeof x->text; from++) {
        bool is_space = (unsigned char)*from <= ' ' || *from == 0x7f;
        if (!is_space || (len && x->text[len - 1] != ' '))
            x->text[len++] = is_space ? ' ' : *from;
    }
    while (*from && len && ((unsigned char)x->text[len - 1] & 0xc0) == 0x80)
        len--; /* It was cut: no part of a character stays. */
    if (*from && len && (unsigned char)x->text[len - 1] >= 0xc0)
        len--;
    while (len && x->text[len - 1] == ' ')
        len--;
    x->text[len] = 0;
}

void yarn_exit_read(int32_t status, const char *diagnostics, bool was_stopped, struct cluster_exit *out)
{
    enum eng_exit_cause cause = cause_of(status, diagnostics);
    struct eng_exit usual =
        eng_exit_of(cause, cause == CAUSE_SIGNALLED ? status - SIGNAL_BASE : status, NULL);
    mem_auto char *text = eng_exit_text(&usual);

    *out = (struct cluster_exit){.origin = usual.origin,
                                 .cause = cause,
                                 .raw = usual.raw,
                                 .was_stopped = was_stopped,
                                 .is_gone = true};
    put_text(out, diagnostics, text);
}
