#include "wire/name.h"

#include <endian.h>
#include <string.h>

#include "bobbin/error.h"

static inline uint8_t lower_octet(uint8_t c)
{
    return c >= 'A' && c <= 'Z' ? (uint8_t)(c + 32) : c;
}

/** Eight octets at once in lower case: bit 7 of each octet says whether it is a capital letter. */
static inline uint64_t lower_word(uint64_t word)
{
    const uint64_t ones = 0x0101010101010101u;
    uint64_t low = word & ones * 0x7f;
    uint64_t from_a = low + ones * (0x80 - 'A'), beyond_z = low + ones * (0x7f - 'Z');
    uint64_t is_capital = ~word & (from_a ^ beyond_z) & ones * 0x80;
    return word | is_capital >> 2;
}

/** One octet of text, escapes undone. @return characters used; or ERR_PARSE. */
static int text_octet(const char *s, size_t n, uint8_t *out)
{
    if (s[0] != '\\') {
        *out = (uint8_t)s[0];
        return 1;
    }
    if (n < 2)
        return ERR_PARSE;
    if (s[1] < '0' || s[1] > '9') {
        *out = (uint8_t)s[1];
        return 2;
    }
    unsigned v = 0;
    for (size_t i = 1; i <= 3; i++) {
        if (i >= n || s[i] < '0' || s[i] > '9')
            return ERR_PARSE;
        v = v * 10 + (unsigned)(s[i] - '0');
    }
    if (v > 255)
        return ERR_PARSE;
    *out = (uint8_t)v;
    return 4;
}

/** Labels of a text, without the root octet, at most `room` octets. @return octets; or ERR_PARSE. */
static int labels_from_text(const char *text, size_t n, uint8_t *out, size_t room)
{
    size_t len = 0, label = 0; /* label: where the open label's length octet is */
    bool is_open = false;
    for (size_t i = 0; i < n;) {
        if (text[i] == '.') {
            if (!is_open)
                return ERR_PARSE;
            is_open = false;
            i++;
            continue;
        }
        if (!is_open) {
            if (len >= room)
                return ERR_PARSE;
            label = len;
            out[len++] = 0;
            is_open = true;
        }
        uint8_t octet;
        int used = text_octet(text + i, n - i, &octet);
        if (used < 0 || len >= room || out[label] == NAME_LABEL_MAX)
            return ERR_PARSE;
        out[len++] = octet;
        out[label]++;
        i += (size_t)used;
    }
    return (int)len;
}

int name_from_text(const char *text, size_t n, uint8_t *out)
{
    if (n == 0)
        return ERR_PARSE;
    int len = 0;
    if (n != 1 || text[0] != '.')
        len = labels_from_text(text, n, out, NAME_MAX_LEN - 1);
    if (len < 0)
        return len;
    out[len] = 0;
    return len + 1;
}

int name_join(const char *first, size_t n, const uint8_t *rest, uint8_t *out)
{
    int rest_len = name_len(rest, NAME_MAX_LEN);
    if (rest_len < 0 || n == 0)
        return ERR_PARSE;
    int len = labels_from_text(first, n, out, (size_t)(NAME_MAX_LEN - rest_len));
    if (len < 0)
        return len;
    memcpy(out + len, rest, (size_t)rest_len);
    return len + rest_len;
}

static char *octet_to_text(uint8_t c, char *out)
{
    if (c < 0x21 || c > 0x7e) {
        *out++ = '\\';
        *out++ = (char)('0' + c / 100);
        *out++ = (char)('0' + c / 10 % 10);
        *out++ = (char)('0' + c % 10);
        return out;
    }
    if (strchr(".\\\";()@$", c))
        *out++ = '\\';
    *out++ = (char)c;
    return out;
}

const char *name_to_text(const uint8_t *name, char out[NAME_TEXT_MAX])
{
    char *p = out;
    if (!name[0])
        *p++ = '.';
    for (; name[0]; name += name[0] + 1) {
        for (unsigned i = 1; i <= name[0]; i++)
            p = octet_to_text(name[i], p);
        *p++ = '.';
    }
    *p = 0;
    return out;
}

int name_len(const uint8_t *name, size_t room)
{
    size_t len = 0;
    if (room > NAME_MAX_LEN)
        room = NAME_MAX_LEN;
    while (len < room && name[len]) {
        if (name[len] > NAME_LABEL_MAX)
            return ERR_PARSE;
        len += name[len] + 1u;
    }
    return len < room ? (int)len + 1 : ERR_PARSE;
}

unsigned name_n_labels(const uint8_t *name)
{
    unsigned n = 0;
    for (; *name; name += *name + 1)
        n++;
    return n;
}

unsigned name_lower(const uint8_t *name, uint8_t *out)
{
    unsigned len = (unsigned)name_len(name, NAME_MAX_LEN);
    for (unsigned i = 0; i < len; i++)
        out[i] = lower_octet(name[i]);
    return len;
}

bool name_equal(const uint8_t *a, const uint8_t *b)
{
    int len = name_len(a, NAME_MAX_LEN);
    if (len != name_len(b, NAME_MAX_LEN))
        return false;
    for (int i = 0; i < len; i++)
        if (lower_octet(a[i]) != lower_octet(b[i]))
            return false;
    return true;
}

bool name_is_within(const uint8_t *name, const uint8_t *apex)
{
    unsigned labels = name_n_labels(name), apex_labels = name_n_labels(apex);
    if (labels < apex_labels)
        return false;
    for (; labels > apex_labels; labels--)
        name += *name + 1;
    return name_equal(name, apex);
}

/** Copy in lower case. Octets that count labels are no letters. */
static void copy_lower(const uint8_t *name, size_t n, uint8_t *out)
{
    uint64_t word;
    size_t i = 0;
    for (; n >= sizeof word && i < n; i += sizeof word) {
        i = i + sizeof word <= n ? i : n - sizeof word; /* the last word may overlap the one before */
        memcpy(&word, name + i, sizeof word);
        word = lower_word(word);
        memcpy(out + i, &word, sizeof word);
    }
    for (; i < n; i++)
        out[i] = lower_octet(name[i]);
}

int name_key_read(const uint8_t *name, size_t room, struct name_key *key)
{
    size_t at = 0;
    unsigned n = 0;
    if (room > NAME_MAX_LEN)
        room = NAME_MAX_LEN;
    for (;; n++) {
        if (at >= room || name[at] > NAME_LABEL_MAX)
            return ERR_PARSE;
        key->start[n] = (uint8_t)at;
        if (!name[at])
            break;
        at += name[at] + 1u;
    }
    key->n_labels = (uint8_t)n;
    key->len = (uint8_t)(at + 1);
    copy_lower(name, at + 1, key->lower);
    return (int)at + 1;
}

static inline uint64_t mix(uint64_t a, uint64_t b)
{
    unsigned __int128 m = (unsigned __int128)a * b;
    return (uint64_t)m ^ (uint64_t)(m >> 64);
}

/** As name_hash_label; seven octets behind the label can be read. */
static inline uint64_t hash_label(const uint8_t *label, uint64_t suffix_hash)
{
    const uint8_t *p = label + 1;
    unsigned n = label[0];
    uint64_t h = suffix_hash + 0x9e3779b97f4a7c15u * (n + 1u), word;
    for (; n >= sizeof word; n -= (unsigned)sizeof word, p += sizeof word) {
        memcpy(&word, p, sizeof word);
        h = mix(h ^ word, 0xd6e8feb86659fd93u);
    }
    memcpy(&word, p, sizeof word);
    word = htole64(word) & ((1ull << 8 * n) - 1);
    return mix(h ^ word, 0xa0761d6478bd642fu);
}

uint64_t name_hash_label(const uint8_t *label, uint64_t suffix_hash)
{
    uint8_t padded[NAME_LABEL_MAX + 9] = {0};
    memcpy(padded, label, label[0] + 1u);
    return hash_label(padded, suffix_hash);
}

void name_key_hash(struct name_key *key, uint64_t seed)
{
    uint64_t h = mix(seed ^ 0xe7037ed1a0b428dbu, 0x8ebc6af09c88c6e3u);
    key->hash[key->n_labels] = h;
    for (unsigned i = key->n_labels; i-- > 0;) {
        h = hash_label(key->lower + key->start[i], h);
        key->hash[i] = h;
    }
}
