/**
 * Memory. Running out of it is a failure no server here can mend: these functions never return NULL, they say how
 * much was asked for and abort. Sizes that come from outside are bounded by a documented limit before they get here.
 *
 * arena: many small allocations that die together (a request, a decoded document). Thread: one arena, one thread.
 * Source: ours.
 */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <stddef.h>
#include <stdarg.h>

/** n bytes, uninitialised. free() releases. */
void *mem_alloc(size_t n) __attribute__((malloc, returns_nonnull));
/** n zeroed bytes. */
void *mem_zalloc(size_t n) __attribute__((malloc, returns_nonnull));
/** n objects of `size` bytes each, zeroed; aborts on overflow. */
void *mem_array(size_t n, size_t size) __attribute__((malloc, returns_nonnull));
/** Resize p to n objects of `size` bytes; aborts on overflow. New part is uninitialised. */
void *mem_resize(void *p, size_t n, size_t size) __attribute__((returns_nonnull));
/** Copy of n bytes. */
void *mem_copy(const void *p, size_t n) __attribute__((returns_nonnull));
/** Copy of a string; NULL gives NULL. */
char *mem_str(const char *s);
/** Copy of n bytes of s with a terminating NUL. */
char *mem_strn(const char *s, size_t n) __attribute__((returns_nonnull));
/** Formatted string. */
char *mem_fmt(const char *fmt, ...) __attribute__((format(printf, 1, 2), returns_nonnull));
/** As mem_fmt, from an argument list, which is used up. */
char *mem_vfmt(const char *fmt, va_list ap) __attribute__((format(printf, 1, 0), returns_nonnull));

/** Zeroed object of a type. */
#define mem_new(type) ((type *)mem_zalloc(sizeof(type)))

/** Free *p and set it to NULL: for `__attribute__((cleanup(mem_free_ptr)))`. p points to a pointer. */
void mem_free_ptr(void *p);
/** A local that owns its memory: `mem_auto char *s = mem_str(…);` */
#define mem_auto __attribute__((cleanup(mem_free_ptr)))

/** Have n bytes at p, which are about to be read, brought into the cache; nothing is waited for. */
static inline void mem_prefetch(const void *p, size_t n)
{
    enum { CACHE_LINE = 64 };
    for (size_t at = 0; at < n; at += CACHE_LINE)
        __builtin_prefetch((const char *)p + at);
}

struct arena;
/** A new arena that takes memory in pieces of `chunk` bytes (0: 4096). Free with arena_free. */
struct arena *arena_new(size_t chunk) __attribute__((returns_nonnull));
/** Release the arena and everything in it; NULL is fine. */
void arena_free(struct arena *a);
/** Forget everything in the arena, keep its first piece of memory for what comes. */
void arena_reset(struct arena *a);
/** n zeroed bytes, aligned for any type; live until arena_free. */
void *arena_alloc(struct arena *a, size_t n) __attribute__((returns_nonnull));
/** Copy of n bytes of s with a terminating NUL, in the arena. */
char *arena_strn(struct arena *a, const char *s, size_t n) __attribute__((returns_nonnull));
/** Copy of a string in the arena; NULL gives NULL. */
char *arena_str(struct arena *a, const char *s);
/** Formatted string in the arena. */
char *arena_fmt(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3), returns_nonnull));
#define arena_new_obj(a, type) ((type *)arena_alloc((a), sizeof(type)))

#endif
