#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/obj.h"
#include "base/str.h"
#include "fs/webhdfs.h"
#include "localizer/localizer.h"
#include "shim/wire.h"

#define FETCHING_MAGIC     OBJ_MAGIC('L', 'F', 'E', 'T')
#define REDIRECTS_MAX      5
#define CONNECT_TIMEOUT_MS 10000L
#define STANDSTILL_S       30L
#define QUICK_TIMEOUT_MS   5000L

/** One request under way. */
struct fetching {
    struct obj obj;
    CURL *easy;
    struct fetch_request *request;
    int64_t n_written, n_page;
    int error; /* of writing */
    bool is_large, is_cut;
    char text[CURL_ERROR_SIZE];
};

/** Another body than that of a file. It is short; what is not ends here. */
static size_t keep_page(struct fetching *g, const char *bytes, size_t n)
{
    g->n_page += (int64_t)n;
    g->is_cut = g->n_page > WEBHDFS_ANSWER_MAX;
    if (!g->is_cut && g->request->page)
        buf_add(g->request->page, bytes, n);
    return g->is_cut ? 0 : n;
}

static size_t on_bytes(char *bytes, size_t size, size_t n, void *arg)
{
    struct fetching *g = obj_cast(arg, struct fetching, FETCHING_MAGIC);
    long status = 0;

    n *= size;
    curl_easy_getinfo(g->easy, CURLINFO_RESPONSE_CODE, &status);
    if (status != 200 || g->request->fd < 0)
        return keep_page(g, bytes, n);
    g->is_large = (int64_t)n > g->request->max_bytes - g->n_written;
    if (g->is_large)
        return 0;
    g->n_written += (int64_t)n;
    if (!shim_write_all(g->request->fd, bytes, n))
        return n;
    g->error = errno;
    return 0;
}

static void keep_header(CURL *easy, const char *name, char *out, size_t room)
{
    struct curl_header *h = NULL;

    *out = '\0';
    if (curl_easy_header(easy, name, 0, CURLH_HEADER, -1, &h) == CURLHE_OK && strlen(h->value) < room)
        memcpy(out, h->value, strlen(h->value) + 1);
}

static struct curl_slist *conditions(const struct fetch_version *known)
{
    mem_auto char *etag = known && *known->etag ? mem_fmt("If-None-Match: %s", known->etag) : NULL;
    mem_auto char *since =
        known && *known->last_modified ? mem_fmt("If-Modified-Since: %s", known->last_modified) : NULL;
    struct curl_slist *list = etag ? curl_slist_append(NULL, etag) : NULL;

    return since ? curl_slist_append(list, since) : list;
}

static void set_options(struct fetching *g, struct curl_slist *headers)
{
    const struct fetch_request *r = g->request;
    const char *schemes = !strncasecmp(r->url, "https:", 6) ? "https" : "http,https";

    curl_easy_setopt(g->easy, CURLOPT_URL, r->url);
    curl_easy_setopt(g->easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(g->easy, CURLOPT_REDIR_PROTOCOLS_STR, schemes);
    curl_easy_setopt(g->easy, CURLOPT_FOLLOWLOCATION, 1L);
    curl_easy_setopt(g->easy, CURLOPT_MAXREDIRS, (long)REDIRECTS_MAX);
    curl_easy_setopt(g->easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(g->easy, CURLOPT_CONNECTTIMEOUT_MS, r->is_quick ? QUICK_TIMEOUT_MS : CONNECT_TIMEOUT_MS);
    curl_easy_setopt(g->easy, CURLOPT_LOW_SPEED_LIMIT, 1L);
    curl_easy_setopt(g->easy, CURLOPT_LOW_SPEED_TIME, STANDSTILL_S);
    curl_easy_setopt(g->easy, CURLOPT_TIMEOUT_MS, r->is_quick ? QUICK_TIMEOUT_MS : 0L);
    curl_easy_setopt(g->easy, CURLOPT_NOBODY, r->is_head ? 1L : 0L);
    curl_easy_setopt(g->easy, CURLOPT_USERAGENT, "bobbin/" BOBBIN_VERSION);
    curl_easy_setopt(g->easy, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(g->easy, CURLOPT_ERRORBUFFER, g->text);
    curl_easy_setopt(g->easy, CURLOPT_WRITEFUNCTION, on_bytes);
    curl_easy_setopt(g->easy, CURLOPT_WRITEDATA, g);
}

static int judge(struct fetching *g, CURLcode code, struct source_fault *f)
{
    long status = 0;

    if (g->is_large)
        return localizer_fault(f, SOURCE_TOO_LARGE, 0);
    if (g->error)
        return localizer_fault(f, SOURCE_UNWRITTEN, g->error);
    if (code != CURLE_OK && !g->is_cut) {
        source_fault_detail(f, *g->text ? g->text : curl_easy_strerror(code));
        return localizer_fault(f, SOURCE_NO_SERVER, 0);
    }
    curl_easy_getinfo(g->easy, CURLINFO_RESPONSE_CODE, &status);
    g->request->status = (int)status;
    keep_header(g->easy, "ETag", g->request->version.etag, sizeof g->request->version.etag);
    keep_header(g->easy, "Last-Modified", g->request->version.last_modified,
                sizeof g->request->version.last_modified);
    return 0;
}

int localizer_request(struct fetch_request *r, struct source_fault *f)
{
    struct fetching g = {.easy = curl_easy_init(), .request = r};
    struct curl_slist *headers = conditions(r->known);

    if (!g.easy) {
        source_fault_detail(f, "libcurl has no memory");
        return localizer_fault(f, SOURCE_NO_SERVER, ENOMEM);
    }
    obj_init(&g.obj, FETCHING_MAGIC);
    set_options(&g, headers);
    CURLcode code = curl_easy_perform(g.easy);
    int failed = judge(&g, code, f);
    curl_easy_cleanup(g.easy);
    curl_slist_free_all(headers);
    obj_fini(&g.obj);
    return failed;
}

static enum fetch_result fetch_url(const char *url, int fd, int64_t max_bytes, struct fetch_version *known,
                                   struct source_fault *f)
{
    struct fetch_request r = {.url = url, .known = known, .fd = fd, .max_bytes = max_bytes};

    if (localizer_request(&r, f))
        return FETCH_FAILED;
    if (r.status == 304)
        return FETCH_SAME;
    if (r.status != 200) {
        localizer_fault(f, r.status == 404 || r.status == 410 ? SOURCE_ABSENT : SOURCE_STATUS, r.status);
        return FETCH_FAILED;
    }
    *known = r.version;
    return FETCH_DONE;
}

enum fetch_result localizer_fetch(const struct fetch_from *from, int fd, int64_t max_bytes,
                                  struct fetch_version *known, struct source_fault *f)
{
    if (from->source->n_urls)
        return localizer_fetch_hdfs(from, fd, max_bytes, known, f);
    return fetch_url(from->source->path, fd, max_bytes, known, f);
}

/** What will not be otherwise when it is wanted. */
static bool is_evidence(enum source_problem problem)
{
    return problem == SOURCE_ABSENT || problem == SOURCE_NO_RIGHT || problem == SOURCE_NOT_REGULAR ||
           problem == SOURCE_TOO_LARGE;
}

int localizer_look(const struct fetch_from *from, int64_t max_bytes, struct source_fault *f)
{
    struct fetch_request r = {.url = from->source->path, .is_head = true, .is_quick = true, .fd = -1};

    if (from->source->n_urls)
        return localizer_fetch_hdfs(from, -1, max_bytes, NULL, f) == FETCH_FAILED && is_evidence(f->problem)
                   ? -1
                   : 0;
    if (localizer_request(&r, f) || (r.status != 404 && r.status != 410))
        return 0;
    return localizer_fault(f, SOURCE_ABSENT, r.status);
}
