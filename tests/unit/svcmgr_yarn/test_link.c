/* Calls and answers of a link: order, authentication, what servers refuse, what they send that is none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "link_rig.h"

#define NEW_APPLICATION "getNewApplication"
#define REGISTER        "registerApplicationMaster"
#define ALLOCATE        "allocate"

/* ---- calls and answers ---- */

static void answers_come_in_any_order(void **state)
{
    struct rig *r = *state;
    int32_t ids[3];
    rig_open(r, FAKE_SIMPLE, 1, yarn_client_protocol);
    for (size_t i = 0; i < 3; i++)
        rig_call(r, i);
    for (size_t i = 0; i < 3; i++)
        ids[i] = fake_want(r->fakes[0], NEW_APPLICATION);
    assert_string_equal(fake_user(r->fakes[0]), "alice");
    assert_string_equal(fake_protocol(r->fakes[0]), "org.apache.hadoop.yarn.api.ApplicationClientProtocolPB");
    for (int i = 2; i >= 0; i--)
        rig_answer(r, 0, ids[i], 10 + i);
    rig_run(r, 3);
    for (int i = 0; i < 3; i++)
        assert_int_equal(r->calls[i].app, 10 + i);
    assert_int_equal(fake_n_connections(r->fakes[0]), 1);
    assert_int_equal(r->n_reached, 1);
}

static void answers_in_pieces_are_put_together(void **state)
{
    struct rig *r = *state;
    fake_set_chunk(r->fakes[0], 1);
    rig_open(r, FAKE_SIMPLE, 1, yarn_client_protocol);
    rig_call(r, 0);
    rig_call(r, 1);
    rig_answer(r, 0, fake_want(r->fakes[0], NEW_APPLICATION), 1);
    rig_answer(r, 0, fake_want(r->fakes[0], NEW_APPLICATION), 2);
    rig_run(r, 2);
    assert_int_equal(r->calls[0].app, 1);
    assert_int_equal(r->calls[1].app, 2);
}

static void start_another(struct rig *r, struct rig_call *c)
{
    if (c == &r->calls[0])
        rig_call(r, 1);
}

static void callback_may_start_a_call(void **state)
{
    struct rig *r = *state;
    r->on_done = start_another;
    rig_open(r, FAKE_SIMPLE, 1, yarn_client_protocol);
    rig_call(r, 0);
    rig_answer(r, 0, fake_want(r->fakes[0], NEW_APPLICATION), 1);
    rig_answer(r, 0, fake_want(r->fakes[0], NEW_APPLICATION), 2);
    rig_run(r, 2);
    assert_int_equal(r->calls[1].app, 2);
}

static void error_is_a_code_and_the_connection_stays(void **state)
{
    struct rig *r = *state;
    rig_open(r, FAKE_SIMPLE, 1, yarn_client_protocol);
    rig_call(r, 0);
    fake_fail(r->fakes[0], fake_want(r->fakes[0], NEW_APPLICATION), YARN__RPC_STATUS__RPC_ERROR,
              "org.apache.hadoop.yarn.exceptions.ApplicationNotFoundException",
              "no such application\n\tat x");
    rig_run(r, 1);
    rig_expect(r, 0, ERR_NOTFOUND, "no such application");
    assert_string_equal(r->calls[0].class_name,
                        "org.apache.hadoop.yarn.exceptions.ApplicationNotFoundException");
    rig_call(r, 1);
    rig_answer(r, 0, fake_want(r->fakes[0], NEW_APPLICATION), 1);
    rig_run(r, 2);
    assert_int_equal(fake_n_connections(r->fakes[0]), 1);
}

static void cancelled_call_does_not_end(void **state)
{
    struct rig *r = *state;
    rig_open(r, FAKE_SIMPLE, 1, yarn_client_protocol);
    rig_call(r, 0);
    rig_call(r, 1);
    int32_t first = fake_want(r->fakes[0], NEW_APPLICATION), second = fake_want(r->fakes[0], NEW_APPLICATION);
    yarn_call_cancel(&r->calls[0].call);
    yarn_call_cancel(&r->calls[0].call);
    rig_answer(r, 0, first, 1);
    rig_answer(r, 0, second, 2);
    rig_run(r, 1);
    assert_false(r->calls[0].is_done);
    assert_int_equal(r->calls[1].app, 2);
    assert_int_equal(fake_n_connections(r->fakes[0]), 1);
}

static void cancel_the_second(struct rig *r, struct rig_call *c)
{
    if (c == &r->calls[0])
        yarn_call_cancel(&r->calls[1].call);
}

static void callback_may_cancel_another_call_that_fails(void **state)
{
    struct rig *r = *state;
    r->on_done = cancel_the_second;
    rig_open(r, FAKE_REFUSES, 1, yarn_client_protocol);
    for (size_t i = 0; i < 3; i++)
        rig_call(r, i);
    rig_run(r, 2);
    assert_false(r->calls[1].is_done);
    rig_expect(r, 2, ERR_AUTH, "refuses the connection");
}

static void close_in_callback(struct rig *r, struct rig_call *c)
{
    if (c == &r->calls[0])
        rig_close(r);
}

static void close_ends_every_call(void **state)
{
    struct rig *r = *state;
    r->on_done = close_in_callback;
    rig_open(r, FAKE_SIMPLE, 1, yarn_client_protocol);
    for (size_t i = 0; i < 3; i++)
        rig_call(r, i);
    rig_answer(r, 0, fake_want(r->fakes[0], NEW_APPLICATION), 1);
    rig_run(r, 3);
    rig_expect(r, 1, ERR_CANCELLED, "the link was closed");
    rig_expect(r, 2, ERR_CANCELLED, "the link was closed");
}

static void limits_refuse_at_once(void **state)
{
    struct rig *r = *state;
    struct err_info why;
    struct yarn_call extra = {0};
    Yarn__KillApplication kill = YARN__KILL_APPLICATION__INIT;
    char text[2000];
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = 0;
    kill.diagnostics = text;
    r->config.max_calls = 1;
    r->config.request_max = 1000;
    rig_open(r, FAKE_SIMPLE, 1, yarn_client_protocol);
    assert_int_equal(yarn_client_kill(r->link, &kill, &extra, &why), ERR_TOOBIG);
    rig_call(r, 0);
    kill.diagnostics = NULL;
    assert_int_equal(yarn_client_kill(r->link, &kill, &extra, &why), ERR_LIMIT);
    assert_string_equal(why.text, "1 calls to the resource manager are under way");
    yarn_call_cancel(&r->calls[0].call);
    yarn_call_cancel(&extra);
}

static void octets_of_requests_are_bounded_together(void **state)
{
    struct rig *r = *state;
    struct err_info why;
    struct yarn_call extra = {0};
    const Yarn__Nothing nothing = YARN__NOTHING__INIT;
    r->config.queue_max = 200; /* a call of this method has 78 */
    rig_open(r, FAKE_SIMPLE, 1, yarn_client_protocol);
    rig_call(r, 0);
    rig_call(r, 1);
    assert_int_equal(yarn_client_new_application(r->link, &nothing, &extra, &why), ERR_LIMIT);
    assert_string_equal(why.text, "requests of 158 octets to the resource manager are under way");
    rig_answer(r, 0, fake_want(r->fakes[0], NEW_APPLICATION), 1);
    rig_run(r, 1);
    rig_call(r, 2);
}

static void what_cannot_work_is_refused_when_it_is_opened(void **state)
{
    struct rig *r = *state;
    struct yarn_addresses none = ADDRESSES_EMPTY, one = ADDRESSES_EMPTY;
    struct yarn_link *link = NULL;
    struct err_info why;
    fake_add_address(r->fakes[0], &one);
    r->config.protocol = yarn_client_protocol;
    assert_int_equal(yarn_link_open(r->loop, &r->config, &none, &link, &why), ERR_INVALID);
    r->config.auth = YARN_AUTH_KERBEROS;
    assert_int_equal(yarn_link_open(r->loop, &r->config, &one, &link, &why), ERR_UNSUPPORTED);
    assert_string_equal(why.text, "Kerberos towards YARN is not supported yet");
    r->config.auth = YARN_AUTH_TOKEN;
    r->config.token = NULL;
    assert_int_equal(yarn_link_open(r->loop, &r->config, &one, &link, &why), ERR_INVALID);
    r->config.auth = YARN_AUTH_SIMPLE;
    r->config.user = NULL;
    assert_int_equal(yarn_link_open(r->loop, &r->config, &one, &link, &why), ERR_INVALID);
    assert_null(link);
    yarn_addresses_fini(&one);
}

/* ---- authentication ---- */

static void token_opens_the_connection(void **state)
{
    struct rig *r = *state;
    rig_open(r, FAKE_TOKEN, 1, yarn_master_protocol);
    rig_register(r, 0);
    fake_answer(r->fakes[0], fake_want(r->fakes[0], REGISTER), NULL);
    rig_run(r, 1);
    assert_int_equal(r->calls[0].code, 0);
    assert_string_equal(fake_user(r->fakes[0]), "");
}

static void integrity_signs_both_directions(void **state)
{
    struct rig *r = *state;
    fake_set_chunk(r->fakes[0], 7);
    rig_open(r, FAKE_INTEGRITY, 1, yarn_master_protocol);
    rig_register(r, 0);
    fake_answer(r->fakes[0], fake_want(r->fakes[0], REGISTER), NULL);
    rig_run(r, 1);
    for (size_t i = 0; i < 3; i++)
        rig_allocate(r, i);
    for (size_t i = 0; i < 3; i++)
        fake_answer(r->fakes[0], fake_want(r->fakes[0], ALLOCATE), NULL);
    rig_run(r, 4);
    assert_int_equal(r->calls[2].code, 0);
    assert_int_equal(fake_n_connections(r->fakes[0]), 1);
}

static void forged_answer_ends_the_connection_and_is_not_believed(void **state)
{
    struct rig *r = *state;
    rig_open(r, FAKE_INTEGRITY, 1, yarn_master_protocol);
    rig_allocate(r, 0);
    fake_forge(r->fakes[0]);
    fake_answer(r->fakes[0], fake_want(r->fakes[0], ALLOCATE), NULL);
    fake_want(r->fakes[0], ALLOCATE);
    assert_false(r->calls[0].is_done);
    assert_int_equal(fake_n_connections(r->fakes[0]), 2);
    assert_non_null(strstr(r->missing, "is not signed as agreed"));
}

/* An answer without the signature that was agreed is one of somebody else. */
static void unsigned_answer_is_not_believed(void **state)
{
    struct rig *r = *state;
    static const char answer[] = {0, 0, 0, 6, 4, 8, 0, 16, 0, 0};
    rig_open(r, FAKE_INTEGRITY, 1, yarn_master_protocol);
    rig_allocate(r, 0);
    assert_int_equal(fake_want(r->fakes[0], ALLOCATE), 0);
    fake_raw(r->fakes[0], answer, sizeof answer);
    fake_want(r->fakes[0], ALLOCATE);
    assert_false(r->calls[0].is_done);
}

static void refused_token_ends_all_calls(void **state)
{
    struct rig *r = *state;
    rig_open(r, FAKE_TOKEN_REFUSED, 1, yarn_master_protocol);
    rig_register(r, 0);
    rig_allocate(r, 1);
    rig_run(r, 2);
    for (size_t i = 0; i < 2; i++) {
        rig_expect(r, i, ERR_AUTH, "refuses the connection: it has been revoked");
        assert_string_equal(r->calls[i].class_name,
                            "org.apache.hadoop.security.token.SecretManager$InvalidToken");
        assert_true(r->calls[i].is_not_done);
    }
    fake_want_none(r->fakes[0]);
    assert_int_equal(fake_n_connections(r->fakes[0]), 1);
}

static void server_without_proof_gets_no_call(void **state)
{
    struct rig *r = *state;
    rig_open(r, FAKE_WRONG_PROOF, 1, yarn_master_protocol);
    rig_register(r, 0);
    rig_run(r, 1);
    rig_expect(r, 0, ERR_AUTH, "authentication failed");
    fake_want_none(r->fakes[0]);
}

/* As a node manager does with a token of another kind; a server that was restarted meanwhile does it once. */
static void end_within_authentication_is_a_refusal_the_second_time(void **state)
{
    struct rig *r = *state;
    rig_open(r, FAKE_HANGS_UP, 1, yarn_master_protocol);
    rig_register(r, 0);
    rig_run(r, 1);
    rig_expect(r, 0, ERR_AUTH, "as for a token of another kind");
    assert_int_equal(fake_n_connections(r->fakes[0]), 2);
}

static void simple_user_is_refused_where_tokens_are_wanted(void **state)
{
    struct rig *r = *state;
    rig_open(r, FAKE_REFUSES, 1, yarn_client_protocol);
    rig_call(r, 0);
    rig_run(r, 1);
    rig_expect(r, 0, ERR_AUTH, "SIMPLE authentication is not enabled.  Available:[TOKEN]");
    assert_true(r->calls[0].is_not_done);
}

static void next_connection_has_the_new_token(void **state)
{
    struct rig *r = *state;
    struct yarn_token token = {.kind = TOKEN_KIND_MASTER, .service = ""};
    buf_add_str(&token.identifier, "a rolled one");
    buf_add_str(&token.password, FAKE_PASSWORD);
    rig_open(r, FAKE_TOKEN, 1, yarn_master_protocol);
    rig_allocate(r, 0);
    int32_t id = fake_want(r->fakes[0], ALLOCATE);
    yarn_link_set_token(r->link, &token);
    fake_answer(r->fakes[0], id, NULL);
    rig_run(r, 1);
    assert_int_equal(r->calls[0].code, 0);
    fake_hang_up(r->fakes[0]);
    rig_allocate(r, 1);
    rig_run(r, 2);
    rig_expect(r, 1, ERR_AUTH, "refuses the connection");
    yarn_link_set_token(r->link, &r->token);
    rig_allocate(r, 2);
    fake_answer(r->fakes[0], fake_want(r->fakes[0], ALLOCATE), NULL);
    rig_run(r, 3);
    assert_int_equal(r->calls[2].code, 0);
    buf_fini(&token.identifier);
    buf_fini(&token.password);
}

/* ---- what is no answer ---- */

static void malformed_message_ends_its_call_only(void **state)
{
    struct rig *r = *state;
    rig_open(r, FAKE_SIMPLE, 1, yarn_client_protocol);
    rig_call(r, 0);
    rig_call(r, 1);
    fake_answer_raw(r->fakes[0], fake_want(r->fakes[0], NEW_APPLICATION), "\2\x0a\x05", 3);
    rig_answer(r, 0, fake_want(r->fakes[0], NEW_APPLICATION), 2);
    rig_run(r, 2);
    rig_expect(r, 0, ERR_PARSE, "the answer to getNewApplication is malformed, or too large");
    assert_int_equal(r->calls[1].app, 2);
    assert_int_equal(fake_n_connections(r->fakes[0]), 1);
}

static void message_may_not_take_more_memory_than_is_allowed(void **state)
{
    struct rig *r = *state;
    enum { N = 400 };
    char body[2 + 2 * N];
    r->config.answer_max = 1000;
    rig_open(r, FAKE_SIMPLE, 1, yarn_client_protocol);
    rig_call(r, 0);
    body[0] = (char)(2 * N | 0x80);
    body[1] = (char)(2 * N >> 7);
    for (size_t i = 0; i < N; i++)
        memcpy(body + 2 + 2 * i, "\x7a\0", 2); /* a field that is not known, and empty */
    fake_answer_raw(r->fakes[0], fake_want(r->fakes[0], NEW_APPLICATION), body, sizeof body);
    rig_run(r, 1);
    rig_expect(r, 0, ERR_PARSE, "malformed, or too large");
}

static void too_long_answer_ends_its_call_and_others_are_sent_again(void **state)
{
    struct rig *r = *state;
    char body[2000] = {0};
    r->config.answer_max = 1000;
    rig_open(r, FAKE_SIMPLE, 1, yarn_client_protocol);
    rig_call(r, 0);
    rig_call(r, 1);
    int32_t long_one = fake_want(r->fakes[0], NEW_APPLICATION);
    fake_want(r->fakes[0], NEW_APPLICATION);
    fake_set_chunk(r->fakes[0], 5);
    fake_answer_raw(r->fakes[0], long_one, body, sizeof body);
    rig_run(r, 1);
    rig_expect(r, 0, ERR_TOOBIG,
               "getNewApplication: an answer has 2005 octets, more than the 1000 that are accepted");
    fake_set_chunk(r->fakes[0], 0);
    rig_answer(r, 0, fake_want(r->fakes[0], NEW_APPLICATION), 2);
    rig_run(r, 2);
    assert_int_equal(r->calls[1].app, 2);
    assert_int_equal(fake_n_connections(r->fakes[0]), 2);
}

/* Whose it is stands behind the signature: the oldest call is taken for it. */
static void too_long_wrapped_answer_ends_the_oldest_call(void **state)
{
    struct rig *r = *state;
    char body[6000] = {0};
    r->config.answer_max = 1000;
    rig_open(r, FAKE_INTEGRITY, 1, yarn_master_protocol);
    rig_allocate(r, 0);
    rig_allocate(r, 1);
    int32_t long_one = fake_want(r->fakes[0], ALLOCATE);
    fake_want(r->fakes[0], ALLOCATE);
    fake_answer_raw(r->fakes[0], long_one, body, 2000);
    rig_run(r, 1);
    rig_expect(r, 0, ERR_TOOBIG, "an answer has 2005 octets"); /* it could be unwrapped */
    rig_allocate(r, 2);
    long_one = fake_want(r->fakes[0], ALLOCATE);
    fake_want(r->fakes[0], ALLOCATE);
    fake_answer_raw(r->fakes[0], long_one, body, sizeof body);
    rig_run(r, 2);
    rig_expect(r, 1, ERR_TOOBIG, "more than the 5096 that are accepted");
    fake_answer(r->fakes[0], fake_want(r->fakes[0], ALLOCATE), NULL);
    rig_run(r, 3);
    assert_int_equal(r->calls[2].code, 0);
}

static void answer_to_no_call_ends_the_connection(void **state)
{
    struct rig *r = *state;
    rig_open(r, FAKE_SIMPLE, 1, yarn_client_protocol);
    rig_call(r, 0);
    int32_t id = fake_want(r->fakes[0], NEW_APPLICATION);
    rig_answer(r, 0, id + 1, 1);
    rig_answer(r, 0, fake_want(r->fakes[0], NEW_APPLICATION), 2);
    rig_run(r, 1);
    assert_int_equal(r->calls[0].app, 2);
    assert_int_equal(fake_wanted_retries(r->fakes[0]), 1);
    assert_non_null(strstr(r->missing, "it answers a call that was not made"));
}

static void octets_that_are_no_frames_are_named(void **state)
{
    struct rig *r = *state;
    static const struct {
        const char *bytes, *text;
        size_t len;
    } cases[] = {
        {"HTTP/1.1 404 Not Found\r\n\r\n", "it speaks HTTP", 26},
        {"\xff\xff\xff\xff", "an older version", 4},
        {"\0\0\0\1\0", "an answer has no header", 5},
        {"\0\0\0\5\4\x08\0\x10\7", "an answer has a status that is not known", 9},
        {"\0\0\0\x08\7\x08\0\x10\0\x3a\1x", "an answer is for another client", 12},
    };
    rig_open(r, FAKE_SIMPLE, 1, yarn_client_protocol);
    rig_call(r, 0);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        fake_want(r->fakes[0], NEW_APPLICATION);
        fake_raw(r->fakes[0], cases[i].bytes, cases[i].len);
        int32_t id = fake_want(r->fakes[0], NEW_APPLICATION);
        if (!strstr(r->missing, cases[i].text))
            fail_msg("\"%s\" is not in \"%s\"", cases[i].text, r->missing);
        rig_answer(r, 0, id, 1);
        rig_run(r, i + 1);
        fake_hang_up(r->fakes[0]);
        rig_call(r, 0);
    }
}

/* Cut at every octet of an answer, the connection is lost and the call is sent again. */
static void cut_frames_are_lost_connections(void **state)
{
    struct rig *r = *state;
    static const char answer[] = {0, 0, 0, 6, 4, 8, 0, 16, 0, 0};
    rig_open(r, FAKE_SIMPLE, 1, yarn_client_protocol);
    rig_call(r, 0);
    for (size_t len = 0; len < sizeof answer; len++) {
        assert_int_equal(fake_want(r->fakes[0], NEW_APPLICATION), 0);
        fake_raw(r->fakes[0], answer, len);
        fake_hang_up(r->fakes[0]);
    }
    fake_want(r->fakes[0], NEW_APPLICATION);
    fake_raw(r->fakes[0], answer, sizeof answer);
    rig_run(r, 1);
    assert_int_equal(r->calls[0].code, 0);
    assert_int_equal(fake_n_connections(r->fakes[0]), sizeof answer + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_CASE(answers_come_in_any_order),
        RIG_CASE(answers_in_pieces_are_put_together),
        RIG_CASE(callback_may_start_a_call),
        RIG_CASE(error_is_a_code_and_the_connection_stays),
        RIG_CASE(cancelled_call_does_not_end),
        RIG_CASE(close_ends_every_call),
        RIG_CASE(limits_refuse_at_once),
        RIG_CASE(octets_of_requests_are_bounded_together),
        RIG_CASE(callback_may_cancel_another_call_that_fails),
        RIG_CASE(what_cannot_work_is_refused_when_it_is_opened),
        RIG_CASE(token_opens_the_connection),
        RIG_CASE(integrity_signs_both_directions),
        RIG_CASE(forged_answer_ends_the_connection_and_is_not_believed),
        RIG_CASE(unsigned_answer_is_not_believed),
        RIG_CASE(refused_token_ends_all_calls),
        RIG_CASE(server_without_proof_gets_no_call),
        RIG_CASE(end_within_authentication_is_a_refusal_the_second_time),
        RIG_CASE(simple_user_is_refused_where_tokens_are_wanted),
        RIG_CASE(next_connection_has_the_new_token),
        RIG_CASE(malformed_message_ends_its_call_only),
        RIG_CASE(message_may_not_take_more_memory_than_is_allowed),
        RIG_CASE(too_long_answer_ends_its_call_and_others_are_sent_again),
        RIG_CASE(too_long_wrapped_answer_ends_the_oldest_call),
        RIG_CASE(answer_to_no_call_ends_the_connection),
        RIG_CASE(octets_that_are_no_frames_are_named),
        RIG_CASE(cut_frames_are_lost_connections),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
