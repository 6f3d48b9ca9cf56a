/**
 * Resource types beside memory and cores that the host of a local cluster declares, and how much of each is in use.
 *
 * Thread: owner.   Source: yarn.nodemanager.resource-type.<type>.
 */
#ifndef CLUSTER_LOCAL_TYPES_H
#define CLUSTER_LOCAL_TYPES_H

#include "spec/needs.h"

struct local_types {
    struct spec_needs *has; /* its amounts; NULL: none is declared */
    int64_t *used;          /* by their places */
};

/** Nothing is in use. @param has  what is declared; NULL: nothing [copied] */
void local_types_init(struct local_types *types, const struct spec_needs *has);
/** Release. */
void local_types_fini(struct local_types *types);
/** Why a container cannot have what it needs now. @param needs  NULL: nothing @return free(); NULL: it can. */
char *local_types_lack(const struct local_types *types, const struct spec_needs *needs);
/** How much the host has of a type. */
int64_t local_types_has(const struct local_types *types, const char *type);
/** A container comes, or goes. @param by  1 or -1; types that are not declared are left out */
void local_types_count(struct local_types *types, const struct spec_needs *needs, int by);
/** "yarn.io/gpu=4,yarn.io/fpga=1", or "": as an allocation file has it. free() */
char *local_types_write(const struct spec_needs *needs);
/** What local_types_write has written; what cannot be read is left out. @return spec_needs_free; NULL: nothing */
struct spec_needs *local_types_read(const char *text);

#endif
