/* Answers of registryd, as the client reads them: of a node, of a search, a purge, homes or events, of a problem. */
#include "fuzz.h"

#include "bobbin/error.h"
#include "registry/wire.h"

static void read_node(const char *bytes, size_t len)
{
    struct wire_node node = {0};
    struct err_info why = {0};
    int code = wire_read_node(bytes, len, true, &node, &why);
    FUZZ_HOLDS(!code || why.code == code);
    wire_node_fini(&node);
}

/* Two answers into one, as the pages of a search come. */
static void read_many(const char *bytes, size_t len)
{
    struct wire_many many = {0};
    struct err_info why = {0};
    int code = wire_read_many(bytes, len, &many, &why);
    size_t n_first = many.n_found;
    FUZZ_HOLDS(!code || why.code == code);
    if (!code && !wire_read_many(bytes, len, &many, &why)) /* numbers may be too large together */
        FUZZ_HOLDS(many.n_found == 2 * n_first);
    wire_many_fini(&many);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *bytes = (const char *)data;
    struct err_info why = {0};
    read_node(bytes, size);
    read_many(bytes, size);
    const struct wire_asked asked = {.url = "http://127.0.0.1:9192/?user.name=a", .program = "registryd"};
    FUZZ_HOLDS(wire_read_problem(409, bytes, size, &asked, &why) != 0);
    FUZZ_HOLDS(why.code != 0);
    return 0;
}
