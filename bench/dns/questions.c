#include "questions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "wire/name.h"
#include "wire/rdata.h"

static int type_number(const char *text)
{
    static const char *const texts[] = {"A", "AAAA", "PTR", "TXT", "SRV", "NS", "SOA", "MX", "CNAME", "ANY"};
    static const int numbers[] = {1, 28, 12, 16, 33, 2, 6, 15, 5, 255};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (!strcmp(text, texts[i]))
            return numbers[i];
    return -1;
}

/** Encode one line. @return length; 0: not understood. */
static size_t encode(const char *line, uint8_t *out)
{
    static const uint8_t opt[] = {0, 0, 41, 0x04, 0xd0, 0, 0, 0x80, 0, 0, 0};
    char name[400], type[16], more[16] = "";
    int n_words = sscanf(line, "%399s %15s %15s", name, type, more);
    int len = n_words >= 2 ? name_from_text(name, strlen(name), out + 12) : -1, number = type_number(type);
    if (len < 0 || number < 0 || (n_words == 3 && strcmp(more, "+edns")))
        return 0;
    memcpy(out, "\0\0\0\0\0\1\0\0\0\0\0\0", 12);
    wire_put16(out + 12 + len, (unsigned)number);
    wire_put16(out + 14 + len, DNS_IN);
    size_t end = (size_t)len + 16;
    if (n_words < 3)
        return end;
    memcpy(out + end, opt, sizeof opt);
    out[11] = 1;
    return end + sizeof opt;
}

int questions_read(const char *path, struct questions *out)
{
    FILE *f = fopen(path, "r");
    char line[512];
    size_t cap = 0;
    *out = (struct questions){.n = 0};
    if (!f)
        return -1;
    while (fgets(line, sizeof line, f)) {
        if (out->n == cap) {
            cap = cap ? cap * 2 : 1024;
            out->items = mem_resize(out->items, cap, sizeof *out->items);
            out->lens = mem_resize(out->lens, cap, sizeof *out->lens);
        }
        size_t len = encode(line, out->items[out->n]);
        if (!len)
            fprintf(stderr, "not a question: %s", line);
        out->lens[out->n] = (uint16_t)len;
        out->n += len > 0;
    }
    fclose(f);
    return out->n ? 0 : -1;
}

void questions_fini(struct questions *q)
{
    free(q->items);
    free(q->lens);
    *q = (struct questions){.n = 0};
}
