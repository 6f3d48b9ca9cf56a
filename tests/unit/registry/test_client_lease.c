/**
 * Leases against a scripted registryd: binding, one renewal, renewing by itself.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/obj.h"
#include "bobbin/registry.h"
#include "client_kit.h"

#define BOUND "{\"path\":\"/a\",\"status\":{\"path\":\"a\"}}"
#define NONE  "{\"type\":\"urn:bobbin:error:path-not-found\",\"detail\":\"no record has this lease\"}"

static int bind_leased(struct fixture *f, int64_t ttl_ms)
{
    struct reg_record *record = reg_record_new();

    reg_bind_leased(f->reg, "/a", record, REG_OVERWRITE, ttl_ms, client_done, &f->got);
    reg_record_free(record);
    return client_await(f);
}

static void test_a_bind_and_a_renewal(void **state)
{
    static const struct step steps[] = {
        {.status = 201, .body = BOUND},
        {.status = 200, .body = "{\"living\":2,\"ttl\":1500,\"gone\":[\"/b\",\"/c\"]}"},
        {.status = 503, .body = "{\"type\":\"urn:bobbin:error:unavailable\",\"detail\":\"no keeper\"}"},
        {.status = 200, .body = "{\"living\":2,\"ttl\":1500,\"gone\":[]}"},
        {.status = 404, .body = NONE},
    };
    struct fixture f;

    (void)state;
    client_begin(&f, "yarn", steps, ARRAY_LEN(steps));
    assert_int_equal(strlen(reg_lease(f.reg)), 32);
    assert_int_equal(bind_leased(&f, 1500), 0);
    reg_keep_alive(f.reg, client_done, &f.got);
    assert_int_equal(client_await(&f), 0);
    assert_string_equal(f.got.text, "/b=,/c=,");
    reg_keep_alive(f.reg, client_done, &f.got); /* a registryd that does not know who keeps is asked again */
    assert_int_equal(client_await(&f), 0);
    assert_string_equal(f.got.text, "");
    reg_keep_alive(f.reg, client_done, &f.got);
    assert_int_equal(client_await(&f), ERR_NOTFOUND);
    assert_string_equal(f.server.log.bytes, "PUT /ws/v1/registry/a user.name=yarn overwrite=true ttl=1500ms\n"
                                            "POST /ws/v1/registry-lease user.name=yarn\n"
                                            "POST /ws/v1/registry-lease user.name=yarn\n"
                                            "POST /ws/v1/registry-lease user.name=yarn\n"
                                            "POST /ws/v1/registry-lease user.name=yarn\n");
    client_end(&f);
}

struct notes {
    struct run_loop *loop;
    char text[128];
};

static void on_notify(void *arg, int err, const struct reg_result *r, const struct err_info *why)
{
    struct notes *n = arg;
    size_t len = strlen(n->text);

    (void)why;
    snprintf(n->text + len, sizeof n->text - len, "%s%s,", err_name(err), r->n_found ? r->found[0].path : "");
    if (err)
        reg_loop_stop(n->loop);
}

static void test_renewing_by_itself(void **state)
{
    static const struct step steps[] = {
        {.status = 201, .body = BOUND},
        {.status = 200, .body = "{\"living\":1,\"ttl\":60,\"gone\":[]}"},
        {.status = 200, .body = "{\"living\":1,\"ttl\":60,\"gone\":[\"/b\"]}"},
        {.status = 404, .body = NONE},
    };
    struct notes notes = {0};
    struct fixture f;

    (void)state;
    client_begin(&f, "yarn", steps, ARRAY_LEN(steps));
    notes.loop = f.loop;
    reg_keep_alive_start(f.reg, on_notify, &notes); /* there is nothing to renew */
    assert_int_equal(bind_leased(&f, 60), 0);
    reg_loop_run(f.loop);
    assert_string_equal(notes.text, "OK/b,ERR_NOTFOUND,"); /* and it rests */
    reg_keep_alive_stop(f.reg);
    reg_keep_alive_stop(f.reg);
    client_end(&f);
}

/** The keeper does not know yet of the record that another registryd has bound. */
static void test_an_answer_with_a_longer_ttl_than_was_bound(void **state)
{
    static const struct step steps[] = {
        {.status = 201, .body = BOUND},
        {.status = 200, .body = "{\"living\":1,\"ttl\":3600000,\"gone\":[]}"},
        {.status = 404, .body = NONE},
    };
    struct notes notes = {0};
    struct fixture f;

    (void)state;
    client_begin(&f, "yarn", steps, ARRAY_LEN(steps));
    notes.loop = f.loop;
    reg_keep_alive_start(f.reg, on_notify, &notes);
    assert_int_equal(bind_leased(&f, 60), 0);
    reg_loop_run(f.loop); /* ends with the second renewal, 20 ms after the first and not 20 minutes */
    assert_string_equal(notes.text, "ERR_NOTFOUND,");
    client_end(&f);
}

static void test_closing_amid_a_renewal(void **state)
{
    static const struct step steps[] = {
        {.status = 201, .body = BOUND},
        {.status = 200, .body = "{\"living\":1,\"ttl\":1,\"gone\":[\"/b\"]}"},
        {.status = 200, .body = "{\"living\":1,\"ttl\":1,\"gone\":[\"/b\"]}"},
    };
    struct notes notes = {0};
    struct fixture f;

    (void)state;
    client_begin(&f, "yarn", steps, ARRAY_LEN(steps));
    reg_keep_alive_start(f.reg, on_notify, &notes);
    reg_keep_alive(f.reg, client_done, &f.got);
    assert_int_equal(client_await(&f), 0);
    client_end(&f);
}

static void test_keys(void **state)
{
    const char *const bad[] = {"", "short", "with a blank and more", "0123456789abcdef\n"};
    struct run_loop *loop = reg_loop_new();
    struct err_info why;
    struct reg *r;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        const struct reg_options o = {.lease = bad[i]};
        assert_int_equal(reg_open(loop, &o, &r, &why), ERR_INVALID);
    }
    const struct reg_options good = {.lease = "0123456789abcdef"};
    assert_int_equal(reg_open(loop, &good, &r, &why), 0);
    assert_string_equal(reg_lease(r), good.lease);
    reg_close(r);
    reg_loop_free(loop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_bind_and_a_renewal),
        cmocka_unit_test(test_renewing_by_itself),
        cmocka_unit_test(test_an_answer_with_a_longer_ttl_than_was_bound),
        cmocka_unit_test(test_closing_amid_a_renewal),
        cmocka_unit_test(test_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
