/*
 * A master file, read from memory. $INCLUDE would open whatever the fuzzer names, so inputs with it are passed over. The first
 * octet says which apex; what is read is sound and would be taken by a zone.
 */
#include "fuzz.h"

#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "masters/zonefile.h"
#include "wire/name.h"
#include "wire/rdata.h"

static bool has_include(const char *text, size_t n)
{
    static const char word[] = "include";
    for (size_t i = 0; i + sizeof word - 1 <= n; i++)
        if (!strncasecmp(text + i, word, sizeof word - 1))
            return true;
    return false;
}

static void check_record(void *arg, const struct zone_rr *rr)
{
    FUZZ_HOLDS(name_len(rr->owner, NAME_MAX_LEN) > 0 && name_is_within(rr->owner, arg));
    FUZZ_HOLDS(!rdata_check(rr->type, rr->rdata, rr->rdlen));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const apexes[] = {"dev.test", "0.10.in-addr.arpa", ".", "a\\.b.test"};
    static int fd = -1;
    uint8_t apex[NAME_MAX_LEN];
    char path[64];
    struct zonefile z = {0};
    struct err_info why = {0};
    buf_auto struct buf stamp = BUF_EMPTY;
    if (fd < 0)
        fd = memfd_create("zone", MFD_CLOEXEC);
    FUZZ_HOLDS(fd >= 0);
    if (!size || has_include((const char *)data, size))
        return 0;
    const char *text = apexes[data[0] % 4];
    FUZZ_HOLDS(name_from_text(text, strlen(text), apex) > 0);
    FUZZ_HOLDS(!ftruncate(fd, 0) && pwrite(fd, data + 1, size - 1, 0) == (ssize_t)(size - 1));
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    int code = zonefile_read(path, apex, &z, &stamp, &why);
    FUZZ_HOLDS(!code || (why.code == code && *why.where && *why.text));
    if (!code)
        rrlist_each(&z.rrs, check_record, apex);
    rrlist_fini(&z.rrs);
    return 0;
}
