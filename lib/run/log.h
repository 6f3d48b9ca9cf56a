/**
 * Log events on stderr: a constant name, a constant sentence, fields with units in their names.
 * Each folder lists its events in one X-macro table and declares them once:
 *
 *     #define FEED_EVENTS(X) X(feed_synced, LOG_INFO, "The first snapshot is complete.")
 *     LOG_DECLARE(FEED_EVENTS)
 *     …
 *     log_emit(&ev_feed_synced, LOG_STR("url", url), LOG_INT("took_ms", ms));
 *
 * text: 2026-01-31T10:00:00.123Z info feed_synced url=… took_ms=… The first snapshot is complete.
 * json: {"time":…,"level":"info","program":"dnsd","event":"feed_synced","text":…,"url":…,"took_ms":…}
 *
 * A line is bounded: of each value LOG_VALUE_MAX bytes are written. In a daemon nobody waits for stderr
 * (run/log_writer.h); lines that it does not take in time are lost and counted.
 *
 * Log or return, never both. Not on the hot path. Thread: any.   Source: ours.
 */
#ifndef RUN_LOG_H
#define RUN_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bobbin/error.h"

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };
/** The levels as options and APIs spell them, in the order of the enum. */
#define LOG_LEVELS "error|warn|info|debug"
enum log_format { LOG_TEXT, LOG_JSON };

struct log_event {
    const char *name;
    enum log_level level;
    const char *sentence;
};

struct log_field {
    const char *name;
    const char *str; /* NULL: use num */
    int64_t num;
};

/** Bytes of a value that a line has; "…" stands for what is cut off. */
#define LOG_VALUE_MAX 1024

/** Text of a field: s itself, "" for NULL. Thread: any. Source: ours. */
static inline const char *log_text(const char *s)
{
    return s ? s : "";
}

/** A field of text (NULL is written as "") and one of a number. */
#define LOG_STR(n, v) ((struct log_field){(n), log_text(v), 0})
#define LOG_INT(n, v) ((struct log_field){(n), NULL, (int64_t)(v)})
/** Two fields' worth of an error: its text with the place, as error="…". */
#define LOG_ERR(why) LOG_STR("error", (why)->text), LOG_STR("where", (why)->where)

#define LOG_DECLARE_ONE(name, level, sentence)                                                               \
    __attribute__((unused)) static const struct log_event ev_##name = {#name, level, sentence};
#define LOG_DECLARE(TABLE) TABLE(LOG_DECLARE_ONE)

/** Least important level that is written now. Thread: any. Source: ours. */
enum log_level log_level(void);
/** Change it, for events from now on. Thread: any. Source: ours. */
void log_set_level(enum log_level level);
/** Word of a level: "info". Static. Thread: any. Source: ours. */
const char *log_level_name(enum log_level level);
/** Level of a word. @return 0 and *out; ERR_USAGE: no such level, *out unchanged. Thread: any. Source: ours. */
int log_level_read(const char *word, enum log_level *out);
/** Whether an event of this level would be written, for callers to whom its fields cost something. Thread: any. Source: ours. */
static inline bool log_is_on(enum log_level level)
{
    return level <= log_level();
}

/**
 * Write one line of an event to stderr, in one piece, unless its level is below the chosen one. Values are quoted so
 * that nothing in them can end the line or steer a terminal. Use log_emit / log_emit0.
 *
 * @param ev        a row of a LOG_DECLAREd table                                [borrowed]
 * @param fields    n_fields fields, or NULL                                     [borrowed]
 * @param n_fields  0 or more
 * A line that cannot be written is lost.
 * Thread: any, after log_setup.   Source: ours.
 */
void log_write(const struct log_event *ev, const struct log_field *fields, size_t n_fields);

#define log_emit(ev, ...)                                                                                    \
    log_write((ev), (const struct log_field[]){__VA_ARGS__},                                                 \
              sizeof((const struct log_field[]){__VA_ARGS__}) / sizeof(struct log_field))
#define log_emit0(ev) log_write((ev), NULL, 0)

/** A trouble that persists over retries, as it was logged last. `{0}`: not logged yet. */
struct log_trouble {
    struct err_info said;
    int64_t said_ms;
};

/** While a trouble stays the same it is said once in this time. */
#define LOG_TROUBLE_AGAIN_MS 60000

/**
 * Whether a try that has failed is to be logged: the first one, one that fails otherwise than was said last, and one that
 * comes LOG_TROUBLE_AGAIN_MS after that. What is to be logged counts as said.
 *
 * @param why     of this try; its code is not 0                                  [borrowed]
 * @param now_ms  a clock that only rises: run_now_ms
 * Thread: that of t.   Source: ours.
 */
bool log_trouble_is_news(struct log_trouble *t, const struct err_info *why, int64_t now_ms);

/**
 * Choose level and format for the process.
 *
 * @param program  name for the JSON form's "program"; "" leaves it out          [borrowed, lives on]
 * @param level    least important level that is written (LOG_INFO until then)
 * @param format   LOG_TEXT or LOG_JSON (LOG_TEXT until then)
 * Thread: main, before others start.   Source: ours.
 */
void log_setup(const char *program, enum log_level level, enum log_format format);

#endif
