/** Labels of freer names: see label.h. */
#include "spec/label.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/obj.h"
#include "base/sha256.h"

#define DIGEST_BITS  128
#define DIGEST_CHARS ((DIGEST_BITS + 4) / 5)
#define MARK         "-x"

static const char base32[] = "abcdefghijklmnopqrstuvwxyz234567";

static bool is_letter(char c)
{
    return c >= 'a' && c <= 'z';
}

static bool is_plain(char c)
{
    return is_letter(c) || (c >= '0' && c <= '9');
}

/** It ends as a mapped name does. */
static bool looks_mapped(const char *name, size_t len)
{
    const size_t tail = strlen(MARK) + DIGEST_CHARS;
    return len > tail && strncmp(name + len - tail, MARK, strlen(MARK)) == 0 &&
           strspn(name + len - DIGEST_CHARS, base32) == DIGEST_CHARS;
}

static bool is_label(const char *name, size_t len, size_t max)
{
    if (len == 0 || len > max || !is_letter(name[0]) || name[len - 1] == '-' ||
        (len >= 4 && name[2] == '-' && name[3] == '-')) /* reserved for names of other scripts */
        return false;
    for (size_t i = 0; i < len; i++) {
        if (!is_plain(name[i]) && name[i] != '-')
            return false;
    }
    return !looks_mapped(name, len);
}

/** What a person recognises: lower case, "-" for anything else, never two of them. */
static size_t add_prefix(const char *name, size_t max, char *out)
{
    size_t n = 0;
    for (; *name && n < max; name++) {
        char c = *name >= 'A' && *name <= 'Z' ? (char)(*name - 'A' + 'a') : *name;
        if (n == 0 && !is_letter(c))
            out[n++] = 'n';
        if (n < max && is_plain(c))
            out[n++] = c;
        else if (n < max && out[n - 1] != '-')
            out[n++] = '-';
    }
    while (n > 0 && out[n - 1] == '-')
        n--;
    return n;
}

static void add_digest(const char *name, size_t len, char *out)
{
    uint8_t digest[SHA256_LEN];
    unsigned have = 0, bits = 0;
    size_t n = 0;
    sha256(name, len, digest);
    for (size_t i = 0; i < DIGEST_BITS / 8; i++) {
        have = (have << 8 | digest[i]) & 0xFFF;
        for (bits += 8; bits >= 5; bits -= 5)
            out[n++] = base32[have >> (bits - 5) & 31];
    }
    out[n++] = base32[have << (5 - bits) & 31];
    out[n] = '\0';
}

char *spec_label(const char *name, size_t max)
{
    size_t len = strlen(name);
    BUG_IF(max < SPEC_LABEL_LEAST);
    if (is_label(name, len, max))
        return mem_str(name);
    char *label = mem_array(max + 1, 1);
    size_t n = add_prefix(name, max - strlen(MARK) - DIGEST_CHARS, label);
    if (n == 0)
        label[n++] = 'n';
    memcpy(label + n, MARK, strlen(MARK));
    add_digest(name, len, label + n + strlen(MARK));
    return label;
}
