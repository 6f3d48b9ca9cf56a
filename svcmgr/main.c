#include "svcmgr/app.h"

int main(int argc, char **argv)
{
    return daemon_main(&app_daemon, argc, argv);
}
