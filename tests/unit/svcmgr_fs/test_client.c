/* fs/client.h against a scripted NameNode and DataNode: the two steps of a create, the second NameNode, and every end. */
#include "http_fixture.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/obj.h"
#include "fs/client.h"

#define FAULT(name)                                                                                          \
    "{\"RemoteException\":{\"exception\":\"" name "\",\"javaClassName\":\"x\",\"message\":\"because\"}}"

enum { CONTENT_LEN = 1 << 20 };

/** What the servers do, and what they were asked. */
struct script {
    struct fixture fx;
    bool first_is_standby;
    int status;           /* of the NameNode; 0: it does what is asked */
    const char *body;     /* with status, or of what is no create */
    const char *location; /* NULL: the DataNode of the fixture */
    int data_status;      /* of the DataNode; 0: 201 */
    bool data_is_silent;
    struct buf asked; /* methods, paths and parameters, a line each */
    struct buf content;
};

static void on_gone(void *arg)
{
    (void)arg;
}

static void note(struct script *s, struct http_req *req)
{
    static const char *const names[] = {"op", "overwrite", "recursive", "permission"};

    buf_addf(&s->asked, "%s %s %s", http_user(req), http_method(req), http_raw_path(req));
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (http_query(req, names[i]))
            buf_addf(&s->asked, " %s=%s", names[i], http_query(req, names[i]));
    buf_add_char(&s->asked, '\n');
}

static void reply(struct http_req *req, int status, const char *text)
{
    buf_auto struct buf body = BUF_EMPTY;

    buf_add_str(&body, text ? text : "");
    http_reply(req, status, "application/json", &body);
}

static void on_standby(struct http_req *req, void *app)
{
    struct script *s = app;

    note(s, req);
    reply(req, 403, FAULT("StandbyException"));
}

static void on_namenode(struct http_req *req, void *app)
{
    struct script *s = app;

    note(s, req);
    bool is_create = !strcmp(http_query(req, "op"), "CREATE");
    if (is_create && !s->status)
        http_reply_header(req, "Location", s->location ? s->location : fixture_url(&s->fx, "/data/x"));
    reply(req, s->status ? s->status : is_create ? 307 : 200, s->body);
}

static void on_datanode(struct http_req *req, void *app)
{
    struct script *s = app;
    size_t len = 0;
    const char *bytes = http_body(req, &len);

    note(s, req);
    buf_add(&s->content, bytes, len);
    if (s->data_is_silent)
        http_reply_later(req, on_gone, NULL);
    else
        reply(req, s->data_status ? s->data_status : 201,
              s->data_status ? FAULT("AccessControlException") : "");
}

#define NAMENODE(method)                                                                                     \
    {                                                                                                        \
        method, "/webhdfs/v1/*", 0, 0, on_namenode, .summary = ""                                            \
    }
#define STANDBY(method)                                                                                      \
    {                                                                                                        \
        method, "/standby/*", 0, 0, on_standby, .summary = ""                                                \
    }

static const struct http_route routes[] = {
    NAMENODE("GET"),
    NAMENODE("PUT"),
    NAMENODE("DELETE"),
    STANDBY("GET"),
    STANDBY("PUT"),
    STANDBY("DELETE"),
    {"PUT", "/data/*", 0, 2 * CONTENT_LEN, on_datanode, .summary = ""},
};

static int set_up(void **state)
{
    struct script *s = mem_new(struct script);

    fixture_start(&s->fx, routes, ARRAY_LEN(routes), s, NULL);
    *state = s;
    return 0;
}

static int tear_down(void **state)
{
    struct script *s = *state;

    fixture_end(&s->fx);
    buf_fini(&s->asked);
    buf_fini(&s->content);
    free(s);
    return 0;
}

/** What a request has come to. */
struct outcome {
    bool is_done;
    int err;
    struct fs_status status;
    bool has_status;
    struct err_info why;
};

static void on_done(void *arg, int err, const struct fs_status *status, const struct err_info *why)
{
    struct outcome *o = arg;

    o->is_done = true;
    o->err = err;
    o->has_status = status != NULL;
    o->status = status ? *status : (struct fs_status){0};
    o->why = *why;
}

static struct fs_call *start(struct script *s, struct fs_request r, struct outcome *out)
{
    mem_auto char *standby = mem_str(fixture_url(&s->fx, "/standby/a%20b"));
    mem_auto char *active = mem_str(fixture_url(&s->fx, "/webhdfs/v1/a%20b"));
    char *urls[] = {s->first_is_standby ? standby : active, active};
    const struct fs_place place = {FS_HDFS, (char *)"hdfs://ns/a b", urls, s->first_is_standby ? 2 : 1};

    r.place = &place;
    r.user = "alice";
    r.done = on_done;
    r.arg = out;
    *out = (struct outcome){.is_done = false};
    return fs_start(s->fx.client, &r);
}

static void perform(struct script *s, struct fs_request r, struct outcome *out)
{
    start(s, r, out);
    assert_false(out->is_done);
    fixture_await(&s->fx, &out->is_done);
}

/** A file of this many bytes, each of which says where it stands. */
static int content_of(size_t len)
{
    int fd = memfd_create("content", MFD_CLOEXEC);
    mem_auto char *bytes = mem_alloc(len + 1);

    for (size_t i = 0; i < len; i++)
        bytes[i] = (char)('a' + i / 7 % 26);
    assert_int_equal(write(fd, bytes, len), (ssize_t)len);
    return fd;
}

static void a_file_goes_to_the_datanode(void **state)
{
    struct script *s = *state;
    struct outcome o;
    int fd = content_of(CONTENT_LEN);

    perform(
        s,
        (struct fs_request){.op = FS_CREATE, .content = {fd, CONTENT_LEN}, .overwrites = true, .mode = 0644},
        &o);
    assert_int_equal(o.err, 0);
    assert_string_equal(buf_cstr(&s->asked),
                        "alice PUT /webhdfs/v1/a%20b op=CREATE overwrite=true permission=644\n"
                        "carol PUT /data/x\n");
    assert_int_equal(s->content.len, CONTENT_LEN);
    for (size_t i = 0; i < s->content.len; i++)
        assert_int_equal(s->content.bytes[i], 'a' + i / 7 % 26);
    close(fd);
}

static void an_empty_file_can_be_made(void **state)
{
    struct script *s = *state;
    struct outcome o;
    int fd = content_of(0);

    perform(s, (struct fs_request){.op = FS_CREATE, .content = {fd, 0}}, &o);
    assert_int_equal(o.err, 0);
    assert_string_equal(buf_cstr(&s->asked),
                        "alice PUT /webhdfs/v1/a%20b op=CREATE overwrite=false\ncarol PUT /data/x\n");
    close(fd);
}

static void directories_and_deletes(void **state)
{
    struct script *s = *state;
    struct outcome o;

    s->body = "{\"boolean\":true}";
    perform(s, (struct fs_request){.op = FS_MKDIRS, .mode = 0750}, &o);
    assert_int_equal(o.err, 0);
    perform(s, (struct fs_request){.op = FS_DELETE, .is_recursive = true}, &o);
    assert_int_equal(o.err, 0);
    assert_string_equal(buf_cstr(&s->asked), "alice PUT /webhdfs/v1/a%20b op=MKDIRS permission=750\n"
                                             "alice DELETE /webhdfs/v1/a%20b op=DELETE recursive=true\n");
    s->body = "{\"boolean\":false}";
    perform(s, (struct fs_request){.op = FS_DELETE}, &o);
    assert_int_equal(o.err, ERR_NOTFOUND);
    perform(s, (struct fs_request){.op = FS_MKDIRS}, &o);
    assert_int_equal(o.err, ERR_IO);
}

static void a_status_comes_back(void **state)
{
    struct script *s = *state;
    struct outcome o;

    s->body = "{\"FileStatus\":{\"type\":\"FILE\",\"length\":5,\"modificationTime\":6,\"fileId\":7}}";
    perform(s, (struct fs_request){.op = FS_STATUS}, &o);
    assert_int_equal(o.err, 0);
    assert_true(o.has_status);
    assert_int_equal(o.status.len, 5);
    assert_int_equal(o.status.modified_ms, 6);
    s->body = "<html>";
    perform(s, (struct fs_request){.op = FS_STATUS}, &o);
    assert_int_equal(o.err, ERR_IO);
    assert_false(o.has_status);
}

static void a_standby_is_passed_over(void **state)
{
    struct script *s = *state;
    struct outcome o;
    int fd = content_of(100);

    s->first_is_standby = true;
    s->body = "{\"boolean\":true}";
    perform(s, (struct fs_request){.op = FS_MKDIRS}, &o);
    assert_int_equal(o.err, 0);
    perform(s, (struct fs_request){.op = FS_CREATE, .content = {fd, 100}}, &o);
    assert_int_equal(o.err, 0);
    assert_string_equal(buf_cstr(&s->asked), "alice PUT /standby/a%20b op=MKDIRS\n"
                                             "alice PUT /webhdfs/v1/a%20b op=MKDIRS\n"
                                             "alice PUT /standby/a%20b op=CREATE overwrite=false\n"
                                             "alice PUT /webhdfs/v1/a%20b op=CREATE overwrite=false\n"
                                             "carol PUT /data/x\n");
    s->status = 403;
    s->body = FAULT("StandbyException");
    perform(s, (struct fs_request){.op = FS_MKDIRS}, &o);
    assert_int_equal(o.err, ERR_UNAVAILABLE);
    close(fd);
}

static void refusals_have_codes_and_name_the_place(void **state)
{
    struct script *s = *state;
    static const struct {
        enum fs_op op;
        int status;
        const char *body;
        int err;
    } rows[] = {
        {FS_STATUS, 404, FAULT("FileNotFoundException"), ERR_NOTFOUND},
        {FS_CREATE, 403, FAULT("AccessControlException"), ERR_PERMISSION},
        {FS_CREATE, 403, FAULT("FileAlreadyExistsException"), ERR_EXISTS},
        {FS_CREATE, 200, "{}", ERR_IO},
        {FS_DELETE, 403, FAULT("PathIsNotEmptyDirectoryException"), ERR_NOTEMPTY},
        {FS_MKDIRS, 401, "", ERR_AUTH},
        {FS_MKDIRS, 503, "", ERR_UNAVAILABLE},
        {FS_MKDIRS, 307, "", ERR_IO},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct outcome o;
        s->status = rows[i].status;
        s->body = rows[i].body;
        perform(s, (struct fs_request){.op = rows[i].op, .content = {-1, 0}}, &o);
        if (o.err != rows[i].err || strncmp(o.why.text, "hdfs://ns/a b: ", 15) ||
            strcmp(o.why.where, "hdfs://ns/a b"))
            fail_msg("%zu: %s %s", i, err_name(o.err), o.why.text);
    }
}

static void a_redirect_to_elsewhere_is_not_followed(void **state)
{
    struct script *s = *state;
    static const char *const cases[] = {"ftp://127.0.0.1/x", "file:///etc/passwd", "/relative", "httpx://h/"};

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct outcome o;
        s->location = cases[i];
        perform(s, (struct fs_request){.op = FS_CREATE, .content = {-1, 0}}, &o);
        assert_int_equal(o.err, ERR_IO);
        assert_non_null(strstr(o.why.text, "which is not followed"));
    }
    assert_int_equal(s->content.len, 0);
}

static void what_the_datanode_says_is_the_end(void **state)
{
    struct script *s = *state;
    struct outcome o;
    int fd = content_of(100);

    s->data_status = 403;
    perform(s, (struct fs_request){.op = FS_CREATE, .content = {fd, 100}}, &o);
    assert_int_equal(o.err, ERR_PERMISSION);
    s->data_status = 0;
    perform(s, (struct fs_request){.op = FS_CREATE, .content = {fd, 101}}, &o);
    assert_int_equal(o.err, ERR_IO);
    assert_non_null(strstr(o.why.text, "100 of 101 bytes"));
    close(fd);
}

static bool has_asked_datanode(void *arg)
{
    struct script *s = arg;

    return strstr(buf_cstr(&s->asked), "/data/") != NULL;
}

static void a_call_can_be_cancelled_in_each_step(void **state)
{
    struct script *s = *state;
    struct outcome o;
    int fd = content_of(100);

    fs_cancel(start(s, (struct fs_request){.op = FS_CREATE, .content = {fd, 100}}, &o));
    assert_true(o.is_done);
    assert_int_equal(o.err, ERR_CANCELLED);
    s->data_is_silent = true;
    struct fs_call *call = start(s, (struct fs_request){.op = FS_CREATE, .content = {fd, 100}}, &o);
    fixture_await_fn(&s->fx, has_asked_datanode, s);
    fs_cancel(call);
    assert_true(o.is_done);
    assert_int_equal(o.err, ERR_CANCELLED);
    close(fd);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_file_goes_to_the_datanode),
        CASE(an_empty_file_can_be_made),
        CASE(directories_and_deletes),
        CASE(a_status_comes_back),
        CASE(a_standby_is_passed_over),
        CASE(refusals_have_codes_and_name_the_place),
        CASE(a_redirect_to_elsewhere_is_not_followed),
        CASE(what_the_datanode_says_is_the_end),
        CASE(a_call_can_be_cancelled_in_each_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
