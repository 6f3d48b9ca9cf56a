#include "run/trim.h"

#include <fcntl.h>
#include <link.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/obj.h"

#define COPY_MAGIC OBJ_MAGIC('T', 'C', 'O', 'P')

/** Whole pages. */
struct range {
    uintptr_t begin, end;
};

/** That are as a file has them, and that nobody writes: of what is loaded for as long as the process lives. */
static struct range *clean;
static size_t n_clean;

/** Of what the loader has changed. */
struct copy {
    struct obj obj;
    int fd; /* -1: none, or it is full */
    off_t len;
};

static uintptr_t page_of(uintptr_t address)
{
    return address & ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1);
}

static uintptr_t page_after(uintptr_t address)
{
    return page_of(address + (uintptr_t)sysconf(_SC_PAGESIZE) - 1);
}

static void add_clean(struct range r)
{
    clean = mem_resize(clean, n_clean + 1, sizeof *clean);
    clean[n_clean++] = r;
}

/* ---- what of an object is where ---- */

/** Where the next segment begins: its first page may be the last one of segment i. */
static uintptr_t next_begin(const struct dl_phdr_info *object, int i)
{
    for (i++; i < object->dlpi_phnum; i++) {
        if (object->dlpi_phdr[i].p_type == PT_LOAD)
            return page_of(object->dlpi_addr + object->dlpi_phdr[i].p_vaddr);
    }
    return UINTPTR_MAX;
}

/** What of segment i is in the object's file. */
static struct range segment_pages(const struct dl_phdr_info *object, int i)
{
    uintptr_t begin = object->dlpi_addr + object->dlpi_phdr[i].p_vaddr;
    struct range r = {page_of(begin), page_after(begin + object->dlpi_phdr[i].p_filesz)};
    uintptr_t next = next_begin(object, i);

    if (r.end > next)
        r.end = next;
    return r;
}

/** Made read-only by the loader: whole pages only. Empty: none are. */
static struct range relro_pages(const struct dl_phdr_info *object)
{
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        uintptr_t begin = object->dlpi_addr + segment->p_vaddr;
        if (segment->p_type == PT_GNU_RELRO)
            return (struct range){page_of(begin), page_of(begin + segment->p_memsz)};
    }
    return (struct range){0, 0};
}

/** The loader has changed its code: a page of it is not what the file has. */
static bool has_changed_code(const struct dl_phdr_info *object)
{
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        if (segment->p_type != PT_DYNAMIC)
            continue;
        for (const ElfW(Dyn) *d = (const ElfW(Dyn) *)(object->dlpi_addr + segment->p_vaddr); d->d_tag; d++) {
            if (d->d_tag == DT_TEXTREL || (d->d_tag == DT_FLAGS && d->d_un.d_val & DF_TEXTREL))
                return true;
        }
    }
    return false;
}

/* ---- from memory to a file ---- */

/**
 * Page by page: the kernel would map again together what is written together. By the system call itself, as sanitizers find no fault with that:
 * in these pages there is more than variables.
 */
static bool write_pages(const struct copy *c, struct range r)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);

    for (uintptr_t at = r.begin; at < r.end; at += page) {
        if (syscall(SYS_pwrite64, c->fd, at, page, c->len + (off_t)(at - r.begin)) != (long)page)
            return false;
    }
    return true;
}

/** A debugger finds the tables in a core file, which has of files only what was written: so the first page is, and dropped again. */
static void mark_for_core(struct range r)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);

    (void)madvise((void *)r.begin, page, MADV_POPULATE_WRITE);
    (void)madvise((void *)r.begin, page, MADV_DONTNEED);
}

/** Put the copy in the place of the pages. Nothing may write them meanwhile: no other thread is there, and this one touches its stack only. */
static bool map_copy(struct copy *c, struct range r, int protection)
{
    size_t len = r.end - r.begin;

    if (c->fd < 0 || r.begin >= r.end)
        return false;
    if (!write_pages(c, r) || mmap((void *)r.begin, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED,
                                   c->fd, c->len) == MAP_FAILED) {
        close(c->fd);
        c->fd = -1;
        return false;
    }
    c->len += (off_t)len;
    mark_for_core(r);
    return mprotect((void *)r.begin, len, protection) == 0;
}

/** Variables, which begin with the tables. */
static void move_segment(struct copy *c, struct range segment, struct range relro)
{
    bool has_relro = relro.begin <= segment.begin && relro.end > segment.begin;
    uintptr_t split = !has_relro ? segment.begin : relro.end < segment.end ? relro.end : segment.end;
    struct range tables = {segment.begin, split}, variables = {split, segment.end};

    if (relro.begin > segment.begin && relro.begin < segment.end)
        return; /* No linker does so. */
    if (map_copy(c, tables, PROT_READ))
        add_clean(tables);
    map_copy(c, variables, PROT_READ | PROT_WRITE);
}

static int take_object(struct dl_phdr_info *object, size_t size, void *arg)
{
    struct copy *c = obj_cast(arg, struct copy, COPY_MAGIC);
    bool is_code_clean = !has_changed_code(object);

    (void)size;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        if (segment->p_type != PT_LOAD)
            continue;
        if (!(segment->p_flags & PF_W) && is_code_clean)
            add_clean(segment_pages(object, i));
        else if ((segment->p_flags & (PF_W | PF_X)) == PF_W)
            move_segment(c, segment_pages(object, i), relro_pages(object));
    }
    return 0;
}

/* ---- all of it ---- */

static int open_unnamed(const char *dir)
{
    mem_auto char *path = mem_fmt("%s/loaded-XXXXXX", dir);
    int fd = mkostemp(path, O_CLOEXEC);

    if (fd >= 0)
        unlink(path);
    return fd;
}

void trim_start(const char *dir)
{
    struct copy c = {.fd = open_unnamed(dir)};

    obj_init(&c.obj, COPY_MAGIC);
    dl_iterate_phdr(take_object, &c);
    if (c.fd >= 0)
        close(c.fd);
}

void trim_memory(void)
{
    malloc_trim(0);
    /* A refusal, of locked memory, is no harm. */
    for (size_t i = 0; i < n_clean; i++)
        (void)madvise((void *)clean[i].begin, clean[i].end - clean[i].begin, MADV_DONTNEED);
}
