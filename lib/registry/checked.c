#include "registry/checked.h"

#include <stdlib.h>

int reg_checked_read(const char *bytes, size_t len, enum reg_read mode, struct reg_checked *out,
                     struct err_info *why)
{
    struct reg_record *record;
    int err = reg_record_read(bytes, len, mode, &record, why); /* checks it as well */

    if (err)
        return err;
    out->record = record;
    out->bytes = reg_record_write(record, &out->len);
    return 0;
}

void reg_checked_fini(struct reg_checked *c)
{
    reg_record_free(c->record);
    free(c->bytes);
    *c = (struct reg_checked){0};
}
