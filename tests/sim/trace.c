#include "trace.h"

#include <string.h>

#include "base/mem.h"
#include "base/obj.h"
#include "sim/draw.h"

#define WAIT_MOST_MS 1500
#define NUMBER_MOST  1000
#define CRASH_MOST   12 /* transactions until the power fails */

struct op_row {
    const char *word;
    uint32_t weight;
};

#define OP_ROW(token, word, weight) [token] = {word, weight},
static const struct op_row rows[N_OPS] = {TRACE_OPS(OP_ROW)};
#undef OP_ROW

static enum op_kind draw_kind(uint64_t number)
{
    uint32_t sum = 0;
    for (size_t i = 0; i < N_OPS; i++)
        sum += rows[i].weight;
    uint32_t left = (uint32_t)(number % sum);
    size_t kind = 0;
    while (left >= rows[kind].weight)
        left -= rows[kind++].weight;
    return (enum op_kind)kind;
}

void trace_make(struct trace *t, uint64_t seed, size_t n)
{
    uint64_t row = seed;
    *t = (struct trace){.ops = mem_array(n, sizeof(struct op)), .n = n};
    for (size_t i = 0; i < n; i++) {
        uint64_t number = sim_draw_next(&row), more = sim_draw_next(&row);
        /* Most operations meet what the last one began; some come after all of it. */
        t->ops[i] = (struct op){.kind = draw_kind(number >> 32),
                                .wait_ms = number % 5 ? (uint32_t)(number >> 8) % 20
                                                      : (uint32_t)(number >> 8) % WAIT_MOST_MS,
                                .a = (uint32_t)(more % NUMBER_MOST),
                                .b = (uint32_t)((more >> 20) % NUMBER_MOST),
                                .c = (uint32_t)((more >> 40) % NUMBER_MOST)};
        if (t->ops[i].kind == OP_CRASH)
            t->ops[i].a %= CRASH_MOST;
    }
}

static bool read_op(const char *line, struct op *op)
{
    char word[32];
    *op = (struct op){.kind = N_OPS};
    if (sscanf(line, "+%u %31s %u %u %u", &op->wait_ms, word, &op->a, &op->b, &op->c) < 2)
        return false;
    for (size_t i = 0; i < N_OPS; i++) {
        if (strcmp(word, rows[i].word) == 0)
            op->kind = (enum op_kind)i;
    }
    return op->kind != N_OPS;
}

int trace_read(struct trace *t, FILE *f)
{
    char line[256];
    struct op op;
    *t = (struct trace){.ops = NULL};
    for (int number = 1; fgets(line, sizeof line, f); number++) {
        if (line[0] == '#' || line[0] == '\n')
            continue;
        if (!read_op(line, &op))
            return number;
        t->ops = mem_resize(t->ops, t->n + 1, sizeof op);
        t->ops[t->n++] = op;
    }
    return 0;
}

void trace_print(const struct trace *t, FILE *f)
{
    for (size_t i = 0; i < t->n; i++)
        fprintf(f, "+%u %s %u %u %u\n", t->ops[i].wait_ms, rows[t->ops[i].kind].word, t->ops[i].a,
                t->ops[i].b, t->ops[i].c);
}

void trace_fini(struct trace *t)
{
    mem_free_ptr(&t->ops);
    t->n = 0;
}

/** The same without n operations from `at` on; what comes after them waits as long. */
static struct trace without(const struct trace *t, size_t at, size_t n)
{
    struct trace less = {.ops = mem_array(t->n, sizeof(struct op)), .n = t->n - n};
    memcpy(less.ops, t->ops, at * sizeof *t->ops);
    memcpy(less.ops + at, t->ops + at + n, (t->n - at - n) * sizeof *t->ops);
    for (size_t i = at; at < less.n && i < at + n; i++)
        less.ops[at].wait_ms += t->ops[i].wait_ms;
    return less;
}

void trace_reduce(struct trace *t, bool (*fails)(void *arg, const struct trace *t), void *arg)
{
    for (size_t n = t->n / 2; n > 0; n /= 2) {
        for (size_t at = 0; at + n <= t->n;) {
            struct trace less = without(t, at, n);
            bool is_kept = !fails(arg, &less);
            struct trace *end = is_kept ? &less : t;
            trace_fini(end);
            if (!is_kept)
                *t = less;
            else
                at += n;
        }
    }
}
