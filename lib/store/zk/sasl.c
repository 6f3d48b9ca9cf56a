#include "store/zk/sasl.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/obj.h"
#include "store/zk/login.h"

#include <gssapi/gssapi_krb5.h>
#include <stdlib.h>
#include <string.h>

#define SASL_MAGIC OBJ_MAGIC('Z', 'K', 'S', 'A')

enum { NO_LAYER = 1 };

enum exchange_phase { PHASE_NONE, PHASE_CONTEXT, PHASE_LAYERS, PHASE_OUTCOME };

/** What a step works on. While one runs it belongs to the worker thread. */
struct exchange {
    enum exchange_phase phase;
    gss_ctx_id_t context;
    gss_name_t target;
    char *host;        /* of the server */
    char *server;      /* its principal, as asked for */
    char *server_name; /* as configured; NULL: default */
    char *server_principal;
    struct zkl *login;
    struct buf in, out;
    bool has_in;
};

struct zksasl {
    struct obj obj;
    struct run_loop *loop;
    const struct zksasl_ops *ops;
    void *arg;
    struct exchange x;
    char *host; /* of the exchange that is wanted; NULL: none */
    uv_work_t work;
    bool is_working, is_orphan;
    bool is_stale;   /* what the running step finds is not wanted any more */
    bool is_renewal; /* the running step only has to keep the ticket good */
    int err;
    struct err_info why;
    struct run_timer *renewal;
};

int zksasl_choose(const void *offer, size_t len, unsigned char choice[ZKSASL_LAYERS_LEN])
{
    const unsigned char *bytes = offer;
    if (len != ZKSASL_LAYERS_LEN)
        return ERR_PARSE;
    if (!(bytes[0] & NO_LAYER))
        return ERR_UNSUPPORTED;
    memset(choice, 0, ZKSASL_LAYERS_LEN);
    choice[0] = NO_LAYER;
    return 0;
}

/* ---- steps: on a worker thread ---- */

static void drop_context(struct exchange *x)
{
    OM_uint32 minor;
    if (x->context != GSS_C_NO_CONTEXT)
        gss_delete_sec_context(&minor, &x->context, GSS_C_NO_BUFFER);
    if (x->target != GSS_C_NO_NAME)
        gss_release_name(&minor, &x->target);
    x->context = GSS_C_NO_CONTEXT;
    x->target = GSS_C_NO_NAME;
}

static int explain_gss(const struct exchange *x, OM_uint32 major, OM_uint32 minor, struct err_info *why)
{
    OM_uint32 ignored, more = 0;
    gss_buffer_desc text = GSS_C_EMPTY_BUFFER;
    bool is_krb5 = minor != 0;
    gss_display_status(&ignored, is_krb5 ? minor : major, is_krb5 ? GSS_C_MECH_CODE : GSS_C_GSS_CODE,
                       is_krb5 ? gss_mech_krb5 : GSS_C_NO_OID, &more, &text);
    mem_auto char *message = mem_strn(text.value ? text.value : "", text.length);
    mem_auto char *about = mem_fmt("%s to %s", zkl_principal(x->login), x->server);
    gss_release_buffer(&ignored, &text);
    return zkl_explain((int32_t)minor, message, about, why);
}

/* The server's name for GSSAPI: a principal as it stands, or a service of a host, whose name krb5 may make canonical. */
static int import_target(struct exchange *x, struct err_info *why)
{
    static const char mark[] = "/_HOST";
    const char *principal = x->server_principal;
    const char *at = principal ? strstr(principal, mark) : NULL;
    free(x->server);
    if (!principal)
        x->server = mem_fmt("%s@%s", x->server_name ? x->server_name : "zookeeper", x->host);
    else if (at)
        x->server = mem_fmt("%.*s/%s%s", (int)(at - principal), principal, x->host, at + sizeof mark - 1);
    else
        x->server = mem_str(principal);
    gss_buffer_desc name = {strlen(x->server), x->server};
    OM_uint32 minor;
    OM_uint32 major = gss_import_name(
        &minor, &name, principal ? GSS_KRB5_NT_PRINCIPAL_NAME : GSS_C_NT_HOSTBASED_SERVICE, &x->target);
    return GSS_ERROR(major) ? explain_gss(x, major, minor, why) : 0;
}

static int begin_exchange(struct exchange *x, struct err_info *why)
{
    drop_context(x);
    x->has_in = false;
    buf_clear(&x->in);
    int err = zkl_refresh(x->login, why);
    if (err == 0)
        err = import_target(x, why);
    return err;
}

static int step_context(struct exchange *x, struct err_info *why)
{
    OM_uint32 ignored, minor = 0;
    gss_buffer_desc in = {x->in.len, x->in.bytes}, out = GSS_C_EMPTY_BUFFER;
    OM_uint32 major = gss_init_sec_context(
        &minor, zkl_credentials(x->login), &x->context, x->target, gss_mech_krb5,
        GSS_C_MUTUAL_FLAG | GSS_C_INTEG_FLAG | GSS_C_SEQUENCE_FLAG, 0, GSS_C_NO_CHANNEL_BINDINGS,
        x->has_in ? &in : GSS_C_NO_BUFFER, NULL, &out, NULL, NULL);
    if (out.length)
        buf_add(&x->out, out.value, out.length);
    gss_release_buffer(&ignored, &out);
    if (GSS_ERROR(major))
        return explain_gss(x, major, minor, why);
    if (major == GSS_S_COMPLETE)
        x->phase = PHASE_LAYERS;
    return 0;
}

static int step_layers(struct exchange *x, struct err_info *why)
{
    OM_uint32 ignored, minor = 0;
    unsigned char choice[ZKSASL_LAYERS_LEN];
    gss_buffer_desc in = {x->in.len, x->in.bytes}, plain = GSS_C_EMPTY_BUFFER, out = GSS_C_EMPTY_BUFFER;
    OM_uint32 major = gss_unwrap(&minor, x->context, &in, &plain, NULL, NULL);
    if (GSS_ERROR(major))
        return explain_gss(x, major, minor, why);
    int err = zksasl_choose(plain.value, plain.length, choice);
    gss_release_buffer(&ignored, &plain);
    if (err)
        return err_set(why, err, x->server,
                       "%s: it asks for a protection layer, which ZooKeeper does not speak", x->server);
    gss_buffer_desc chosen = {sizeof choice, choice};
    major = gss_wrap(&minor, x->context, 0, GSS_C_QOP_DEFAULT, &chosen, NULL, &out);
    if (GSS_ERROR(major))
        return explain_gss(x, major, minor, why);
    buf_add(&x->out, out.value, out.length);
    gss_release_buffer(&ignored, &out);
    x->phase = PHASE_OUTCOME;
    return 0;
}

static int step(struct exchange *x, struct err_info *why)
{
    int err = x->phase == PHASE_NONE ? begin_exchange(x, why) : 0;
    if (err)
        return err;
    if (x->phase == PHASE_LAYERS)
        return step_layers(x, why);
    x->phase = PHASE_CONTEXT;
    return step_context(x, why);
}

static void work(uv_work_t *job)
{
    struct zksasl *s = obj_cast(job->data, struct zksasl, SASL_MAGIC);
    buf_clear(&s->x.out);
    s->err = s->is_renewal ? zkl_refresh(s->x.login, &s->why) : step(&s->x, &s->why);
}

/* ---- owner ---- */

static void set_renewal(struct zksasl *s)
{
    int64_t in_ms = zkl_renew_in_ms(s->x.login);
    if (in_ms >= 0)
        run_timer_start(s->renewal, (uint64_t)in_ms, 0);
}

static void destroy(struct zksasl *s)
{
    drop_context(&s->x);
    zkl_free(s->x.login);
    free(s->x.host);
    free(s->x.server);
    free(s->x.server_name);
    free(s->x.server_principal);
    buf_fini(&s->x.in);
    buf_fini(&s->x.out);
    free(s->host);
    obj_fini(&s->obj);
    free(s);
}

static void begin_step(struct zksasl *s);

static void report(struct zksasl *s)
{
    if (s->err) {
        s->x.phase = PHASE_NONE;
        s->ops->failed(s->arg, &s->why);
    } else {
        s->ops->send(s->arg, s->x.out.bytes, s->x.out.len);
    }
}

static void after_work(uv_work_t *job, int status)
{
    struct zksasl *s = obj_cast(job->data, struct zksasl, SASL_MAGIC);
    BUG_IF(status != 0);
    s->is_working = false;
    if (s->is_orphan) {
        destroy(s);
        return;
    }
    set_renewal(s);
    bool is_wanted = !s->is_stale && !s->is_renewal;
    if (s->is_stale && !s->is_renewal)
        s->x.phase = PHASE_NONE;
    s->is_stale = s->is_renewal = false;
    if (is_wanted)
        report(s);
    else if (s->host)
        begin_step(s);
}

static void start_work(struct zksasl *s)
{
    s->is_working = true;
    BUG_IF(uv_queue_work(run_loop_uv(s->loop), &s->work, work, after_work) != 0);
}

/* The first step of the exchange that is wanted. */
static void begin_step(struct zksasl *s)
{
    free(s->x.host);
    s->x.host = s->host;
    s->host = NULL;
    s->x.phase = PHASE_NONE;
    start_work(s);
}

static void on_renewal(void *arg)
{
    struct zksasl *s = obj_cast(arg, struct zksasl, SASL_MAGIC);
    if (s->is_working || s->x.phase != PHASE_NONE) {
        set_renewal(s);
        return;
    }
    s->is_renewal = true;
    start_work(s);
}

static char *or_null(const char *text)
{
    return text && *text ? mem_str(text) : NULL;
}

struct zksasl *zksasl_new(struct run_loop *loop, const struct store_kerberos *kerberos,
                          const struct zksasl_ops *ops, void *arg)
{
    struct zksasl *s = mem_new(struct zksasl);
    obj_init(&s->obj, SASL_MAGIC);
    s->loop = loop;
    s->ops = ops;
    s->arg = arg;
    s->work.data = s;
    s->x.context = GSS_C_NO_CONTEXT;
    s->x.target = GSS_C_NO_NAME;
    s->x.login = zkl_new(kerberos);
    s->x.server_name = or_null(kerberos->server_name);
    s->x.server_principal = or_null(kerberos->server_principal);
    s->renewal = run_timer_new(loop, on_renewal, s);
    return s;
}

void zksasl_free(struct zksasl *s)
{
    if (!s)
        return;
    run_timer_free(s->renewal);
    s->renewal = NULL;
    s->is_orphan = true;
    if (!s->is_working)
        destroy(s);
}

void zksasl_begin(struct zksasl *s, const char *host)
{
    free(s->host);
    s->host = mem_str(host);
    s->is_stale = s->is_working;
    if (!s->is_working)
        begin_step(s);
}

void zksasl_stop(struct zksasl *s)
{
    free(s->host);
    s->host = NULL;
    s->is_stale = s->is_working;
    if (!s->is_working)
        s->x.phase = PHASE_NONE;
}

static void refuse(struct zksasl *s, const char *text)
{
    struct err_info why = {0};
    err_set(&why, ERR_AUTH, s->x.server, "%s", text);
    s->ops->failed(s->arg, &why);
}

void zksasl_answer(struct zksasl *s, const char *token, size_t len)
{
    BUG_IF(s->is_working);
    if (s->x.phase == PHASE_OUTCOME) {
        s->x.phase = PHASE_NONE;
        s->ops->done(s->arg, zkl_principal(s->x.login), s->x.server);
        return;
    }
    if (!token) {
        refuse(s, "it does not do SASL: it needs a section Server in its JAAS file "
                  "(java.security.auth.login.config), "
                  "and authProvider.1=org.apache.zookeeper.server.auth.SASLAuthenticationProvider");
        return;
    }
    buf_clear(&s->x.in);
    buf_add(&s->x.in, token, len);
    s->x.has_in = true;
    start_work(s);
}
