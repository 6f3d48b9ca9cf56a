/* A connection whose server closes: what it had sent before is read, whatever was written meanwhile. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/mem.h"
#include "base/obj.h"
#include "run/tcp.h"

#define RIG_MAGIC OBJ_MAGIC('T', 'C', 'P', 'R')

enum { PATIENCE_MS = 20000 };

struct rig {
    struct obj obj;
    struct run_loop *loop;
    uv_tcp_t listener, peer;
    struct run_tcp *conn;
    bool is_open, is_accepted, is_lost, is_closed;
    struct buf in;
    size_t n_before; /* octets that had arrived when it was lost */
    struct err_info why;
};

static void on_opened(void *arg)
{
    obj_cast(arg, struct rig, RIG_MAGIC)->is_open = true;
}

static void on_arrived(void *arg, struct buf *in)
{
    struct rig *r = obj_cast(arg, struct rig, RIG_MAGIC);
    buf_add(&r->in, in->bytes, in->len);
    buf_clear(in);
}

static void on_lost(void *arg, const struct err_info *why)
{
    struct rig *r = obj_cast(arg, struct rig, RIG_MAGIC);
    if (r->is_lost)
        return;
    r->is_lost = true;
    r->why = *why;
    r->n_before = r->in.len;
}

static void on_closed(void *arg)
{
    obj_cast(arg, struct rig, RIG_MAGIC)->is_closed = true;
}

static const struct run_tcp_ops ops = {on_opened, on_arrived, on_lost, on_closed};

static void on_connection(uv_stream_t *listener, int status)
{
    struct rig *r = obj_cast(listener->data, struct rig, RIG_MAGIC);
    assert_int_equal(status, 0);
    assert_int_equal(uv_tcp_init(run_loop_uv(r->loop), &r->peer), 0);
    assert_int_equal(uv_accept(listener, (uv_stream_t *)&r->peer), 0);
    r->is_accepted = true;
}

static void run_until(struct rig *r, const bool *is_so)
{
    int64_t end = run_now_ms() + PATIENCE_MS;
    while (!*is_so) {
        if (run_now_ms() > end)
            fail_msg("waited %d ms in vain", PATIENCE_MS);
        uv_run(run_loop_uv(r->loop), UV_RUN_ONCE);
    }
}

static void write_text(struct rig *r, const char *text)
{
    buf_auto struct buf out = BUF_EMPTY;
    buf_add_str(&out, text);
    run_tcp_write(r->conn, &out);
    assert_int_equal(out.len, 0);
}

static int set_up(void **state)
{
    struct rig *r = mem_new(struct rig);
    struct sockaddr_in at;
    int len = sizeof at;
    obj_init(&r->obj, RIG_MAGIC);
    signal(SIGPIPE, SIG_IGN); /* as the daemons do */
    r->loop = run_loop_new();
    r->listener.data = r;
    uv_ip4_addr("127.0.0.1", 0, &at);
    uv_tcp_init(run_loop_uv(r->loop), &r->listener);
    uv_tcp_bind(&r->listener, (struct sockaddr *)&at, 0);
    uv_listen((uv_stream_t *)&r->listener, 8, on_connection);
    uv_tcp_getsockname(&r->listener, (struct sockaddr *)&at, &len);
    const struct run_tcp_target target = {"test server", "127.0.0.1", ntohs(at.sin_port), 0};
    r->conn = run_tcp_open(r->loop, &target, &ops, r);
    *state = r;
    return 0;
}

static int tear_down(void **state)
{
    struct rig *r = *state;
    run_tcp_close(r->conn);
    run_until(r, &r->is_closed);
    run_handle_close((uv_handle_t *)&r->listener, NULL);
    run_loop_free(r->loop);
    buf_fini(&r->in);
    free(r);
    return 0;
}

/* The server has not read what it got, so its close resets the connection; the next write fails before anything is read. */
static void last_words_are_read_after_a_write_has_failed(void **state)
{
    struct rig *r = *state;
    uv_buf_t words = uv_buf_init("last words", 10);
    run_until(r, &r->is_open);
    run_until(r, &r->is_accepted);
    write_text(r, "not read");
    assert_int_equal(uv_try_write((uv_stream_t *)&r->peer, &words, 1), 10);
    run_handle_close((uv_handle_t *)&r->peer, NULL);
    write_text(r, "into nothing");
    write_text(r, "and again");
    run_until(r, &r->is_lost);
    assert_int_equal(r->n_before, 10);
    assert_string_equal(buf_cstr(&r->in), "last words");
    assert_non_null(strstr(r->why.text, "connection lost to test server 127.0.0.1:"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(last_words_are_read_after_a_write_has_failed, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
