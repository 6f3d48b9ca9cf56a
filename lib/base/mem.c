#include "base/mem.h"
#include "base/obj.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Noreturn void bug_stop(const char *file, int line, const char *what)
{
    fprintf(stderr, "bug: %s:%d: %s\n", file, line, what);
    abort();
}

static void *need(void *p, size_t n)
{
    if (!p) {
        fprintf(stderr, "out of memory: %zu bytes wanted\n", n);
        abort();
    }
    return p;
}

/* n × size, at least 1. */
static size_t product(size_t n, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(n, size, &bytes)) {
        fprintf(stderr, "out of memory: %zu times %zu bytes wanted\n", n, size);
        abort();
    }
    return bytes ? bytes : 1;
}

void *mem_alloc(size_t n)
{
    return need(malloc(n ? n : 1), n);
}

void *mem_zalloc(size_t n)
{
    return need(calloc(1, n ? n : 1), n);
}

void *mem_array(size_t n, size_t size)
{
    return mem_zalloc(product(n, size));
}

void *mem_resize(void *p, size_t n, size_t size)
{
    size_t bytes = product(n, size);
    return need(realloc(p, bytes), bytes);
}

void *mem_copy(const void *p, size_t n)
{
    void *q = mem_alloc(n);
    if (n)
        memcpy(q, p, n);
    return q;
}

char *mem_strn(const char *s, size_t n)
{
    char *q = mem_alloc(n + 1);
    if (n)
        memcpy(q, s, n);
    q[n] = 0;
    return q;
}

char *mem_str(const char *s)
{
    return s ? mem_strn(s, strlen(s)) : NULL;
}

char *mem_vfmt(const char *fmt, va_list ap)
{
    char *s = NULL;
    if (vasprintf(&s, fmt, ap) < 0)
        s = NULL;
    return need(s, strlen(fmt));
}

char *mem_fmt(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *s = mem_vfmt(fmt, ap);
    va_end(ap);
    return s;
}

void mem_free_ptr(void *p)
{
    void **pp = p;
    free(*pp);
    *pp = NULL;
}

struct chunk {
    struct chunk *next;
    size_t used, size;
    _Alignas(max_align_t) unsigned char bytes[];
};

struct arena {
    struct chunk *head;
    size_t chunk_size;
};

struct arena *arena_new(size_t chunk)
{
    struct arena *a = mem_new(struct arena);
    a->chunk_size = chunk ? chunk : 4096;
    return a;
}

void arena_free(struct arena *a)
{
    if (!a)
        return;
    for (struct chunk *c = a->head, *next; c; c = next) {
        next = c->next;
        free(c);
    }
    free(a);
}

void arena_reset(struct arena *a)
{
    struct chunk *c = a->head;
    while (c && c->next) {
        struct chunk *next = c->next;
        free(c);
        c = next;
    }
    a->head = c;
    if (c && c->size > a->chunk_size) { /* a single large thing came first */
        free(c);
        a->head = NULL;
    } else if (c) {
        memset(c->bytes, 0, c->used);
        c->used = 0;
    }
}

void *arena_alloc(struct arena *a, size_t n)
{
    BUG_IF(n > SIZE_MAX / 2);
    n = (n + sizeof(max_align_t) - 1) & ~(sizeof(max_align_t) - 1);
    if (!a->head || a->head->size - a->head->used < n) {
        size_t size = n > a->chunk_size ? n : a->chunk_size;
        struct chunk *c = mem_zalloc(sizeof *c + size);
        c->size = size;
        c->next = a->head;
        a->head = c;
    }
    void *p = a->head->bytes + a->head->used;
    a->head->used += n;
    return p;
}

char *arena_strn(struct arena *a, const char *s, size_t n)
{
    char *q = arena_alloc(a, n + 1);
    if (n)
        memcpy(q, s, n);
    return q;
}

char *arena_str(struct arena *a, const char *s)
{
    return s ? arena_strn(a, s, strlen(s)) : NULL;
}

char *arena_fmt(struct arena *a, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    mem_auto char *s = mem_vfmt(fmt, ap);
    va_end(ap);
    return arena_str(a, s);
}
