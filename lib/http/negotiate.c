#include "http/negotiate.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

/** A piece of the header, not terminated. */
struct piece {
    const char *text;
    size_t len;
};

static struct piece trim(struct piece p)
{
    while (p.len && strchr(" \t", p.text[0])) {
        p.text++;
        p.len--;
    }
    while (p.len && strchr(" \t", p.text[p.len - 1]))
        p.len--;
    return p;
}

/** Take the part of *rest before a separator outside of quotes, which *rest is left behind. */
static struct piece take(struct piece *rest, char separator)
{
    size_t n = 0;
    for (bool is_quoted = false; n < rest->len && (is_quoted || rest->text[n] != separator); n++) {
        if (rest->text[n] == '"')
            is_quoted = !is_quoted;
        else if (is_quoted && rest->text[n] == '\\' && n + 1 < rest->len)
            n++;
    }
    struct piece taken = {rest->text, n};
    size_t used = n + (n < rest->len);
    *rest = (struct piece){rest->text + used, rest->len - used};
    return trim(taken);
}

static bool is_word(struct piece p, const char *word)
{
    return p.len == strlen(word) && strncasecmp(p.text, word, p.len) == 0;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/** A quality in thousandths; what is malformed or above 1 counts as 1, as in most servers. */
static int read_quality(struct piece p)
{
    int q = 0, place = 100;
    if (!p.len || p.text[0] != '0' || (p.len > 1 && p.text[1] != '.'))
        return 1000;
    for (size_t i = 2; i < p.len && is_digit(p.text[i]); i++, place /= 10)
        q += (p.text[i] - '0') * place;
    return q;
}

/** Whether a version is one of those that blanks separate. */
static bool has_version(const char *versions, struct piece p)
{
    struct piece rest = {versions, strlen(versions)};
    while (rest.len) {
        struct piece one = take(&rest, ' ');
        if (one.len == p.len && strncmp(one.text, p.text, p.len) == 0)
            return true;
    }
    return false;
}

static struct piece unquote(struct piece p)
{
    bool is_quoted = p.len >= 2 && p.text[0] == '"' && p.text[p.len - 1] == '"';
    return is_quoted ? (struct piece){p.text + 1, p.len - 2} : p;
}

/** One media range. @return its quality for a form, in thousandths; 0: it does not want this form. */
static int quality_of(struct piece range, const struct http_form *form)
{
    int q = 1000;
    if (!is_word(take(&range, ';'), form->type))
        return 0;
    while (range.len) {
        struct piece value = take(&range, ';');
        struct piece name = take(&value, '=');
        value = unquote(trim(value));
        if (is_word(name, "q"))
            q = read_quality(value);
        else if (is_word(name, "version") && !has_version(form->versions, value))
            return 0;
    }
    return q;
}

size_t http_negotiate(const char *accept, const struct http_form *forms, size_t n)
{
    struct piece rest = {accept, accept ? strlen(accept) : 0};
    size_t best = 0;
    int best_q = 0;
    while (rest.len) {
        struct piece range = take(&rest, ',');
        for (size_t i = 0; i < n; i++) {
            int q = quality_of(range, &forms[i]);
            if (q > best_q) {
                best = i;
                best_q = q;
            }
        }
    }
    return best;
}

/** How specifically a range names a type: 3 the type, 2 its family, 1 any; 0: it does not. */
static int specificity_of(struct piece name, const char *type)
{
    size_t n_family = strcspn(type, "/") + 1;
    if (is_word(name, type))
        return 3;
    if (name.len == n_family + 1 && name.text[n_family] == '*' && strncasecmp(name.text, type, n_family) == 0)
        return 2;
    return is_word(name, "*/*") || is_word(name, "*");
}

bool http_accepts(const char *accept, const char *type)
{
    struct piece rest = {accept, accept ? strlen(accept) : 0};
    int best = 0, best_q = 0;
    bool has_range = false;
    while (rest.len) {
        struct piece range = take(&rest, ',');
        struct piece name = take(&range, ';');
        int specificity = specificity_of(name, type), q = 1000;
        has_range = has_range || name.len;
        while (range.len) {
            struct piece value = take(&range, ';');
            if (is_word(take(&value, '='), "q"))
                q = read_quality(unquote(trim(value)));
        }
        if (specificity > best || (specificity == best && q > best_q)) {
            best = specificity;
            best_q = q;
        }
    }
    return !has_range || (best && best_q > 0);
}
