#include "keys/keys.h"

static const char *const prefixes[] = {"hadoop.registry.", "bobbin.", "yarn.service.", NULL};
static const struct known_keys below = {prefixes, KEYS_NONE, KEYS_NONE};

const struct known_keys *const keys_known[] = {&below,         &keys_registryd, &keys_dnsd, &keys_svcmgr,
                                               &keys_services, &keys_hadoop,    NULL};
