#include "keys/keys.h"
#include "registryd/options.h"

static const char *const names[] = {REGISTRYD_OPTIONS(KEYS_NAME) NULL};

const struct known_keys keys_registryd = {KEYS_NONE, names, KEYS_NONE};
