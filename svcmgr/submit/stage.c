#include "submit/stage.h"

#include <errno.h>
#include <fcntl.h>
#include <gnutls/crypto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/backoff.h"
#include "base/mem.h"
#include "base/obj.h"
#include "fs/upload.h"

#define STAGE_MAGIC OBJ_MAGIC('S', 'S', 'T', 'G')

enum { RETRY_FIRST_MS = 200, RETRY_MAX_MS = 5000, MODE_DIRECTORY = 0700, MODE_FILE = 0600, SHA256_LEN = 32 };

/* program ──> site ──> done */
enum staged_file { STAGE_PROGRAM, STAGE_SITE, N_STAGED };

struct submit_stage {
    struct obj obj;
    struct http_client *http;
    char *user;
    struct fs_place directory, places[N_STAGED];
    struct http_file contents[N_STAGED];
    struct fs_status found[N_STAGED];
    enum staged_file at;
    struct fs_upload *upload; /* under way */
    struct run_timer *timer;  /* begins it, now or again */
    int64_t pause_ms;
    struct err_info why; /* it cannot be begun */
    bool is_cancelled;
    void (*waits)(void *arg, const struct err_info *why);
    void (*done)(void *arg, int err, const struct submit_staged *staged, const struct err_info *why);
    void *arg;
};

static void free_stage(struct submit_stage *s)
{
    for (size_t i = 0; i < N_STAGED; i++) {
        fs_place_fini(&s->places[i]);
        if (s->contents[i].fd >= 0)
            close(s->contents[i].fd);
    }
    fs_place_fini(&s->directory);
    run_timer_free(s->timer);
    free(s->user);
    obj_fini(&s->obj);
    free(s);
}

static void finish(struct submit_stage *s, int err, const struct err_info *why)
{
    const struct submit_staged staged = {.program_url = s->places[STAGE_PROGRAM].path,
                                         .site_url = s->places[STAGE_SITE].path,
                                         .program = s->found[STAGE_PROGRAM],
                                         .site = s->found[STAGE_SITE]};

    s->done(s->arg, err, err ? NULL : &staged, why);
    free_stage(s);
}

/** Another try may succeed without anybody's help, or with that of who looks after HDFS. */
static bool is_transient(int err)
{
    return err == ERR_UNAVAILABLE || err == ERR_TIMEOUT || err == ERR_UNKNOWN_OUTCOME || err == ERR_IO;
}

static void upload(struct submit_stage *s);

static void on_uploaded(void *arg, int err, const struct fs_status *status, const struct err_info *why)
{
    struct submit_stage *s = obj_cast(arg, struct submit_stage, STAGE_MAGIC);

    s->upload = NULL;
    if (s->is_cancelled)
        return;
    if (is_transient(err)) {
        s->pause_ms = backoff_next(s->pause_ms, RETRY_FIRST_MS, RETRY_MAX_MS);
        run_timer_start(s->timer, (uint64_t)s->pause_ms, 0);
        if (s->waits)
            s->waits(s->arg, why);
        return;
    }
    s->pause_ms = 0;
    if (!err)
        s->found[s->at++] = *status;
    if (err || s->at == N_STAGED)
        finish(s, err, why);
    else
        upload(s);
}

static void upload(struct submit_stage *s)
{
    const struct fs_upload_def def = {.directory = &s->directory,
                                      .file = &s->places[s->at],
                                      .user = s->user,
                                      .directory_mode = MODE_DIRECTORY,
                                      .mode = MODE_FILE,
                                      .content = s->contents[s->at]};

    s->upload = fs_upload_start(s->http, &def, on_uploaded, s);
}

static void on_timer(void *arg)
{
    struct submit_stage *s = obj_cast(arg, struct submit_stage, STAGE_MAGIC);

    if (s->why.code)
        finish(s, s->why.code, &s->why);
    else
        upload(s);
}

/* ---- what is uploaded ---- */

static char *site_name(const struct buf *site)
{
    unsigned char code[SHA256_LEN];
    buf_auto struct buf name = BUF_EMPTY;

    BUG_IF(gnutls_hash_fast(GNUTLS_DIG_SHA256, buf_cstr((struct buf *)site), site->len, code) != 0);
    buf_add_str(&name, "yarn-site-");
    for (size_t i = 0; i < SHA256_LEN; i++)
        buf_addf(&name, "%02x", code[i]);
    buf_add_str(&name, ".xml");
    return buf_take(&name);
}

static int read_places(struct submit_stage *s, const struct submit_stage_def *def, struct err_info *why)
{
    mem_auto char *site = site_name(def->site);
    mem_auto char *site_uri = mem_fmt("%s/%s", def->directory, site);
    mem_auto char *program_uri = mem_fmt("%s/am-%s.tar.gz", def->directory, def->package->hash);
    int err = fs_place_read(&def->fs, def->directory, def->user, &s->directory, why);

    err = err ? err : fs_place_read(&def->fs, program_uri, def->user, &s->places[STAGE_PROGRAM], why);
    return err ? err : fs_place_read(&def->fs, site_uri, def->user, &s->places[STAGE_SITE], why);
}

static int open_contents(struct submit_stage *s, const struct submit_stage_def *def, struct err_info *why)
{
    const char *path = def->package->path;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

    if (fd < 0)
        return err_set(why, ERR_IO, path, "%s: %s", path, strerror(errno));
    s->contents[STAGE_PROGRAM] = (struct http_file){fd, def->package->size};
    return fs_upload_content(def->site->bytes, def->site->len, &s->contents[STAGE_SITE], why);
}

struct submit_stage *submit_stage_start(const struct submit_stage_def *def,
                                        void (*waits)(void *arg, const struct err_info *why),
                                        void (*done)(void *arg, int err, const struct submit_staged *staged,
                                                     const struct err_info *why),
                                        void *arg)
{
    struct submit_stage *s = mem_new(struct submit_stage);

    obj_init(&s->obj, STAGE_MAGIC);
    s->http = def->http;
    s->user = mem_str(def->user);
    s->contents[STAGE_PROGRAM].fd = s->contents[STAGE_SITE].fd = -1;
    s->waits = waits;
    s->done = done;
    s->arg = arg;
    int err = read_places(s, def, &s->why);
    s->why.code = err ? err : open_contents(s, def, &s->why);
    s->timer = run_timer_new(def->loop, on_timer, s);
    run_timer_start(s->timer, 0, 0);
    return s;
}

void submit_stage_cancel(struct submit_stage *s)
{
    s->is_cancelled = true;
    if (s->upload)
        fs_upload_cancel(s->upload);
    free_stage(s);
}
