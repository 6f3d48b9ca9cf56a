#include <malloc.h>

#include <string.h>

#include "svcmgr/app.h"
#include "svcmgr/app_master.h"

int main(int argc, char **argv)
{
    /* Without fast bins: each large block that comes or goes makes glibc join all small ones that are free, and with 10^5 instances a
     * third of the CPU went there. Small blocks still have the thread's cache. */
    mallopt(M_MXFAST, 0);
    if (argc > 1 && strcmp(argv[1], "am") == 0) {
        argv[1] = argv[0];
        return daemon_main(&app_master_daemon, argc - 1, argv + 1);
    }
    return daemon_main(&app_daemon, argc, argv);
}
