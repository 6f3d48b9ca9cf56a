/*
 * The bytes of a node, read as Hadoop reads them and as a person wrote them. What is valid stays so when written and read,
 * and does not change any more from the second time on (the first may turn a null list into an empty one, as Jackson does).
 */
#include "fuzz.h"

#include <string.h>

#include "bobbin/error.h"
#include "bobbin/record.h"

/** Write a valid record and read that again. @return what was written; free it. */
static char *again(const struct reg_record *record, size_t *len, struct reg_record **out)
{
    struct err_info why;
    char *bytes = reg_record_write(record, len);
    FUZZ_HOLDS(!reg_record_read(bytes, *len, REG_STRICT, out, &why));
    return bytes;
}

static void read_as(const char *bytes, size_t len, enum reg_read mode)
{
    struct reg_record *records[4] = {NULL};
    char *written[3] = {NULL};
    size_t lens[3];
    struct err_info why;
    int code = reg_record_read(bytes, len, mode, &records[0], &why);
    FUZZ_HOLDS(!code == (records[0] != NULL) && (!code || why.code == code));
    for (int i = 0; !code && i < 3; i++) {
        code = i == 0 ? reg_record_check(records[0], &why) : 0;
        written[i] = code ? NULL : again(records[i], &lens[i], &records[i + 1]);
    }
    FUZZ_HOLDS(!written[2] || (lens[1] == lens[2] && !memcmp(written[1], written[2], lens[1])));
    for (int i = 0; i < 4; i++)
        reg_record_free(records[i]);
    for (int i = 0; i < 3; i++)
        free(written[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_as((const char *)data, size, REG_STRICT);
    read_as((const char *)data, size, REG_LENIENT);
    return 0;
}
