#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/obj.h"
#include "base/str.h"
#include "localizer/localizer.h"
#include "shim/wire.h"

#define FETCHING_MAGIC     OBJ_MAGIC('L', 'F', 'E', 'T')
#define REDIRECTS_MAX      5
#define CONNECT_TIMEOUT_MS 10000L
#define STANDSTILL_S       30L
#define HEAD_TIMEOUT_MS    5000L

/** One request under way. */
struct fetching {
    struct obj obj;
    CURL *easy;
    int fd;
    int64_t left;
    int error; /* of writing */
    bool is_large;
    char text[CURL_ERROR_SIZE];
};

static size_t on_bytes(char *bytes, size_t size, size_t n, void *arg)
{
    struct fetching *g = obj_cast(arg, struct fetching, FETCHING_MAGIC);
    long status = 0;

    n *= size;
    curl_easy_getinfo(g->easy, CURLINFO_RESPONSE_CODE, &status);
    if (status != 200)
        return n; /* the page of an error */
    g->is_large = (int64_t)n > g->left;
    if (g->is_large)
        return 0;
    g->left -= (int64_t)n;
    if (!shim_write_all(g->fd, bytes, n))
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
    mem_auto char *etag = *known->etag ? mem_fmt("If-None-Match: %s", known->etag) : NULL;
    mem_auto char *since =
        *known->last_modified ? mem_fmt("If-Modified-Since: %s", known->last_modified) : NULL;
    struct curl_slist *list = etag ? curl_slist_append(NULL, etag) : NULL;

    return since ? curl_slist_append(list, since) : list;
}

static void set_options(struct fetching *g, const char *url, struct curl_slist *headers)
{
    bool is_head = g->fd < 0;
    const char *schemes = !strncasecmp(url, "https:", 6) ? "https" : "http,https";

    curl_easy_setopt(g->easy, CURLOPT_URL, url);
    curl_easy_setopt(g->easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(g->easy, CURLOPT_REDIR_PROTOCOLS_STR, schemes);
    curl_easy_setopt(g->easy, CURLOPT_FOLLOWLOCATION, 1L);
    curl_easy_setopt(g->easy, CURLOPT_MAXREDIRS, (long)REDIRECTS_MAX);
    curl_easy_setopt(g->easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(g->easy, CURLOPT_CONNECTTIMEOUT_MS, is_head ? HEAD_TIMEOUT_MS : CONNECT_TIMEOUT_MS);
    curl_easy_setopt(g->easy, CURLOPT_LOW_SPEED_LIMIT, 1L);
    curl_easy_setopt(g->easy, CURLOPT_LOW_SPEED_TIME, STANDSTILL_S);
    curl_easy_setopt(g->easy, CURLOPT_TIMEOUT_MS, is_head ? HEAD_TIMEOUT_MS : 0L);
    curl_easy_setopt(g->easy, CURLOPT_NOBODY, is_head ? 1L : 0L);
    curl_easy_setopt(g->easy, CURLOPT_USERAGENT, "bobbin/" BOBBIN_VERSION);
    curl_easy_setopt(g->easy, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(g->easy, CURLOPT_ERRORBUFFER, g->text);
    curl_easy_setopt(g->easy, CURLOPT_WRITEFUNCTION, on_bytes);
    curl_easy_setopt(g->easy, CURLOPT_WRITEDATA, g);
}

static enum fetch_result fail(struct source_fault *f, enum source_problem problem, int error)
{
    localizer_fault(f, problem, error);
    return FETCH_FAILED;
}

static enum fetch_result judge(struct fetching *g, CURLcode code, struct fetch_version *known,
                               struct source_fault *f)
{
    long status = 0;

    curl_easy_getinfo(g->easy, CURLINFO_RESPONSE_CODE, &status);
    if (g->is_large)
        return fail(f, SOURCE_TOO_LARGE, 0);
    if (g->error)
        return fail(f, SOURCE_UNWRITTEN, g->error);
    if (code != CURLE_OK) {
        source_fault_detail(f, *g->text ? g->text : curl_easy_strerror(code));
        return fail(f, SOURCE_NO_SERVER, 0);
    }
    if (status == 304)
        return FETCH_SAME;
    if (status == 404 || status == 410)
        return fail(f, SOURCE_ABSENT, (int)status);
    if (status != 200)
        return fail(f, SOURCE_STATUS, (int)status);
    keep_header(g->easy, "ETag", known->etag, sizeof known->etag);
    keep_header(g->easy, "Last-Modified", known->last_modified, sizeof known->last_modified);
    return FETCH_DONE;
}

enum fetch_result localizer_fetch(const char *url, int fd, int64_t max_bytes, struct fetch_version *known,
                                  struct source_fault *f)
{
    struct fetching g = {.easy = curl_easy_init(), .fd = fd, .left = max_bytes};
    struct curl_slist *headers = conditions(known);

    if (!g.easy) {
        source_fault_detail(f, "libcurl has no memory");
        return fail(f, SOURCE_NO_SERVER, ENOMEM);
    }
    obj_init(&g.obj, FETCHING_MAGIC);
    set_options(&g, url, headers);
    CURLcode code = curl_easy_perform(g.easy);
    enum fetch_result result = judge(&g, code, known, f);
    curl_easy_cleanup(g.easy);
    curl_slist_free_all(headers);
    obj_fini(&g.obj);
    return result;
}
