/** What readers find in a version, for the tests of dnsd/zone. */
#ifndef ZONE_KIT_H
#define ZONE_KIT_H

#include "dns_kit.h"

#include "zone/find.h"

static inline struct zone_hit kit_find(const struct zone_version *v, const char *name)
{
    struct name_key key;
    struct zone_hit hit;
    assert_true(name_key_read(kit_name(name), NAME_MAX_LEN, &key) > 0);
    name_key_hash(&key, zone_version_seed(v));
    zone_find(v, &key, false, &hit);
    return hit;
}

/** Records of a set at a name; 0: none. */
static inline unsigned kit_count(const struct zone_version *v, const char *name, uint16_t type)
{
    struct wire_set found;
    struct zone_hit hit = kit_find(v, name);
    return hit.match == ZONE_EXACT && zone_node_set(hit.node, type, &found) ? found.n_rrs : 0;
}

#endif
