#include "shim/sources_wire.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

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

static const char *const form_words[] = {[SOURCE_FILE] = "file",
                                         [SOURCE_ARCHIVE] = "archive",
                                         [SOURCE_XML] = "xml",
                                         [SOURCE_PROPERTIES] = "properties",
                                         [SOURCE_TREE] = "tree"};

bool source_is_url(const char *path)
{
    static const char *const schemes[] = {"http://", "https://", "hdfs://", "webhdfs://", "swebhdfs://"};

    for (size_t i = 0; i < ARRAY_LEN(schemes); i++)
        if (!strncasecmp(path, schemes[i], strlen(schemes[i])))
            return true;
    return false;
}

void sources_ask_file(struct sources_ask *a, enum source_form form, const char *path, int64_t max_bytes)
{
    a->sources = mem_resize(a->sources, a->n_sources + 1, sizeof *a->sources);
    a->sources[a->n_sources++] = (struct source){mem_str(path), max_bytes, form, NULL, 0};
}

void sources_ask_url(struct sources_ask *a, const char *url)
{
    struct source *s = &a->sources[a->n_sources - 1];

    s->urls = mem_resize(s->urls, s->n_urls + 1, sizeof *s->urls);
    s->urls[s->n_urls++] = mem_str(url);
}

static void free_source(struct source *s)
{
    for (size_t i = 0; i < s->n_urls; i++)
        free(s->urls[i]);
    free(s->urls);
    free(s->path);
}

void sources_ask_fini(struct sources_ask *a)
{
    for (size_t i = 0; i < a->n_dirs; i++)
        free(a->dirs[i]);
    for (size_t i = 0; i < a->n_sources; i++)
        free_source(&a->sources[i]);
    free(a->owner);
    free(a->dirs);
    free(a->sources);
    *a = (struct sources_ask){0};
}

void sources_ask_write(const struct sources_ask *a, struct buf *out)
{
    record_user(out, &a->user);
    record_int(out, "check", a->is_check);
    record_int(out, "max_bytes", a->max_bytes);
    record_int(out, "unpack_bytes", a->unpack.max_bytes);
    record_int(out, "unpack_entries", a->unpack.max_entries);
    record_int(out, "unpack_ratio", a->unpack.max_ratio);
    record_int(out, "cache", a->has_cache);
    record_int(out, "fresh_s", a->fresh_s);
    if (a->owner)
        record_text(out, "owner", a->owner);
    for (size_t i = 0; i < a->n_dirs; i++)
        record_text(out, "dir", a->dirs[i]);
    for (size_t i = 0; i < a->n_sources; i++) {
        mem_auto char *value = mem_fmt("%" PRId64 ":%s", a->sources[i].max_bytes, a->sources[i].path);
        record_text(out, form_words[a->sources[i].form], value);
        for (size_t k = 0; k < a->sources[i].n_urls; k++)
            record_text(out, "url", a->sources[i].urls[k]);
    }
}

static int take_source(struct sources_ask *a, const char *value, enum source_form form)
{
    const char *colon = strchr(value, ':');
    mem_auto char *limit = colon ? mem_strn(value, (size_t)(colon - value)) : NULL;
    int64_t max_bytes;

    if (!limit || (colon[1] != '/' && !source_is_url(colon + 1)) ||
        str_to_i64(limit, 0, INT64_MAX, &max_bytes))
        return ERR_PARSE;
    sources_ask_file(a, form, colon + 1, max_bytes);
    return 0;
}

static int take_switch(const char *value, bool *out)
{
    int64_t n = 0;
    int err = str_to_i64(value, 0, 1, &n);

    *out = n != 0;
    return err;
}

/** What is no number and no source. */
static int take_text(struct sources_ask *a, const char *key, const char *value)
{
    if (!strcmp(key, "owner") && !a->owner)
        a->owner = mem_str(value);
    else if (!strcmp(key, "url") && a->n_sources)
        sources_ask_url(a, value);
    else if (!strcmp(key, "dir") && *value == '/')
        sources_ask_dir(a, value);
    else
        return ERR_PARSE;
    return 0;
}

static int take_record(void *into, const char *key, const char *value)
{
    struct sources_ask *a = into;
    struct {
        const char *key;
        int64_t *number;
    } const numbers[] = {{"max_bytes", &a->max_bytes},
                         {"unpack_bytes", &a->unpack.max_bytes},
                         {"unpack_entries", &a->unpack.max_entries},
                         {"unpack_ratio", &a->unpack.max_ratio},
                         {"fresh_s", &a->fresh_s}};

    if (record_is_user(key))
        return record_take_user(&a->user, key, value);
    for (size_t i = 0; i < N_SOURCE_FORMS; i++)
        if (!strcmp(key, form_words[i]))
            return take_source(a, value, (enum source_form)i);
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
        if (!strcmp(key, numbers[i].key))
            return str_to_i64(value, 0, INT64_MAX, numbers[i].number);
    if (!strcmp(key, "check"))
        return take_switch(value, &a->is_check);
    if (!strcmp(key, "cache"))
        return take_switch(value, &a->has_cache);
    return take_text(a, key, value);
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

void source_fault_detail(struct source_fault *f, const char *text)
{
    size_t n = 0;
    bool is_utf8 = utf8_valid(text, strlen(text));

    for (; *text && n + 1 < sizeof f->detail; text++) {
        unsigned char c = (unsigned char)*text;
        f->detail[n++] = c < ' ' || c == 0x7f || (c > 0x7f && !is_utf8) ? '?' : *text;
    }
    while (*text && n > 0 && !utf8_valid(f->detail, n))
        n--; /* It was cut within a character. */
    f->detail[n] = '\0';
}

void source_fault_write(const struct source_fault *f, struct buf *out)
{
    buf_addf(out, "%zu %s %d%s%s\n", f->source, problem_words[f->problem], f->error, *f->detail ? " " : "",
             f->detail);
}

int source_fault_read(const char *line, struct source_fault *out)
{
    struct source_fault f = {.source = 0};
    char word[16];
    size_t k = 0;
    int at = 0;

    if (sscanf(line, "%zu %15s %d%n", &f.source, word, &f.error, &at) != 3)
        return ERR_PARSE;
    while (k < N_SOURCE_PROBLEMS && strcmp(problem_words[k], word))
        k++;
    if (k == N_SOURCE_PROBLEMS)
        return ERR_PARSE;
    f.problem = (enum source_problem)k;
    if (line[at] == ' ') {
        mem_auto char *detail = mem_strn(line + at + 1, strcspn(line + at + 1, "\n"));
        source_fault_detail(&f, detail);
    }
    *out = f;
    return 0;
}
