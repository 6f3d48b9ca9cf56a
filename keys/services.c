#include "keys/keys.h"
#include "spec/properties.h"

static const char *const names[] = {SPEC_PROPS(KEYS_NAME) NULL};

const struct known_keys keys_services = {KEYS_NONE, names, KEYS_NONE};
