#include "run/trim.h"

#include <link.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

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

static int trim_object(struct dl_phdr_info *object, size_t size, void *arg)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);

    (void)size;
    (void)arg;
    if (has_changed_code(object))
        return 0;
    /* Backwards: the table itself is in the first segment, and reading it would map that again. */
    for (int i = object->dlpi_phnum - 1; i >= 0; i--) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        uintptr_t begin = (object->dlpi_addr + segment->p_vaddr) & ~(page - 1);
        uintptr_t end = (object->dlpi_addr + segment->p_vaddr + segment->p_filesz) & ~(page - 1);
        /* A page that the next segment shares is left alone: whole pages only. A refusal, of locked memory, is no harm. */
        if (segment->p_type == PT_LOAD && !(segment->p_flags & PF_W) && end > begin)
            (void)madvise((void *)begin, end - begin, MADV_DONTNEED);
    }
    return 0;
}

void trim_memory(void)
{
    malloc_trim(0);
    dl_iterate_phdr(trim_object, NULL);
}
