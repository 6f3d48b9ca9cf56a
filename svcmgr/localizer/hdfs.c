/** Files of HDFS by its REST API: see localizer.h. A NameNode gives the status of a file and redirects to a DataNode, which has it. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/obj.h"
#include "fs/webhdfs.h"
#include "localizer/localizer.h"

/** A file of HDFS that is fetched, or looked for. */
struct hdfs_file {
    const struct fetch_from *from;
    int fd;                      /* -1: only a look */
    int64_t max_bytes;           /* of its content */
    struct fetch_version *known; /* NULL: only a look */
    struct source_fault *f;
};

static int fail(const struct hdfs_file *h, enum source_problem problem, int error, const char *detail)
{
    source_fault_detail(h->f, detail);
    return localizer_fault(h->f, problem, error);
}

static int fail_by_answer(const struct hdfs_file *h, int status, const struct buf *page)
{
    struct err_info why = {0};

    switch (webhdfs_read_fault(status, page->bytes, page->len, &why)) {
    case ERR_NOTFOUND: return fail(h, SOURCE_ABSENT, status, why.text);
    case ERR_PERMISSION: return fail(h, SOURCE_NO_RIGHT, status, why.text);
    case ERR_UNAVAILABLE: return fail(h, SOURCE_NO_SERVER, status, why.text);
    default: return fail(h, SOURCE_STATUS, status, why.text);
    }
}

/** One request for it. @return 0: it was answered with 200; or -1 */
static int ask(const struct hdfs_file *h, const char *url, const char *query, int fd, struct buf *page)
{
    mem_auto char *whole = webhdfs_url(url, query, h->from->user);
    struct fetch_request r = {
        .url = whole, .is_quick = h->fd < 0, .fd = fd, .max_bytes = h->max_bytes, .page = page};
    int failed = localizer_request(&r, h->f);

    return failed || r.status == 200 ? failed : fail_by_answer(h, r.status, page);
}

static int ask_status(const struct hdfs_file *h, const char *url, struct fs_status *out)
{
    buf_auto struct buf page = BUF_EMPTY;
    struct err_info why = {0};

    if (ask(h, url, "op=GETFILESTATUS", -1, &page))
        return -1;
    if (webhdfs_read_status(page.bytes, page.len, out, &why))
        return fail(h, SOURCE_STATUS, 200, why.text);
    if (out->is_dir)
        return fail(h, SOURCE_NOT_REGULAR, 0, "");
    return out->len > h->max_bytes ? fail(h, SOURCE_TOO_LARGE, 0, "") : 0;
}

/** What an earlier try has written is not part of it. */
static int ask_content(const struct hdfs_file *h, const char *url)
{
    buf_auto struct buf page = BUF_EMPTY;

    if (ftruncate(h->fd, 0) || lseek(h->fd, 0, SEEK_SET))
        return localizer_fault(h->f, SOURCE_UNWRITTEN, errno);
    return ask(h, url, "op=OPEN", h->fd, &page);
}

static enum fetch_result fetch_at(const struct hdfs_file *h, const char *url)
{
    struct fetch_version version = {.etag = ""};
    struct fs_status status;

    if (ask_status(h, url, &status))
        return FETCH_FAILED;
    if (!h->known)
        return FETCH_SAME;
    snprintf(version.etag, sizeof version.etag, "%" PRId64 "-%" PRId64 "-%" PRId64, status.id,
             status.modified_ms, status.len);
    if (!strcmp(version.etag, h->known->etag))
        return FETCH_SAME;
    if (ask_content(h, url))
        return FETCH_FAILED;
    *h->known = version;
    return FETCH_DONE;
}

enum fetch_result localizer_fetch_hdfs(const struct fetch_from *from, int fd, int64_t max_bytes,
                                       struct fetch_version *known, struct source_fault *f)
{
    static size_t first; /* NameNode that has answered last: of two, the other one is away or a standby */
    const struct hdfs_file h = {from, fd, max_bytes, known, f};
    size_t n = from->source->n_urls, begin = first;
    enum fetch_result result = FETCH_FAILED;

    for (size_t i = 0; i < n; i++) {
        first = (begin + i) % n;
        result = fetch_at(&h, from->source->urls[first]);
        if (result != FETCH_FAILED || f->problem != SOURCE_NO_SERVER)
            break;
    }
    return result;
}
