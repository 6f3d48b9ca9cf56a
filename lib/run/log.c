#include "run/log.h"
#include "base/buf.h"
#include "run/quote.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static struct {
    const char *program;
    enum log_level level;
    enum log_format format;
} setup = {"", LOG_INFO, LOG_TEXT};

static const char *const level_names[] = {"error", "warn", "info", "debug"};

void log_setup(const char *program, enum log_level level, enum log_format format)
{
    setup.program = program;
    setup.level = level;
    setup.format = format;
}

static void add_time(struct buf *line)
{
    struct timespec now;
    struct tm utc;
    char text[32];
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &utc);
    buf_addf(line, "%s.%03ldZ", text, now.tv_nsec / 1000000);
}

static void line_text(struct buf *line, const struct log_event *ev, const struct log_field *fields, size_t n)
{
    add_time(line);
    buf_addf(line, " %s %s", level_names[ev->level], ev->name);
    for (size_t i = 0; i < n; i++) {
        buf_addf(line, " %s=", fields[i].name);
        if (fields[i].str)
            quote_text(line, fields[i].str);
        else
            buf_addf(line, "%lld", (long long)fields[i].num);
    }
    buf_addf(line, " %s\n", ev->sentence);
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
        if (fields[i].str)
            add_json_member(line, fields[i].name, fields[i].str);
        else
            buf_addf(line, ",\"%s\":%lld", fields[i].name, (long long)fields[i].num);
    }
    buf_add_str(line, "}\n");
}

void log_write(const struct log_event *ev, const struct log_field *fields, size_t n_fields)
{
    if (ev->level > setup.level)
        return;
    buf_auto struct buf line = BUF_EMPTY;
    if (setup.format == LOG_JSON)
        line_json(&line, ev, fields, n_fields);
    else
        line_text(&line, ev, fields, n_fields);
    /* One write a line, so that lines of several threads do not mix. A line that cannot be written is lost. */
    for (size_t done = 0; done < line.len;) {
        ssize_t n = write(STDERR_FILENO, line.bytes + done, line.len - done);
        if (n < 0 && errno != EINTR)
            return;
        done += n > 0 ? (size_t)n : 0;
    }
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
