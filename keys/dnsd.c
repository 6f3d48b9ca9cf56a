#include "keys/keys.h"
#include "dnsd/options.h"

static const char *const names[] = {DNSD_OPTIONS(KEYS_NAME) NULL};
static const char *const families[] = {DNSD_TTL_FAMILY, NULL};

const struct known_keys keys_dnsd = {KEYS_NONE, names, families};
