#include "store/mirror/identity.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** Most digits that a store's own id has; four more are allowed (store.h). */
enum { STORE_ID_LEN = 16 };

int64_t mirror_identity_adopt(struct mirror_identity *identity, const char *tree_id)
{
    const struct mirror_past past = identity->past;
    bool is_same = strcmp(past.tree_id, tree_id) == 0;
    identity->past = (struct mirror_past){0};
    snprintf(identity->tree_id, sizeof identity->tree_id, "%s", tree_id);
    snprintf(identity->store_id, sizeof identity->store_id, "%s", is_same ? past.store_id : tree_id);
    return is_same ? past.newest : 0;
}

void mirror_identity_renew(struct mirror_identity *identity)
{
    char old_id[STORE_REVISION_MAX];
    memcpy(old_id, identity->store_id, sizeof old_id);
    while (strcmp(old_id, identity->store_id) == 0)
        snprintf(identity->store_id, sizeof identity->store_id, "%.*s%.*s%04x",
                 STORE_ID_LEN - (int)strnlen(identity->tree_id, STORE_ID_LEN), "0000000000000000",
                 STORE_ID_LEN, identity->tree_id, arc4random_uniform(1 << 16));
}
