#include "arguments.h"

#include "base/addr.h"
#include "base/str.h"

/* Of the words: the address, the port, the file, and the first of the numbers. */
enum { ADDRESS = 1, PORT, FILE_NAME, NUMBERS, PORT_MAX = 65535 };

int arguments_read(int argc, char **argv, const int64_t highest[ARGUMENT_NUMBERS], struct arguments *out)
{
    struct addr a;
    int64_t port;
    if (argc <= FILE_NAME || argc > NUMBERS + ARGUMENT_NUMBERS || addr_read(argv[ADDRESS], &a) ||
        str_to_i64(argv[PORT], 1, PORT_MAX, &port))
        return -1;
    for (int i = 0; i < ARGUMENT_NUMBERS && NUMBERS + i < argc; i++)
        if (str_to_i64(argv[NUMBERS + i], i < ARGUMENT_NUMBERS - 1, highest[i], &out->numbers[i]))
            return -1;
    out->server_len = addr_to_sockaddr(&a, (uint16_t)port, &out->server);
    return 0;
}
