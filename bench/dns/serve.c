/*
 * dnsd's hot path alone: made-up zones behind the real sockets. Also writes the questions to ask and the zones as master
 * files for peers.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "made_zones.h"

#include "base/mem.h"
#include "base/str.h"
#include "bobbin/error.h"
#include "net/net.h"

static int usage(const char *program)
{
    fprintf(stderr,
            "usage: %s serve INSTANCES PORT WORKERS     answer on 127.0.0.1 until SIGTERM\n"
            "       %s questions INSTANCES              write questions for loadgen\n"
            "       %s master INSTANCES 0|1             write dev.test or 10.in-addr.arpa as a master file\n",
            program, program, program);
    return 2;
}

static int serve(unsigned n_instances, uint16_t port, unsigned n_workers)
{
    static const char *const addresses[] = {"127.0.0.1"};
    struct zoneset *set = made_zones_new(n_instances);
    struct net_options opts = {
        .addresses = addresses, .n_addresses = 1, .port = port, .n_workers = n_workers, .zones = set};
    struct net *net;
    struct err_info why;
    sigset_t ends;
    int signal_number;
    sigemptyset(&ends);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGINT);
    pthread_sigmask(SIG_BLOCK, &ends, NULL);
    int code = net_start(&opts, &net, &why);
    if (code) {
        fprintf(stderr, "%s\n", why.text);
        zoneset_free(set);
        return err_exit_code(code);
    }
    printf("listening on 127.0.0.1:%u\n", net_port(net));
    fflush(stdout);
    sigwait(&ends, &signal_number);
    net_stop(net);
    zoneset_free(set);
    return 0;
}

int main(int argc, char **argv)
{
    int64_t numbers[3] = {0, 0, 1};
    if (argc < 3 || argc > 5)
        return usage(argv[0]);
    for (int i = 2; i < argc; i++)
        if (str_to_i64(argv[i], 0, i == 2 ? 10000000 : 65535, &numbers[i - 2]))
            return usage(argv[0]);
    if (!strcmp(argv[1], "serve"))
        return serve((unsigned)numbers[0], (uint16_t)numbers[1], (unsigned)numbers[2]);
    if (!strcmp(argv[1], "questions"))
        made_zones_questions(stdout, (unsigned)numbers[0]);
    else if (!strcmp(argv[1], "master"))
        made_zones_master(stdout, (unsigned)numbers[0], (unsigned)numbers[1]);
    else
        return usage(argv[0]);
    return 0;
}
