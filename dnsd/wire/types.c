#include "wire/types.h"

#include <stdio.h>
#include <strings.h>

#include "base/str.h"
#include "bobbin/error.h"

#define ROW_FIXED(n)             .form = DNS_RDATA_FIXED, .head = (n)
#define ROW_NAMES(before, n, to) .form = DNS_RDATA_NAMES, .head = (before), .n_names = (n), .tail = (to)
#define ROW_STRINGS              .form = DNS_RDATA_STRINGS
#define ROW_OPAQUE               .form = DNS_RDATA_OPAQUE

#define ROW(use_, rdata, can_) .use = DNS_USE_##use_, ROW_##rdata, .can = (can_)

const struct dns_type dns_types[DNS_N_TYPES] = {
#define RECORD_ROW(arg, token, number, text, use, rdata, can, key)                                           \
    [number] = {ROW(use, rdata, can), .ttl = DNS_TTL_OF_##token},
#define FILE_ROW(arg, token, number, text, use, rdata, can) [number] = {ROW(use, rdata, can)},
    DNS_TYPES_OF_RECORDS(RECORD_ROW, ) DNS_TYPES_OF_FILES(FILE_ROW, )
#undef RECORD_ROW
#undef FILE_ROW
};

static const char *const texts[DNS_N_TYPES] = {
#define DNS_TYPE_TEXT(arg, token, number, text, ...) [number] = text,
    DNS_TYPES(DNS_TYPE_TEXT, )
#undef DNS_TYPE_TEXT
};

bool dns_type_is_data(uint16_t type)
{
    bool is_reserved = type == 0 || (type >= 128 && type <= 255);
    return !is_reserved && dns_type(type)->use == DNS_USE_DATA;
}

const char *dns_type_text(uint16_t type, char out[16])
{
    if (type < DNS_N_TYPES && texts[type])
        return texts[type];
    snprintf(out, 16, "TYPE%u", type);
    return out;
}

int dns_type_read(const char *text, uint16_t *out)
{
    int64_t number;
    for (uint16_t i = 0; i < DNS_N_TYPES; i++) {
        if (texts[i] && strcasecmp(texts[i], text) == 0) {
            *out = i;
            return 0;
        }
    }
    if (strncasecmp(text, "TYPE", 4) != 0 || str_to_i64(text + 4, 1, UINT16_MAX, &number))
        return ERR_PARSE;
    *out = (uint16_t)number;
    return 0;
}
