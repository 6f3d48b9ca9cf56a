#include <malloc.h>

#include "svcmgr/app.h"

int main(int argc, char **argv)
{
    /* Without fast bins: each large block that comes or goes makes glibc join all small ones that are free, and with 10^5 instances a
     * third of the CPU went there. Small blocks still have the thread's cache. */
    mallopt(M_MXFAST, 0);
    return daemon_main(&app_daemon, argc, argv);
}
