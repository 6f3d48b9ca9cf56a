/* Which attempt node a path has: see state.h. */
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "state/state_priv.h"

#define SERVICE_ELEMENTS 3 /* kind, user, name */
#define ATTEMPT_BITS     20
#define ATTEMPT_MAX      ((1 << ATTEMPT_BITS) - 1)

size_t state_service_part(const char *path)
{
    const char *end = path;

    if (str_starts(path, STATE_DEFINITIONS))
        return 0;
    for (int n = 0; n < SERVICE_ELEMENTS; n++) {
        if (*end != '/')
            return 0;
        end += 1 + strcspn(end + 1, "/");
    }
    return (size_t)(end - path);
}

char *state_attempt_path(const char *path)
{
    size_t len = state_service_part(path);

    return len ? mem_fmt("%.*s/" ATTEMPT_NAME, (int)len, path) : NULL;
}

bool state_is_attempt(const char *path)
{
    size_t len = state_service_part(path);

    return len && strcmp(path + len, "/" ATTEMPT_NAME) == 0;
}

bool state_is_clock(const char *path)
{
    size_t len = state_service_part(path);

    return len && strcmp(path + len, "/" CLOCK_NAME) == 0;
}

bool state_is_below(const char *path, const char *service)
{
    size_t len = strlen(service);

    return strncmp(path, service, len) == 0 && (path[len] == '/' || path[len] == '\0');
}

int64_t state_attempt(int32_t incarnation, int32_t attempt)
{
    int64_t number = attempt < 0 ? 0 : attempt > ATTEMPT_MAX ? ATTEMPT_MAX : attempt;

    return (incarnation < 0 ? 0 : (int64_t)incarnation << ATTEMPT_BITS) | number;
}
