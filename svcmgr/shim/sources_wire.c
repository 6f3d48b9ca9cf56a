#include "shim/sources_wire.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/obj.h"
#include "base/str.h"

static const char *const problem_words[] = {
#define SOURCE_WORD(id, word) [id] = word,
    SOURCE_PROBLEMS(SOURCE_WORD)
#undef SOURCE_WORD
};

void sources_ask_dir(struct sources_ask *a, const char *dir)
{
    a->dirs = mem_resize(a->dirs, a->n_dirs + 1, sizeof *a->dirs);
    a->dirs[a->n_dirs++] = mem_str(dir);
}

void sources_ask_file(struct sources_ask *a, const char *path, int64_t max_bytes)
{
    a->sources = mem_resize(a->sources, a->n_sources + 1, sizeof *a->sources);
    a->sources[a->n_sources++] = (struct source){mem_str(path), max_bytes};
}

void sources_ask_fini(struct sources_ask *a)
{
    for (size_t i = 0; i < a->n_dirs; i++)
        free(a->dirs[i]);
    for (size_t i = 0; i < a->n_sources; i++)
        free(a->sources[i].path);
    free(a->dirs);
    free(a->sources);
    *a = (struct sources_ask){0};
}

void sources_ask_write(const struct sources_ask *a, struct buf *out)
{
    record_user(out, &a->user);
    record_int(out, "check", a->is_check);
    record_int(out, "max_bytes", a->max_bytes);
    for (size_t i = 0; i < a->n_dirs; i++)
        record_text(out, "dir", a->dirs[i]);
    for (size_t i = 0; i < a->n_sources; i++) {
        mem_auto char *value = mem_fmt("%" PRId64 ":%s", a->sources[i].max_bytes, a->sources[i].path);
        record_text(out, "file", value);
    }
}

static int take_file(struct sources_ask *a, const char *value)
{
    const char *colon = strchr(value, ':');
    mem_auto char *limit = colon ? mem_strn(value, (size_t)(colon - value)) : NULL;
    int64_t max_bytes;

    if (!limit || colon[1] != '/' || str_to_i64(limit, 0, INT64_MAX, &max_bytes))
        return ERR_PARSE;
    sources_ask_file(a, colon + 1, max_bytes);
    return 0;
}

static int take_record(void *into, const char *key, const char *value)
{
    struct sources_ask *a = into;
    int64_t n = 0;
    int err = 0;

    if (record_is_user(key))
        return record_take_user(&a->user, key, value);
    if (!strcmp(key, "file"))
        return take_file(a, value);
    if (!strcmp(key, "max_bytes"))
        return str_to_i64(value, 0, INT64_MAX, &a->max_bytes);
    if (!strcmp(key, "check")) {
        err = str_to_i64(value, 0, 1, &n);
        a->is_check = n != 0;
        return err;
    }
    if (strcmp(key, "dir") || *value != '/')
        return ERR_PARSE;
    sources_ask_dir(a, value);
    return 0;
}

int sources_ask_read(const char *bytes, size_t len, struct sources_ask *out, struct err_info *why)
{
    struct sources_ask a = {0};

    if (records_each(bytes, len, take_record, &a, why)) {
        sources_ask_fini(&a);
        return ERR_PARSE;
    }
    *out = a;
    return 0;
}

void source_fault_write(const struct source_fault *f, struct buf *out)
{
    buf_addf(out, "%zu %s %d\n", f->source, problem_words[f->problem], f->error);
}

int source_fault_read(const char *line, struct source_fault *out)
{
    struct source_fault f;
    char word[16];
    size_t k = 0;

    if (sscanf(line, "%zu %15s %d", &f.source, word, &f.error) != 3)
        return ERR_PARSE;
    while (k < N_SOURCE_PROBLEMS && strcmp(problem_words[k], word))
        k++;
    if (k == N_SOURCE_PROBLEMS)
        return ERR_PARSE;
    f.problem = (enum source_problem)k;
    *out = f;
    return 0;
}
