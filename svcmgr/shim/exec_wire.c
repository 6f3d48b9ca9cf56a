#include "shim/exec_wire.h"

#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/mem.h"
#include "base/str.h"
#include "shim/records.h"

void exec_ask_word(struct exec_ask *ask, const char *word)
{
    ask->words = mem_resize(ask->words, ask->n_words + 2, sizeof *ask->words);
    ask->words[ask->n_words++] = mem_str(word);
    ask->words[ask->n_words] = NULL;
}

void exec_ask_fini(struct exec_ask *ask)
{
    for (size_t i = 0; i < ask->n_words; i++)
        free(ask->words[i]);
    free(ask->words);
    free(ask->term);
    buf_fini(&ask->early);
    *ask = (struct exec_ask){0};
}

void exec_ask_write(const struct exec_ask *ask, struct buf *out)
{
    buf_auto struct buf early = BUF_EMPTY;

    for (size_t i = 0; i < ask->n_words; i++)
        record_text(out, "word", ask->words[i]);
    record_int(out, "terminal", ask->has_terminal);
    record_int(out, "rows", ask->rows);
    record_int(out, "columns", ask->columns);
    record_text(out, "term", ask->term);
    base64_put(&early, ask->early.bytes, ask->early.len);
    record_text(out, "early", buf_cstr(&early));
}

static int read_terminal(struct exec_ask *ask, const char *value)
{
    int64_t n;
    int err = str_to_i64(value, 0, 1, &n);

    if (!err)
        ask->has_terminal = n;
    return err;
}

static int read_record(void *into, const char *key, const char *value)
{
    struct exec_ask *ask = into;

    if (!strcmp(key, "terminal"))
        return read_terminal(ask, value);
    if (!strcmp(key, "rows"))
        return str_to_i64(value, 0, UINT16_MAX, &ask->rows);
    if (!strcmp(key, "columns"))
        return str_to_i64(value, 0, UINT16_MAX, &ask->columns);
    if (!strcmp(key, "early"))
        return base64_get(value, strlen(value), &ask->early);
    if (!strcmp(key, "term")) {
        free(ask->term);
        ask->term = mem_str(value);
        return 0;
    }
    if (strcmp(key, "word"))
        return ERR_PARSE;
    exec_ask_word(ask, value);
    return 0;
}

int exec_ask_read(const char *bytes, size_t len, struct exec_ask *out, struct err_info *why)
{
    return records_each(bytes, len, read_record, out, why);
}
