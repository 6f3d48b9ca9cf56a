/** See hadoop_args.h. */
#include "hadoop_args.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/** Index of the option that n characters of a word name, hyphens and all; -1: none. */
static int find_part(const struct hadoop_option *options, const char *word, size_t n)
{
    size_t hyphens = n && word[0] == '-' ? (n > 1 && word[1] == '-' ? 2 : 1) : 0;

    for (int i = 0; options[i].name; i++) {
        if (strlen(options[i].name) == n - hyphens &&
            strncmp(options[i].name, word + hyphens, n - hyphens) == 0)
            return i;
    }
    return -1;
}

static int find(const struct hadoop_option *options, const char *word)
{
    return word[0] == '-' ? find_part(options, word, strlen(word)) : -1;
}

static void add(struct hadoop_args *a, const char *text, size_t n)
{
    a->tokens[a->n_tokens++] = mem_strn(text, n);
}

/** One word, or an option and what stands in the same word. */
static void flatten_word(struct hadoop_args *a, const struct hadoop_option *options, const char *word)
{
    size_t n = strlen(word), to_sign = strcspn(word, "=");
    size_t cut = n;

    if (word[0] == '-' && word[1] && strcmp(word, "--") != 0 && find(options, word) < 0) {
        if (word[to_sign] && find_part(options, word, to_sign) >= 0)
            cut = to_sign;
        else if (n > 2 && find_part(options, word, 2) >= 0)
            cut = 2;
    }
    add(a, word, cut);
    if (cut < n) {
        size_t skip = cut == to_sign ? cut + 1 : cut;
        add(a, word + skip, n - skip);
    }
}

static void fail(struct hadoop_args *a, const char *exception, char *take_message)
{
    a->exception = exception;
    a->message = take_message;
}

/** Without the quotation marks around it, if there are none inside. */
static void unquote(char *text)
{
    size_t n = strlen(text);

    if (n < 2 || text[0] != '"' || text[n - 1] != '"' || memchr(text + 1, '"', n - 2))
        return;
    memmove(text, text + 1, n - 2);
    text[n - 2] = '\0';
}

/** The option at *i and its value; *i is on the last token that was used. */
static void read_option(struct hadoop_args *a, const struct hadoop_option *options, size_t *i)
{
    const char *token = a->tokens[*i];
    int at = find(options, token);

    if (at < 0) {
        fail(a, "UnrecognizedOptionException", mem_fmt("Unrecognized option: %s", token));
        return;
    }
    bool has_next = *i + 1 < a->n_tokens && find(options, a->tokens[*i + 1]) < 0;
    a->has[at] = true;
    if (!options[at].has_value)
        return;
    if (!has_next) {
        fail(a, "MissingArgumentException", mem_fmt("Missing argument for option: %s", options[at].name));
        return;
    }
    char *value = a->tokens[++*i];
    unquote(value);
    if (!a->values[at])
        a->values[at] = value;
}

void hadoop_args_read(const struct hadoop_option *options, const char *const *words, size_t n,
                      struct hadoop_args *out)
{
    bool is_over = false;

    *out = (struct hadoop_args){0};
    out->tokens = mem_array(2 * n + 1, sizeof *out->tokens);
    out->operands = mem_array(2 * n + 1, sizeof *out->operands);
    for (size_t i = 0; i < n; i++) {
        if (is_over)
            add(out, words[i], strlen(words[i]));
        else
            flatten_word(out, options, words[i]);
        is_over |= strcmp(words[i], "--") == 0;
    }
    is_over = false;
    for (size_t i = 0; i < out->n_tokens && !out->exception; i++) {
        const char *token = out->tokens[i];
        if (strcmp(token, "--") == 0)
            is_over = true;
        else if (is_over || token[0] != '-' || !token[1])
            out->operands[out->n_operands++] = token;
        else
            read_option(out, options, &i);
    }
}

void hadoop_args_fini(struct hadoop_args *args)
{
    for (size_t i = 0; i < args->n_tokens; i++)
        free(args->tokens[i]);
    free(args->tokens);
    free(args->operands);
    free(args->message);
    *args = (struct hadoop_args){0};
}
