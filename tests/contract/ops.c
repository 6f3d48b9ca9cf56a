/**
 * The operations of libbobbin, driven line by line by operations.py: words with tabs between them; an answer is
 * `ok TEXT` or `error EXCEPTION TEXT`, with tabs too.
 *
 *     registry-ops URL [USER [ID:PASSWORD]]
 */
#include <bobbin/record.h>
#include <bobbin/registry.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORDS_MAX 5

/** What an operation leaves: a new text, or NULL for nothing. */
struct outcome {
    char *text;
};

static void say_flag(struct outcome *out, bool value)
{
    out->text = strdup(value ? "true" : "false");
}

static int do_mknode(struct reg_blocking *b, char **w, struct outcome *out, struct err_info *why)
{
    bool made = false;
    int err = reg_blocking_mknode(b, w[1], strcmp(w[2], "true") == 0, &made, why);

    say_flag(out, made);
    return err;
}

static int do_bind(struct reg_blocking *b, char **w, struct outcome *out, struct err_info *why)
{
    struct reg_record *record = NULL;
    int err = reg_record_read(w[2], strlen(w[2]), REG_STRICT, &record, why);

    (void)out;
    if (err)
        return err == ERR_NORECORD ? err_set(why, ERR_RECORD, w[1], "the record is of another type") : err;
    err = reg_blocking_bind(b, w[1], record, (unsigned)atoi(w[3]), NULL, why);
    reg_record_free(record);
    return err;
}

static int do_resolve(struct reg_blocking *b, char **w, struct outcome *out, struct err_info *why)
{
    struct reg_record *record = NULL;
    int err = reg_blocking_resolve(b, w[1], &record, why);

    if (!err)
        out->text = reg_record_write(record, NULL);
    reg_record_free(record);
    return err;
}

static int do_stat(struct reg_blocking *b, char **w, struct outcome *out, struct err_info *why)
{
    struct reg_status status;
    int err = reg_blocking_stat(b, w[1], &status, why);

    if (err)
        return err;
    if (asprintf(&out->text, "%s %lld %lld %d", status.path, (long long)status.time_ms,
                 (long long)status.size, status.children) < 0)
        abort();
    free(status.path);
    return 0;
}

static int do_exists(struct reg_blocking *b, char **w, struct outcome *out, struct err_info *why)
{
    bool is_there = false;
    int err = reg_blocking_exists(b, w[1], &is_there, why);

    say_flag(out, is_there);
    return err;
}

static int do_list(struct reg_blocking *b, char **w, struct outcome *out, struct err_info *why)
{
    char **names = NULL;
    size_t size = 0;
    int err = reg_blocking_list(b, w[1], &names, why);
    FILE *text = open_memstream(&out->text, &size);

    for (size_t i = 0; names && names[i]; i++)
        fprintf(text, "%s%s", i ? "," : "", names[i]);
    fclose(text);
    reg_path_split_free(names);
    return err;
}

/** Fields with the ASCII unit separator between them, a record separator after each item. */
static int do_records(struct reg_blocking *b, char **w, struct outcome *out, struct err_info *why)
{
    struct reg_found *found = NULL;
    size_t n = 0, size = 0;
    int err = reg_blocking_list_records(b, w[1], &found, &n, why);
    FILE *text = open_memstream(&out->text, &size);

    for (size_t i = 0; i < n; i++) {
        const struct reg_status *s = &found[i].status;
        char *record = reg_record_write(found[i].record, NULL);
        fprintf(text, "%s\x1f%s %lld %lld %d\x1f%s\x1e", found[i].path, s->path, (long long)s->time_ms,
                (long long)s->size, s->children, record);
        free(record);
    }
    fclose(text);
    reg_found_free(found, n);
    return err;
}

static int do_delete(struct reg_blocking *b, char **w, struct outcome *out, struct err_info *why)
{
    (void)out;
    return reg_blocking_delete(b, w[1], strcmp(w[2], "true") == 0 ? REG_RECURSIVE : 0, NULL, why);
}

/** path, id, persistence, policy. */
static int do_purge(struct reg_blocking *b, char **w, struct outcome *out, struct err_info *why)
{
    static const char *const policies[] = {[REG_PURGE_ALL] = "PurgeAll",
                                           [REG_PURGE_FAIL] = "FailOnChildren",
                                           [REG_PURGE_SKIP] = "SkipOnChildren"};
    struct reg_purge what = {.path = w[1], .id = w[2], .persistence = w[3]};
    struct reg_found *found = NULL;
    size_t n = 0;

    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++)
        if (strcmp(w[4], policies[i]) == 0)
            what.policy = (enum reg_purge_policy)i;
    int err = reg_blocking_purge(b, &what, &found, &n, why);
    if (!err && asprintf(&out->text, "%zu", n) < 0)
        abort();
    reg_found_free(found, n);
    return err;
}

static int do_home(struct reg_blocking *b, char **w, struct outcome *out, struct err_info *why)
{
    char **homes = NULL;
    bool made = false;
    size_t size = 0;
    int err = reg_blocking_user_home(b, w[1], &homes, &made, why);

    if (err)
        return err;
    FILE *text = open_memstream(&out->text, &size);
    fprintf(text, "%s ", made ? "true" : "false");
    for (size_t i = 0; homes[i]; i++)
        fprintf(text, "%s%s", i ? "," : "", homes[i]);
    fclose(text);
    reg_path_split_free(homes);
    return 0;
}

static int do_accessor(struct reg_blocking *b, char **w, struct outcome *out, struct err_info *why)
{
    bool is_secure = false;
    int err = reg_blocking_add_write_accessor(b, w[1], w[2], &is_secure, why);

    say_flag(out, is_secure);
    return err;
}

static int do_clear(struct reg_blocking *b, char **w, struct outcome *out, struct err_info *why)
{
    (void)w;
    (void)out;
    (void)why;
    reg_blocking_clear_write_accessors(b);
    return 0;
}

static const struct {
    const char *name;
    int n_words;
    int (*run)(struct reg_blocking *b, char **w, struct outcome *out, struct err_info *why);
} operations[] = {
    {"mknode", 3, do_mknode},     {"bind", 4, do_bind},     {"resolve", 2, do_resolve},
    {"stat", 2, do_stat},         {"exists", 2, do_exists}, {"list", 2, do_list},
    {"delete", 3, do_delete},     {"purge", 5, do_purge},   {"home", 2, do_home},
    {"accessor", 3, do_accessor}, {"clear", 1, do_clear},   {"records", 2, do_records},
};

/** Run one line. @return false: it names no operation. */
static bool answer(struct reg_blocking *b, char *line)
{
    char *words[WORDS_MAX];
    int n = 0;

    for (char *word = strsep(&line, "\t"); word && n < WORDS_MAX; word = strsep(&line, "\t"))
        words[n++] = word;
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
        struct outcome out = {NULL};
        struct err_info why = {0};

        if (strcmp(words[0], operations[i].name) != 0 || n != operations[i].n_words)
            continue;
        int err = operations[i].run(b, words, &out, &why);
        if (err)
            printf("error\t%s\t%s\n", err_exception(err), why.text);
        else
            printf("ok\t%s\n", out.text ? out.text : "ok");
        free(out.text);
        return true;
    }
    return false;
}

int main(int argc, char **argv)
{
    struct reg_options options = {.url = argc > 1 ? argv[1] : "",
                                  .user = argc > 2 ? argv[2] : "devteam",
                                  .accessor = argc > 3 ? argv[3] : NULL};
    struct reg_blocking *b = NULL;
    struct err_info why = {0};
    char *line = NULL;
    size_t size = 0;
    ssize_t len;

    if (reg_blocking_open(&options, &b, &why)) {
        fprintf(stderr, "registry-ops: %s\n", why.text);
        return 2;
    }
    setlinebuf(stdout);
    while ((len = getline(&line, &size, stdin)) > 0) {
        line[len - 1] = '\0';
        if (!answer(b, line))
            printf("error\t\tno such operation: %s\n", line);
    }
    free(line);
    reg_blocking_close(b);
    return 0;
}
