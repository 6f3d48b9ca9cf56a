/* Lines of registryd's feed, as the client reads them. A record that was taken can be written and read again. */
#include "fuzz.h"

#include <string.h>

#include "bobbin/error.h"
#include "bobbin/record.h"
#include "registry/wire.h"

static void write_again(const struct reg_record *record)
{
    struct err_info why;
    struct reg_record *again = NULL;
    size_t len;
    if (reg_record_check(record, &why))
        return;
    char *bytes = reg_record_write(record, &len);
    FUZZ_HOLDS(!reg_record_read(bytes, len, REG_STRICT, &again, &why));
    reg_record_free(again);
    free(bytes);
}

static void one_line(const char *bytes, size_t len)
{
    struct wire_line line = {0};
    struct err_info why;
    int code = wire_read_line(bytes, len, &line, &why);
    FUZZ_HOLDS(!code || why.code == code);
    FUZZ_HOLDS(code || line.type);
    if (!code && line.record)
        write_again(line.record);
    wire_line_fini(&line);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *at = (const char *)data, *end = at + size;
    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        stop = stop ? stop : end;
        one_line(at, (size_t)(stop - at));
        at = stop < end ? stop + 1 : end;
    }
    return 0;
}
