/**
 * A record that was checked and serialised once, where it entered registryd; what follows borrows it and does neither again.
 *
 *     body of a PUT, object in an import ──► reg_checked_read ──► limits ──► reg_store_bind, canonical text
 */
#ifndef REGISTRY_CHECKED_H
#define REGISTRY_CHECKED_H

#include <stddef.h>

#include "bobbin/record.h"

/** `{0}` or filled by reg_checked_read; nobody changes it. */
struct reg_checked {
    struct reg_record *record; /* passes reg_record_check */
    char *bytes;               /* its canonical form, NUL-terminated beyond len */
    size_t len;                /* bytes */
};

/**
 * Read a record, check it and make its canonical bytes.
 *
 * @param bytes  len bytes of anything                                             [borrowed]
 * @param mode   who wrote it: Hadoop's programs (strict) or people (lenient)
 * @param out    release with reg_checked_fini; unchanged on error                 [out]
 * @return 0; ERR_NORECORD, ERR_RECORD as reg_record_read.   Thread: any.   Source: ours.
 */
int reg_checked_read(const char *bytes, size_t len, enum reg_read mode, struct reg_checked *out,
                     struct err_info *why);
/** Release; `{0}` afterwards. Thread: any. Source: ours. */
void reg_checked_fini(struct reg_checked *c);

#endif
