/** Reasons of waits: see wait.h. */
#include "engine/wait.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "engine/documents.h"
#include "engine/step.h"

#define WORD_ROW(token, word, sentence, remedy)     word,
#define SENTENCE_ROW(token, word, sentence, remedy) sentence,
#define REMEDY_ROW(token, word, sentence, remedy)   remedy,

const char *const wait_words[] = {ENG_WAITS(WORD_ROW) NULL};
static const char *const sentences[] = {ENG_WAITS(SENTENCE_ROW)};
static const char *const remedies[] = {ENG_WAITS(REMEDY_ROW)};

const char *eng_wait_word(enum eng_wait why)
{
    BUG_IF((size_t)why >= ARRAY_LEN(sentences));
    return wait_words[why];
}

static bool is(const char *parameter, size_t len, const char *name)
{
    return len == strlen(name) && memcmp(parameter, name, len) == 0;
}

static void add_parameter(struct buf *out, const struct eng_waiting *w, const char *parameter, size_t len)
{
    if (is(parameter, len, "name"))
        buf_add_str(out, w->name ? w->name : "");
    else if (is(parameter, len, "text"))
        buf_add_str(out, w->text ? w->text : "");
    else
        buf_addf(out, "%lld", (long long)(is(parameter, len, "n") ? w->n : w->of));
}

static char *fill_in(const char *p, const struct eng_waiting *w)
{
    struct buf out = BUF_EMPTY;
    while (*p) {
        size_t plain = strcspn(p, "{");
        buf_add(&out, p, plain);
        p += plain;
        if (!*p)
            break;
        size_t len = strcspn(p + 1, "}");
        add_parameter(&out, w, p + 1, len);
        p += len + 2;
    }
    return out.len ? buf_take(&out) : mem_str("");
}

char *eng_wait_text(const struct eng_waiting *w)
{
    return fill_in(sentences[w->why], w);
}

char *eng_wait_remedy(const struct eng_waiting *w)
{
    return fill_in(remedies[w->why], w);
}

const struct eng_waiting *eng_instance_waiting(const struct eng_instance *inst)
{
    const struct eng_component *c = inst->component;
    bool is_held_back = inst->state == INST_PENDING && c->state == COMP_WAITING && c->wait;
    return is_held_back ? c->wait : inst->wait;
}

void wait_clear(struct eng_waiting **slot)
{
    fld_free(&eng_waiting_type, *slot);
    *slot = NULL;
}

void wait_set(struct eng_waiting **slot, const struct eng_waiting *w)
{
    struct eng_waiting *old = *slot;
    *slot = fld_copy(&eng_waiting_type, w);
    fld_free(&eng_waiting_type, old);
}
