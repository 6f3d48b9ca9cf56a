#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "run/trim.h"
#include "svcmgr/app.h"
#include "svcmgr/app_master.h"

/** An application master does little, and is one of many on its node. */
static void save_memory(void)
{
    signal(SIGXFSZ, SIG_IGN); /* trim_start writes a file. */
    mallopt(M_ARENA_MAX, 1);
    setenv("UV_THREADPOOL_SIZE", "2", 0);
    trim_start("."); /* of the container, and goes with it */
}

int main(int argc, char **argv)
{
    /* Without fast bins: each large block that comes or goes makes glibc join all small ones that are free, and with 10^5 instances a
     * third of the CPU went there. Small blocks still have the thread's cache. */
    mallopt(M_MXFAST, 0);
    if (argc > 1 && strcmp(argv[1], "am") == 0) {
        save_memory();
        argv[1] = argv[0];
        return daemon_main(&app_master_daemon, argc - 1, argv + 1);
    }
    return daemon_main(&app_daemon, argc, argv);
}
