/**
 * Magic numbers for everything that crosses a callback, and asserts that stay in release builds.
 *
 *     struct conn { struct obj obj; … };            obj_init(&c->obj, CONN_MAGIC);
 *     struct conn *c = obj_cast(arg, struct conn, CONN_MAGIC);
 *
 * A struct that crosses callbacks has `struct obj obj` as its FIRST member. obj_fini() breaks the magic, so a use
 * after free stops at the cast. Thread: any.   Source: ours.
 */
#ifndef BASE_OBJ_H
#define BASE_OBJ_H

#include <stdint.h>
#include <stddef.h>

struct obj {
    uint32_t magic;
};

/** Four printable letters as a magic number: OBJ_MAGIC('C','O','N','N'). */
#define OBJ_MAGIC(a, b, c, d) ((uint32_t)(a) << 24 | (uint32_t)(b) << 16 | (uint32_t)(c) << 8 | (uint32_t)(d))

/** Report a broken invariant of our own code on stderr and abort. Never returns. */
_Noreturn void bug_stop(const char *file, int line, const char *what);

/** Assert what only our own code can break; active in every build. Never for input from outside. */
#define BUG_IF(cond)                                                                                         \
    do {                                                                                                     \
        if (__builtin_expect(!!(cond), 0))                                                                   \
            bug_stop(__FILE__, __LINE__, #cond);                                                             \
    } while (0)

static inline void obj_init(struct obj *o, uint32_t magic)
{
    o->magic = magic;
}

static inline void obj_fini(struct obj *o)
{
    o->magic = 0xdeadbeef;
}

static inline void *obj_check(void *p, uint32_t magic, const char *file, int line, const char *type)
{
    if (__builtin_expect(!p || ((struct obj *)p)->magic != magic, 0))
        bug_stop(file, line, type);
    return p;
}

#define obj_cast(p, type, magic) ((type *)obj_check((p), (magic), __FILE__, __LINE__, #type))

/** The struct that contains `member` at address p. */
#define container_of(p, type, member) ((type *)((char *)(p)-offsetof(type, member)))

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

#endif
