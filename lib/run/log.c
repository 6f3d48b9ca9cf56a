#include "run/log.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/obj.h"
#include "run/log_writer.h"
#include "run/quote.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/** Bytes that most lines fit into. */
#define LINE_TYPICAL 512

#define LOG_EVENTS(X)                                                                                        \
    X(log_lines_lost, LOG_WARN, "Log lines were lost: stderr takes them too slowly, or not at all.")
LOG_DECLARE(LOG_EVENTS)

static struct {
    const char *program;
    enum log_format format;
} setup = {"", LOG_TEXT};
static _Atomic int level_now = LOG_INFO;

static const char *const level_names[] = {
    [LOG_ERROR] = "error", [LOG_WARN] = "warn", [LOG_INFO] = "info", [LOG_DEBUG] = "debug"};

void log_setup(const char *program, enum log_level level, enum log_format format)
{
    setup.program = program;
    setup.format = format;
    log_set_level(level);
}

enum log_level log_level(void)
{
    return (enum log_level)atomic_load_explicit(&level_now, memory_order_relaxed);
}

void log_set_level(enum log_level level)
{
    atomic_store_explicit(&level_now, (int)level, memory_order_relaxed);
}

const char *log_level_name(enum log_level level)
{
    return level_names[level];
}

int log_level_read(const char *word, enum log_level *out)
{
    for (size_t i = 0; i < ARRAY_LEN(level_names); i++) {
        if (strcmp(level_names[i], word) == 0) {
            *out = (enum log_level)i;
            return 0;
        }
    }
    return ERR_USAGE;
}

/* The second as text is made once a second and thread. */
static void add_time(struct buf *line)
{
    static _Thread_local struct {
        time_t second;
        char text[32];
    } last = {-1, ""};
    struct timespec now;
    struct tm utc;
    clock_gettime(CLOCK_REALTIME, &now);
    if (now.tv_sec != last.second) {
        gmtime_r(&now.tv_sec, &utc);
        strftime(last.text, sizeof last.text, "%Y-%m-%dT%H:%M:%S", &utc);
        last.second = now.tv_sec;
    }
    int ms = (int)(now.tv_nsec / 1000000);
    const char digits[] = {'.', (char)('0' + ms / 100), (char)('0' + ms / 10 % 10), (char)('0' + ms % 10),
                           'Z'};
    buf_add_str(line, last.text);
    buf_add(line, digits, sizeof digits);
}

/* A value, cut to its bound. @return s, or *cut, which the caller frees. */
static const char *bounded(const char *s, char **cut)
{
    size_t len = strnlen(s, LOG_VALUE_MAX + 1);
    if (len <= LOG_VALUE_MAX)
        return s;
    mem_auto char *head = mem_strn(s, LOG_VALUE_MAX);
    return *cut = mem_fmt("%s\xE2\x80\xA6", head);
}

static void add_value(struct buf *line, const struct log_field *f)
{
    mem_auto char *cut = NULL;
    if (!f->str)
        buf_add_i64(line, f->num);
    else if (setup.format == LOG_JSON)
        quote_json(line, bounded(f->str, &cut));
    else
        quote_text(line, bounded(f->str, &cut));
}

static void line_text(struct buf *line, const struct log_event *ev, const struct log_field *fields, size_t n)
{
    add_time(line);
    buf_add_char(line, ' ');
    buf_add_str(line, level_names[ev->level]);
    buf_add_char(line, ' ');
    buf_add_str(line, ev->name);
    for (size_t i = 0; i < n; i++) {
        buf_add_char(line, ' ');
        buf_add_str(line, fields[i].name);
        buf_add_char(line, '=');
        add_value(line, &fields[i]);
    }
    buf_add_char(line, ' ');
    buf_add_str(line, ev->sentence);
    buf_add_char(line, '\n');
}

static void add_json_member(struct buf *line, const char *name, const char *value)
{
    buf_add_char(line, ',');
    quote_json(line, name);
    buf_add_char(line, ':');
    quote_json(line, value);
}

static void line_json(struct buf *line, const struct log_event *ev, const struct log_field *fields, size_t n)
{
    buf_add_str(line, "{\"time\":\"");
    add_time(line);
    buf_add_char(line, '"');
    add_json_member(line, "level", level_names[ev->level]);
    if (setup.program[0])
        add_json_member(line, "program", setup.program);
    add_json_member(line, "event", ev->name);
    add_json_member(line, "text", ev->sentence);
    for (size_t i = 0; i < n; i++) {
        buf_add_str(line, ",\"");
        buf_add_str(line, fields[i].name);
        buf_add_str(line, "\":");
        add_value(line, &fields[i]);
    }
    buf_add_str(line, "}\n");
}

static uint64_t write_line(const struct log_event *ev, const struct log_field *fields, size_t n_fields)
{
    buf_auto struct buf line = BUF_EMPTY;
    buf_grow(&line, LINE_TYPICAL);
    if (setup.format == LOG_JSON)
        line_json(&line, ev, fields, n_fields);
    else
        line_text(&line, ev, fields, n_fields);
    return log_writer_put(line.bytes, line.len);
}

void log_write(const struct log_event *ev, const struct log_field *fields, size_t n_fields)
{
    if (!log_is_on(ev->level))
        return;
    uint64_t n_lost = write_line(ev, fields, n_fields);
    if (n_lost)
        write_line(&ev_log_lines_lost, (const struct log_field[]){LOG_INT("lines", n_lost)}, 1);
}

bool log_trouble_is_news(struct log_trouble *t, const struct err_info *why, int64_t now_ms)
{
    bool is_same = t->said.code == why->code && strcmp(t->said.where, why->where) == 0 &&
                   strcmp(t->said.text, why->text) == 0;
    if (is_same && now_ms - t->said_ms < LOG_TROUBLE_AGAIN_MS)
        return false;
    t->said = *why;
    t->said_ms = now_ms;
    return true;
}
