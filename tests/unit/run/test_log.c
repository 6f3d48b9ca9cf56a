#include "base/buf.h"
#include "base/obj.h"
#include "run/log.h"
#include "run/log_writer.h"
#include "run/quote.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define TEST_EVENTS(X)                                                                                       \
    X(thing_done, LOG_INFO, "A thing is done.")                                                              \
    X(thing_detail, LOG_DEBUG, "A detail.")                                                                  \
    X(thing_failed, LOG_ERROR, "A thing failed.")
LOG_DECLARE(TEST_EVENTS)

/* What fn writes to stderr. */
static void capture(void (*fn)(void), char *out, size_t room)
{
    FILE *file = tmpfile();
    assert_non_null(file);
    int saved = dup(STDERR_FILENO);
    dup2(fileno(file), STDERR_FILENO);
    fn();
    dup2(saved, STDERR_FILENO);
    close(saved);
    rewind(file);
    size_t n = fread(out, 1, room - 1, file);
    out[n] = 0;
    fclose(file);
}

static void emit_fields(void)
{
    log_emit(&ev_thing_done, LOG_STR("url", "http://h/a"), LOG_INT("took_ms", -12),
             LOG_STR("name", "two words"), LOG_STR("none", NULL),
             LOG_STR("evil", "a\n2026 info x\x1b[2J\"\\"));
}

struct pipe_end {
    int fd;
    uint64_t n_failed, n_reported; /* lines of thing_failed; lines that log_lines_lost says were lost */
};

static void *read_lines(void *arg)
{
    struct pipe_end *end = arg;
    char line[4096];
    FILE *f = fdopen(dup(end->fd), "r");
    while (fgets(line, sizeof line, f)) {
        end->n_failed += strstr(line, " error thing_failed ") != NULL;
        const char *lost = strstr(line, " warn log_lines_lost lines=");
        end->n_reported += lost ? strtoull(strchr(lost, '=') + 1, NULL, 10) : 0;
    }
    fclose(f);
    return NULL;
}

static void emit_detail(void)
{
    log_emit0(&ev_thing_detail);
}

static void emit_error(void)
{
    struct err_info why;
    err_set(&why, ERR_IO, "/a b", "it broke");
    log_emit(&ev_thing_failed, LOG_ERR(&why));
}

static void text_lines(void **state)
{
    (void)state;
    char line[1024];
    log_setup("test", LOG_INFO, LOG_TEXT);
    capture(emit_fields, line, sizeof line);
    int year, month, day, hour, minute, second, ms, n = 0;
    assert_int_equal(
        sscanf(line, "%4d-%2d-%2dT%2d:%2d:%2d.%3dZ%n", &year, &month, &day, &hour, &minute, &second, &ms, &n),
        7);
    assert_int_equal(n, 24);
    assert_string_equal(line + n, " info thing_done url=http://h/a took_ms=-12 name=\"two words\" none=\"\" "
                                  "evil=\"a\\n2026 info x\\x1B[2J\\\"\\\\\" A thing is done.\n");
    capture(emit_error, line, sizeof line);
    assert_string_equal(line + n, " error thing_failed error=\"it broke\" where=\"/a b\" A thing failed.\n");
}

static void json_lines(void **state)
{
    (void)state;
    char line[1024];
    log_setup("test", LOG_INFO, LOG_JSON);
    capture(emit_fields, line, sizeof line);
    assert_memory_equal(line, "{\"time\":\"", 9);
    assert_string_equal(line + 33, "\",\"level\":\"info\",\"program\":\"test\",\"event\":\"thing_done\","
                                   "\"text\":\"A thing is done.\",\"url\":\"http://h/a\",\"took_ms\":-12,"
                                   "\"name\":\"two words\",\"none\":\"\","
                                   "\"evil\":\"a\\n2026 info x\\u001B[2J\\\"\\\\\"}\n");
}

static void level_is_a_threshold(void **state)
{
    (void)state;
    char line[1024];
    log_setup("test", LOG_INFO, LOG_TEXT);
    capture(emit_detail, line, sizeof line);
    assert_string_equal(line, "");
    log_setup("test", LOG_DEBUG, LOG_TEXT);
    capture(emit_detail, line, sizeof line);
    assert_non_null(strstr(line, " debug thing_detail A detail.\n"));
    log_setup("test", LOG_ERROR, LOG_TEXT);
    capture(emit_fields, line, sizeof line);
    assert_string_equal(line, "");
}

static void levels_have_words(void **state)
{
    enum log_level level = LOG_WARN;
    (void)state;
    assert_int_equal(log_level_read("debug", &level), 0);
    assert_int_equal(level, LOG_DEBUG);
    assert_int_equal(log_level_read("verbose", &level), ERR_USAGE);
    assert_int_equal(level, LOG_DEBUG);
    assert_string_equal(log_level_name(LOG_WARN), "warn");
    log_set_level(LOG_WARN);
    assert_int_equal(log_level(), LOG_WARN);
    assert_false(log_is_on(LOG_INFO));
}

static void emit_long(void)
{
    static char text[3 * LOG_VALUE_MAX];
    memset(text, 'x', sizeof text - 1);
    log_emit(&ev_thing_failed, LOG_STR("a", text), LOG_INT("b", 7));
}

static void a_long_value_is_cut(void **state)
{
    (void)state;
    static char line[4 * LOG_VALUE_MAX];
    log_setup("test", LOG_INFO, LOG_TEXT);
    capture(emit_long, line, sizeof line);
    assert_true(strlen(line) < LOG_VALUE_MAX + 100);
    assert_non_null(strstr(line, "xx\xE2\x80\xA6 b=7 "));
}

/* What fits into the room waits for the reader, also when another user of the pipe has set O_NONBLOCK. */
static void a_pipe_that_does_not_block_loses_nothing(void **state)
{
    enum { N_LINES = 2000 };
    int ends[2], saved = dup(STDERR_FILENO);
    (void)state;
    log_setup("test", LOG_INFO, LOG_TEXT);
    assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
    assert_int_equal(fcntl(ends[0], F_SETFL, 0), 0);
    dup2(ends[1], STDERR_FILENO);
    log_writer_start();
    for (int i = 0; i < N_LINES; i++)
        emit_error();
    pthread_t reader;
    struct pipe_end all = {.fd = ends[0]};
    assert_int_equal(pthread_create(&reader, NULL, read_lines, &all), 0);
    log_writer_stop();
    dup2(saved, STDERR_FILENO);
    close(saved);
    close(ends[1]);
    pthread_join(reader, NULL);
    close(ends[0]);
    assert_int_equal(all.n_failed, N_LINES);
}

/* Nobody reads the pipe: the one who logs goes on, and what cannot be kept is counted. */
static void a_reader_that_stands_still_holds_nobody_up(void **state)
{
    enum { N_LINES = 40000 };
    int ends[2], saved = dup(STDERR_FILENO);
    (void)state;
    log_setup("test", LOG_INFO, LOG_TEXT);
    assert_int_equal(pipe(ends), 0);
    dup2(ends[1], STDERR_FILENO);
    uint64_t lost_before = log_writer_n_lost();
    log_writer_start();
    for (int i = 0; i < N_LINES; i++)
        emit_error();
    uint64_t n_lost = log_writer_n_lost() - lost_before;
    /* Now it reads, to the end: every line is there or was counted, and every loss was reported when there was room. */
    pthread_t reader;
    struct pipe_end all = {.fd = ends[0]};
    assert_int_equal(pthread_create(&reader, NULL, read_lines, &all), 0);
    while (log_writer_n_waiting() > 0)
        sched_yield();
    emit_error();
    log_writer_stop();
    dup2(saved, STDERR_FILENO);
    close(saved);
    close(ends[1]);
    pthread_join(reader, NULL);
    close(ends[0]);
    assert_true(n_lost > 0);
    assert_int_equal(all.n_failed + n_lost, N_LINES + 1);
    assert_int_equal(all.n_reported, n_lost);
}

static void quoting(void **state)
{
    (void)state;
    static const char *const rows[][3] = {
        /* in, text, JSON */
        {"plain", "plain", "\"plain\""},
        {"", "\"\"", "\"\""},
        {"a=b,c", "a=b,c", "\"a=b,c\""},
        {"\xc3\xa4", "\xc3\xa4", "\"\xc3\xa4\""},
        {"a\tb\r\n", "\"a\\tb\\r\\n\"", "\"a\\tb\\r\\n\""},
        {"\x7f", "\"\\x7F\"", "\"\\u007F\""},
        {"\xc2\x9b", "\"\\xC2\\x9B\"", "\"\\u009B\""},
        {"\xff", "\"\\xFF\"", "\"\xef\xbf\xbd\""},
        {"a\xe2\x82", "\"a\\xE2\\x82\"", "\"a\xef\xbf\xbd\xef\xbf\xbd\""},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        buf_auto struct buf text = BUF_EMPTY, json = BUF_EMPTY;
        quote_text(&text, rows[i][0]);
        quote_json(&json, rows[i][0]);
        assert_string_equal(text.bytes, rows[i][1]);
        assert_string_equal(json.bytes, rows[i][2]);
    }
}

static bool is_news(struct log_trouble *t, int code, const char *where, const char *text, int64_t now_ms)
{
    struct err_info why = {0};
    err_set(&why, code, where, "%s", text);
    return log_trouble_is_news(t, &why, now_ms);
}

/* A try a second, as a log on a screen would show it. */
static void a_trouble_that_stays_is_said_once_a_minute(void **state)
{
    enum { START_MS = 5 };
    struct log_trouble t = {0};
    int n_said = 0;
    (void)state;
    for (int64_t now_ms = START_MS; now_ms < START_MS + 180 * 1000; now_ms += 1000)
        n_said += is_news(&t, ERR_PERMISSION, "/a", "no", now_ms);
    assert_int_equal(n_said, 3);
}

static void a_trouble_that_changes_is_said_at_once(void **state)
{
    struct log_trouble t = {0};
    (void)state;
    assert_true(is_news(&t, ERR_PERMISSION, "/a", "no", 1000));
    assert_false(is_news(&t, ERR_PERMISSION, "/a", "no", 1001));
    assert_true(is_news(&t, ERR_PERMISSION, "/a", "not now", 1002));
    assert_true(is_news(&t, ERR_PERMISSION, "/b", "not now", 1003));
    assert_true(is_news(&t, ERR_NOTFOUND, "/b", "not now", 1004));
    assert_true(is_news(&t, ERR_PERMISSION, "/a", "no", 1005));
    assert_false(is_news(&t, ERR_PERMISSION, "/a", "no", 1006));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_lines),
        cmocka_unit_test(json_lines),
        cmocka_unit_test(level_is_a_threshold),
        cmocka_unit_test(levels_have_words),
        cmocka_unit_test(a_long_value_is_cut),
        cmocka_unit_test(a_pipe_that_does_not_block_loses_nothing),
        cmocka_unit_test(a_reader_that_stands_still_holds_nobody_up),
        cmocka_unit_test(quoting),
        cmocka_unit_test(a_trouble_that_stays_is_said_once_a_minute),
        cmocka_unit_test(a_trouble_that_changes_is_said_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
