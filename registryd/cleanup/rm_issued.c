#include "cleanup/rm_issued.h"
#include "registryd/events.h"
#include "base/mem.h"
#include "base/obj.h"
#include "base/str.h"
#include "run/file.h"

#include <stdlib.h>
#include <string.h>

#define ISSUED_MAGIC OBJ_MAGIC('R', 'M', 'I', 'S')
#define WRITE_MAGIC  OBJ_MAGIC('R', 'M', 'I', 'W')
/** What the file begins with; the number is the form's. */
#define FILE_HEAD "bobbin rm-issued 1\n"

struct write;

struct rm_issued {
    struct obj obj;
    struct run_loop *loop;
    char *dir, *path;
    char *rms;      /* line of the file that says whose set it is */
    int64_t *items; /* ascending */
    size_t n_items, cap;
    struct write *write; /* under way: what frees the set when it has been freed before; or NULL */
    bool is_dirty, has_failed, is_freed;
};

/* The file on its way to the disk. */
struct write {
    struct obj obj;
    uv_work_t work;
    struct rm_issued *set;
    char *dir, *path;
    struct buf text;
    int err;
    struct err_info why;
};

/* ---- the set ---- */

/* Place of a number: its own, or where it belongs. */
static size_t place_of(const struct rm_issued *set, int64_t timestamp)
{
    size_t low = 0, high = set->n_items;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (set->items[middle] < timestamp)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool rm_issued_has(const struct rm_issued *set, int64_t timestamp)
{
    size_t at = place_of(set, timestamp);
    return at < set->n_items && set->items[at] == timestamp;
}

bool rm_issued_add(struct rm_issued *set, int64_t timestamp)
{
    size_t at = place_of(set, timestamp);
    if (timestamp < 0 || (at < set->n_items && set->items[at] == timestamp))
        return false;
    if (set->n_items == RM_ISSUED_MAX) {
        if (at == 0)
            return false; /* older than all of so many */
        memmove(set->items, set->items + 1, --set->n_items * sizeof *set->items);
        at--;
    }
    if (set->n_items == set->cap) {
        set->cap = set->cap ? 2 * set->cap : 16;
        set->items = mem_resize(set->items, set->cap, sizeof *set->items);
    }
    memmove(set->items + at + 1, set->items + at, (set->n_items - at) * sizeof *set->items);
    set->items[at] = timestamp;
    set->n_items++;
    set->is_dirty = true;
    return true;
}

size_t rm_issued_n(const struct rm_issued *set)
{
    return set->n_items;
}

/* ---- the file ---- */

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* "rm URL URL…", the same for any order of the URLs. */
static char *line_of(const char *const *urls)
{
    struct buf line = BUF_EMPTY;
    size_t n = 0;
    while (urls[n])
        n++;
    mem_auto const char **sorted = mem_array(n + 1, sizeof *sorted);
    memcpy(sorted, urls, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, by_text);
    buf_add_str(&line, "rm");
    for (size_t i = 0; i < n; i++)
        buf_addf(&line, " %s", sorted[i]);
    buf_add_char(&line, '\n');
    return buf_take(&line);
}

static void on_failed(struct rm_issued *set, const struct err_info *why)
{
    if (!set->has_failed)
        log_emit(&ev_rm_issued_failed, LOG_ERR(why));
    set->has_failed = true;
}

/* Take the numbers of a text, one a line. @return 0; ERR_PARSE: the set is empty. */
static int take_numbers(struct rm_issued *set, const char *text, struct err_info *why)
{
    while (*text) {
        int64_t number;
        size_t len = strcspn(text, "\n");
        mem_auto char *line = mem_strn(text, len);
        if (str_to_i64(line, 0, INT64_MAX, &number)) {
            set->n_items = 0;
            return err_set(why, ERR_PARSE, set->path, "\"%s\" is no cluster timestamp", line);
        }
        rm_issued_add(set, number);
        text += text[len] ? len + 1 : len;
    }
    return 0;
}

static void read_file(struct rm_issued *set)
{
    buf_auto struct buf text = BUF_EMPTY;
    struct err_info why = {0};
    int err = file_read(set->path, &text, &why);
    if (err == ERR_NOTFOUND)
        return;
    const char *rest = buf_cstr(&text);
    if (!err && !str_starts(rest, FILE_HEAD))
        err = err_set(&why, ERR_PARSE, set->path, "the file does not begin as it should");
    rest += err ? 0 : strlen(FILE_HEAD);
    if (!err && str_starts(rest, set->rms)) /* else it is of other RMs */
        err = take_numbers(set, rest + strlen(set->rms), &why);
    set->is_dirty = false;
    if (err)
        on_failed(set, &why);
}

struct rm_issued *rm_issued_open(struct run_loop *loop, const char *dir, const char *const *urls)
{
    struct rm_issued *set = mem_new(struct rm_issued);
    obj_init(&set->obj, ISSUED_MAGIC);
    set->loop = loop;
    set->dir = mem_fmt("%s/registryd", dir);
    set->path = mem_fmt("%s/rm-issued", set->dir);
    set->rms = line_of(urls);
    read_file(set);
    return set;
}

static void run_write(uv_work_t *work)
{
    struct write *w = obj_cast(work->data, struct write, WRITE_MAGIC);
    w->err = file_make_dir(w->dir, 0755, &w->why);
    w->err = w->err ? w->err : file_write(w->path, w->text.bytes, w->text.len, &w->why);
}

static void set_free(struct rm_issued *set)
{
    free(set->items);
    free(set->rms);
    free(set->path);
    free(set->dir);
    obj_fini(&set->obj);
    free(set);
}

static void on_written(uv_work_t *work, int status)
{
    struct write *w = obj_cast(work->data, struct write, WRITE_MAGIC);
    struct rm_issued *set = w->set;
    BUG_IF(status != 0);
    set->write = NULL;
    if (w->err)
        on_failed(set, &w->why);
    set->has_failed = w->err != 0;
    if (set->is_freed)
        rm_issued_free(set); /* what was added meanwhile is written now */
    else
        set->is_dirty = set->is_dirty || w->err;
    buf_fini(&w->text);
    free(w->dir);
    free(w->path);
    obj_fini(&w->obj);
    free(w);
}

void rm_issued_save(struct rm_issued *set)
{
    if (!set->is_dirty || set->write)
        return;
    struct write *w = mem_new(struct write);
    obj_init(&w->obj, WRITE_MAGIC);
    w->work.data = w;
    w->set = set;
    w->dir = mem_str(set->dir);
    w->path = mem_str(set->path);
    buf_add_str(&w->text, FILE_HEAD);
    buf_add_str(&w->text, set->rms);
    for (size_t i = 0; i < set->n_items; i++)
        buf_addf(&w->text, "%lld\n", (long long)set->items[i]);
    set->write = w;
    set->is_dirty = false;
    BUG_IF(uv_queue_work(run_loop_uv(set->loop), &w->work, run_write, on_written) != 0);
}

void rm_issued_free(struct rm_issued *set)
{
    if (!set)
        return;
    rm_issued_save(set);
    set->is_freed = true;
    if (!set->write)
        set_free(set);
}
