/**
 * A shortage: the machine has no more of a resource now, and may have later. It is a reason to wait, never evidence that
 * something is gone or wrong.
 *
 * Thread: any.   Source: errno(3).
 */
#ifndef RUN_SHORTAGE_H
#define RUN_SHORTAGE_H

#include <stdbool.h>

#include "bobbin/error.h"

/** ERR_NOSPC for ENOSPC, EDQUOT and EFBIG; ERR_LIMIT for EMFILE, ENFILE, ENOMEM, EAGAIN and ENOBUFS; ERR_IO for any other errno. */
int shortage_code(int error);
/** ERR_NOSPC or ERR_LIMIT. */
bool shortage_is(int code);

#endif
