#include "cluster/address_claim.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "run/shortage.h"

#define NAME_BEGINNING "bobbin/address/"

int address_claim(const char *ip, int *fd, struct err_info *why)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    /* The name begins with a NUL. */
    int len = snprintf(name.sun_path + 1, sizeof name.sun_path - 1, NAME_BEGINNING "%s", ip);
    socklen_t name_len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)len);

    *fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (*fd >= 0 && !bind(*fd, (struct sockaddr *)&name, name_len))
        return 0;
    int error = errno;
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
    if (error == EADDRINUSE)
        return err_set(why, ERR_EXISTS, ip, "another container of this host has the address");
    return err_set(why, shortage_code(error), ip, "the address cannot be claimed: %s", strerror(error));
}

bool address_is_claimed(const char *ip)
{
    struct err_info why;
    int fd;
    int err = address_claim(ip, &fd, &why);

    if (fd >= 0)
        close(fd);
    return err == ERR_EXISTS;
}
