#include "keys/keys.h"
#include "svcmgr/options.h"

static const char *const names[] = {SVCMGR_OPTIONS(KEYS_NAME) NULL};

#define FAMILY(beginning, name, prose) beginning,
static const char *const families[] = {SVCMGR_FAMILIES(FAMILY) NULL};

const struct known_keys keys_svcmgr = {KEYS_NONE, names, families};
