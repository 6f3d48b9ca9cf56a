#include "link_rig.h"
#include "base/mem.h"
#include "base/obj.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define RIG_MAGIC OBJ_MAGIC('Y', 'R', 'I', 'G')

static void on_reach(void *arg, const char *server, const struct err_info *why)
{
    struct rig *r = obj_cast(arg, struct rig, RIG_MAGIC);
    assert_true(server[0]);
    r->n_reached += !why;
    r->n_missing += why != NULL;
    if (why)
        snprintf(r->missing, sizeof r->missing, "%s", why->text);
}

int rig_set_up(void **state)
{
    struct rig *r = mem_new(struct rig);
    obj_init(&r->obj, RIG_MAGIC);
    r->loop = run_loop_new();
    for (size_t i = 0; i < 2; i++)
        r->fakes[i] = fake_new(r->loop, FAKE_SIMPLE);
    r->token = (struct yarn_token){.kind = TOKEN_KIND_MASTER, .service = ""};
    buf_add_str(&r->token.identifier, FAKE_IDENTIFIER);
    buf_add_str(&r->token.password, FAKE_PASSWORD);
    r->config = (struct yarn_link_config){YARN_LINK_DEFAULTS, .noun = "resource manager", .user = "alice",
                                          .token = &r->token, .reach = on_reach,          .reach_arg = r};
    r->config.call_timeout_ms = RIG_TIMEOUT_MS;
    r->config.pause_min_ms = 1;
    r->config.pause_max_ms = 5;
    *state = r;
    return 0;
}

static void on_closed(void *arg)
{
    struct rig *r = obj_cast(arg, struct rig, RIG_MAGIC);
    r->is_closed = true;
}

static bool is_closed(void *arg)
{
    return obj_cast(arg, struct rig, RIG_MAGIC)->is_closed;
}

int rig_tear_down(void **state)
{
    struct rig *r = *state;
    if (r->link && !r->is_closing)
        yarn_link_close(r->link, on_closed, r);
    if (r->link)
        fake_until(r->loop, is_closed, r);
    for (size_t i = 0; i < 2; i++)
        fake_free(r->fakes[i]);
    run_loop_free(r->loop);
    buf_fini(&r->token.identifier);
    buf_fini(&r->token.password);
    free(r);
    return 0;
}

void rig_close(struct rig *r)
{
    r->is_closing = true;
    yarn_link_close(r->link, on_closed, r);
}

void rig_open(struct rig *r, enum fake_mode mode, size_t n, const char *protocol)
{
    struct yarn_addresses list = ADDRESSES_EMPTY;
    for (size_t i = 0; i < n; i++) {
        fake_set_mode(r->fakes[i], mode);
        fake_add_address(r->fakes[i], &list);
    }
    r->config.auth = mode == FAKE_SIMPLE || mode == FAKE_REFUSES ? YARN_AUTH_SIMPLE : YARN_AUTH_TOKEN;
    r->config.protocol = protocol;
    assert_int_equal(yarn_link_open(r->loop, &r->config, &list, &r->link, NULL), 0);
    yarn_addresses_fini(&list);
}

static void on_done(void *arg, const struct yarn_answer *a)
{
    struct rig_call *c = arg;
    struct rig *r = obj_cast(c->rig, struct rig, RIG_MAGIC);
    assert_false(c->is_done);
    assert_true(!a->message != !a->failure);
    c->is_done = true;
    snprintf(c->server, sizeof c->server, "%s", a->server);
    if (a->failure) {
        c->code = a->failure->why.code;
        c->is_not_done = a->failure->is_not_done;
        snprintf(c->class_name, sizeof c->class_name, "%s", a->failure->class_name);
        snprintf(c->text, sizeof c->text, "%s", a->failure->why.text);
    } else if (a->method == &yarn_methods[YARN_CLIENT_new_application]) {
        const Yarn__NewApplication *m = yarn_client_new_application_answer(a);
        c->app = m->application_id ? m->application_id->id : 0;
    }
    r->n_done++;
    if (r->on_done)
        r->on_done(r, c);
}

static struct yarn_call *prepare(struct rig *r, size_t i)
{
    int64_t timeout_ms = r->calls[i].call.timeout_ms;
    r->calls[i] =
        (struct rig_call){.rig = r, .call = {.done = on_done, .arg = &r->calls[i], .timeout_ms = timeout_ms}};
    return &r->calls[i].call;
}

void rig_call(struct rig *r, size_t i)
{
    const Yarn__Nothing nothing = YARN__NOTHING__INIT;
    assert_int_equal(yarn_client_new_application(r->link, &nothing, prepare(r, i), NULL), 0);
}

void rig_register(struct rig *r, size_t i)
{
    Yarn__RegisterMaster m = YARN__REGISTER_MASTER__INIT;
    m.host = "";
    assert_int_equal(yarn_master_register(r->link, &m, prepare(r, i), NULL), 0);
}

void rig_allocate(struct rig *r, size_t i)
{
    const Yarn__Allocate m = YARN__ALLOCATE__INIT;
    assert_int_equal(yarn_master_allocate(r->link, &m, prepare(r, i), NULL), 0);
}

static bool are_done(void *arg)
{
    struct rig *r = obj_cast(arg, struct rig, RIG_MAGIC);
    return r->n_done >= r->want_done;
}

void rig_run(struct rig *r, size_t n)
{
    r->want_done = n;
    fake_until(r->loop, are_done, r);
}

void rig_answer(struct rig *r, size_t fake, int32_t id, int32_t app)
{
    Yarn__NewApplication m = YARN__NEW_APPLICATION__INIT;
    Yarn__ApplicationId a = YARN__APPLICATION_ID__INIT;
    a.has_id = true;
    a.id = app;
    m.application_id = &a;
    fake_answer(r->fakes[fake], id, &m.base);
}

void rig_expect(const struct rig *r, size_t i, int code, const char *text)
{
    assert_true(r->calls[i].is_done);
    assert_string_equal(err_name(r->calls[i].code), err_name(code));
    if (!strstr(r->calls[i].text, text))
        fail_msg("\"%s\" is not in \"%s\"", text, r->calls[i].text);
}
