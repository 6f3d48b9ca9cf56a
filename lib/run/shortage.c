#include "run/shortage.h"

#include <errno.h>

int shortage_code(int error)
{
    switch (error) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG: return ERR_NOSPC;
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case EAGAIN:
    case ENOBUFS: return ERR_LIMIT;
    default: return ERR_IO;
    }
}

bool shortage_is(int code)
{
    return code == ERR_NOSPC || code == ERR_LIMIT;
}
