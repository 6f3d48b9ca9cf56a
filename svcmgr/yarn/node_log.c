#include "yarn/node_log.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "bobbin/error.h"

#define HEAD_MAX 4096
#define GROWTH   65536 /* bytes that a file may grow by between two requests without a third one */
#define LENGTH   "\nLogLength:"
#define CONTENTS "\nLogContents:\n"

void node_log_begin(struct node_log *log, int64_t size, int64_t offset, size_t n_max)
{
    *log = (struct node_log){.offset = offset, .n_max = n_max, .length = -1};
    log->n_asked = size > offset ? size - offset + GROWTH : GROWTH;
}

void node_log_fini(struct node_log *log)
{
    buf_fini(&log->head);
    buf_fini(&log->text);
}

static bool fail(struct node_log *log)
{
    log->is_bad = true;
    return false;
}

/** The head is there: how long the file is, and so which of its bytes follow. */
static int read_head(struct node_log *log, size_t len)
{
    mem_auto char *head = mem_strn(log->head.bytes, len);
    const char *length = strstr(head, LENGTH);
    char digits[24] = "";

    if (!length)
        return ERR_PARSE;
    length += strlen(LENGTH);
    size_t n = strspn(length, "0123456789");
    if (n >= sizeof digits)
        return ERR_PARSE;
    memcpy(digits, length, n);
    if (str_to_i64(digits, 0, INT64_MAX, &log->length))
        return ERR_PARSE;
    log->at = log->length > log->n_asked ? log->length - log->n_asked : 0;
    log->has_head = true;
    return log->at > log->offset ? ERR_PARSE : 0; /* it has grown by more than was thought of */
}

static int64_t end_of(const struct node_log *log)
{
    int64_t max = (int64_t)log->n_max;
    bool is_short = log->length - log->offset < max;

    return is_short ? log->length : log->offset + max;
}

bool node_log_is_whole(const struct node_log *log)
{
    return !log->is_bad && (!log->has_head ? !log->head.len : log->at >= end_of(log));
}

static bool take_content(struct node_log *log, const char *bytes, size_t len)
{
    int64_t end = end_of(log);
    int64_t skip = log->offset > log->at ? log->offset - log->at : 0;

    skip = skip > (int64_t)len ? (int64_t)len : skip;
    log->at += skip;
    int64_t n = (int64_t)len - skip;
    n = n > end - log->at ? end - log->at : n;
    if (n > 0) {
        buf_add(&log->text, bytes + skip, (size_t)n);
        log->at += n;
    }
    return log->at < end;
}

bool node_log_take(struct node_log *log, const char *bytes, size_t len)
{
    if (log->is_bad)
        return false;
    if (log->has_head)
        return take_content(log, bytes, len);
    size_t n = len < HEAD_MAX - log->head.len ? len : HEAD_MAX - log->head.len;
    buf_add(&log->head, bytes, n);
    const char *contents = strstr(buf_cstr(&log->head), CONTENTS);
    if (!contents)
        return log->head.len < HEAD_MAX || fail(log);
    size_t n_head = (size_t)(contents - log->head.bytes) + strlen(CONTENTS);
    size_t n_used = n_head - (log->head.len - n); /* of this piece */
    if (read_head(log, n_head))
        return fail(log);
    return take_content(log, bytes + n_used, len - n_used);
}
