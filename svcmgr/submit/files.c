#include "submit/files.h"

#include <errno.h>
#include <fcntl.h>
#include <gnutls/crypto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/obj.h"
#include "base/str.h"

#define CONTENT_MAGIC OBJ_MAGIC('S', 'F', 'C', 'O')
#define SENDING_MAGIC OBJ_MAGIC('S', 'F', 'I', 'L')

enum { SHA256_LEN = 32, TOKEN_LEN = SUBMIT_TOKEN_ROOM - 1 };

struct submit_files {
    char *dir;
    struct map contents; /* struct content by token */
};

struct content {
    struct obj obj;
    struct buf bytes;
};

/** An archive on its way. */
struct sending {
    struct obj obj;
    int fd;
};

static void free_content(void *arg)
{
    struct content *c = obj_cast(arg, struct content, CONTENT_MAGIC);
    if (c->bytes.bytes)
        explicit_bzero(c->bytes.bytes, c->bytes.cap);
    buf_fini(&c->bytes);
    obj_fini(&c->obj);
    free(c);
}

struct submit_files *submit_files_new(const char *dir)
{
    struct submit_files *f = mem_new(struct submit_files);
    f->dir = mem_str(dir);
    f->contents = MAP_EMPTY;
    return f;
}

void submit_files_free(struct submit_files *f)
{
    if (!f)
        return;
    map_fini(&f->contents, free_content);
    free(f->dir);
    free(f);
}

const char *submit_files_token(const void *secret, size_t len, const char *tag, char out[SUBMIT_TOKEN_ROOM])
{
    unsigned char code[SHA256_LEN];
    BUG_IF(gnutls_hmac_fast(GNUTLS_MAC_SHA256, secret, len, tag, strlen(tag), code) != 0);
    for (size_t i = 0; i < SHA256_LEN; i++)
        snprintf(out + 2 * i, 3, "%02x", code[i]);
    return out;
}

void submit_files_put(struct submit_files *f, const char *token, struct buf *take_content)
{
    struct content *c = mem_new(struct content);
    obj_init(&c->obj, CONTENT_MAGIC);
    c->bytes = *take_content;
    *take_content = BUF_EMPTY;
    submit_files_remove(f, token);
    map_set(&f->contents, token, c);
}

void submit_files_remove(struct submit_files *f, const char *token)
{
    struct content *c = map_remove(&f->contents, token);
    if (c)
        free_content(c);
}

int submit_files_secret(const char *dir, uint8_t *secret, size_t len, struct err_info *why)
{
    mem_auto char *path = mem_fmt("%s/files-secret", dir);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

    if (fd >= 0) {
        bool is_whole = read(fd, secret, len) == (ssize_t)len;
        close(fd);
        if (is_whole)
            return 0;
    }
    BUG_IF(getrandom(secret, len, 0) != (ssize_t)len);
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    bool is_written = fd >= 0 && write(fd, secret, len) == (ssize_t)len && !fsync(fd);
    int error = errno;
    if (fd >= 0)
        close(fd);
    return is_written ? 0 : err_set(why, ERR_IO, path, "cannot be written: %s", strerror(error));
}

/* ---- archives ---- */

/* http/client.c does the same with files that it sends: a piece of the page cache a turn. */
static ssize_t read_piece(void *arg, char *buf, size_t max)
{
    struct sending *s = obj_cast(arg, struct sending, SENDING_MAGIC);
    ssize_t n = read(s->fd, buf, max);
    return n > 0 ? n : -1;
}

static void on_closed(void *arg)
{
    struct sending *s = obj_cast(arg, struct sending, SENDING_MAGIC);
    close(s->fd);
    obj_fini(&s->obj);
    free(s);
}

static int open_archive(const struct submit_files *f, const char *hash)
{
    if (strlen(hash) != TOKEN_LEN || strspn(hash, "0123456789abcdef") != TOKEN_LEN)
        return -1;
    mem_auto char *path = mem_fmt("%s/am-%s.tar.gz", f->dir, hash);
    return open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
}

void submit_files_reply(struct submit_files *f, struct http_req *req)
{
    static const char type[] = "application/octet-stream";
    const char *token = http_path_raw(req, "token");
    const struct content *content = map_get(&f->contents, token);
    if (content) {
        struct buf copy = BUF_EMPTY;
        buf_add(&copy, content->bytes.bytes, content->bytes.len);
        http_reply(req, 200, type, &copy);
        return;
    }
    int fd = open_archive(f, token);
    if (fd < 0) {
        http_reply_error(req, ERR_NOTFOUND, NULL);
        return;
    }
    struct sending *s = mem_new(struct sending);
    obj_init(&s->obj, SENDING_MAGIC);
    s->fd = fd;
    const struct http_stream_ops ops = {read_piece, on_closed};
    http_stream_start(req, 200, type, &ops, s);
}
