#include "base/nearest.h"

#include <string.h>

/** Rows of the table of distances: the last two and the one being filled. */
#define N_ROWS 3

static char folded(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t edits_allowed(size_t len)
{
    if (len < 3 || len > NEAREST_MAX_LEN)
        return 0;
    return len < 6 ? 1 : len < 12 ? 2 : 3;
}

/* Optimal string alignment: rows[i % N_ROWS][j] is the distance of the first i octets of a and the first j of b. */
static size_t distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
    size_t rows[N_ROWS][NEAREST_MAX_LEN + 1];
    for (size_t j = 0; j <= b_len; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= a_len; i++) {
        const size_t *above = rows[(i - 1) % N_ROWS], *second = rows[(i + 1) % N_ROWS];
        size_t *row = rows[i % N_ROWS];
        row[0] = i;
        for (size_t j = 1; j <= b_len; j++) {
            char x = folded(a[i - 1]), y = folded(b[j - 1]);
            row[j] = least(above[j - 1] + (x != y), least(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && x == folded(b[j - 2]) && folded(a[i - 2]) == y)
                row[j] = least(row[j], second[j - 2] + 1);
        }
    }
    return rows[a_len % N_ROWS][b_len];
}

struct nearest nearest_to(const char *word)
{
    return (struct nearest){.word = word, .edits = edits_allowed(strlen(word)) + 1};
}

void nearest_offer(struct nearest *n, const char *name)
{
    size_t word_len = strlen(n->word), name_len = name ? strlen(name) : 0;
    size_t apart = word_len > name_len ? word_len - name_len : name_len - word_len;
    if (!name || word_len > NEAREST_MAX_LEN || name_len > NEAREST_MAX_LEN || apart >= n->edits)
        return;
    size_t edits = distance(n->word, word_len, name, name_len);
    if (edits < n->edits) {
        n->edits = edits;
        n->name = name;
    }
}

const char *nearest_of(const char *word, const char *const *names, size_t count)
{
    struct nearest n = nearest_to(word);
    for (size_t i = 0; i < count; i++)
        nearest_offer(&n, names[i]);
    return n.name;
}
