/**
 * The command line of a program that asks: ADDRESS PORT FILE, and up to four numbers.
 */
#ifndef BENCH_ARGUMENTS_H
#define BENCH_ARGUMENTS_H

#include <stdint.h>
#include <sys/socket.h>

enum { ARGUMENT_NUMBERS = 4 };

struct arguments {
    struct sockaddr_storage server;
    socklen_t server_len;
    int64_t numbers[ARGUMENT_NUMBERS]; /* before: the defaults */
};

/** Read it. highest: of each number; the least is 1, of the last 0.
 *  @return 0; or -1: too few or too many words, no address, or a number out of its range. */
int arguments_read(int argc, char **argv, const int64_t highest[ARGUMENT_NUMBERS], struct arguments *out);

#endif
