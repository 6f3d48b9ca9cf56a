#include "run/notify.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* Path of the socket, or NULL. */
static const char *socket_path(void)
{
    const char *path = getenv("NOTIFY_SOCKET");
    return path && path[0] ? path : NULL;
}

bool notify_is_wanted(void)
{
    return socket_path() != NULL;
}

int notify_send(const char *lines, struct err_info *why)
{
    const char *path = socket_path();
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    if (!path)
        return 0;
    size_t n = strlen(path);
    if (n >= sizeof to.sun_path || (path[0] != '/' && path[0] != '@'))
        return err_set(why, ERR_IO, path, "NOTIFY_SOCKET is not the path of a socket");
    memcpy(to.sun_path, path, n);
    if (path[0] == '@')
        to.sun_path[0] = 0; /* abstract name */
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return err_set(why, ERR_IO, path, "socket: %s", strerror(errno));
    socklen_t len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n);
    ssize_t sent = sendto(fd, lines, strlen(lines), MSG_NOSIGNAL, (const struct sockaddr *)&to, len);
    int failure = errno;
    close(fd);
    if (sent < 0)
        return err_set(why, ERR_IO, path, "cannot notify the service manager: %s", strerror(failure));
    return 0;
}
