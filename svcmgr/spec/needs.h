/**
 * What a container needs of its node beside memory, cores and a label: amounts of other resource types, and the constraints of its
 * component on where its containers may be.
 *
 *     scope NODE or RACK: how many containers of the component ("of the tag") are in it already
 *       AFFINITY                   all are in one scope
 *       ANTI_AFFINITY              at most one is in a scope
 *       AFFINITY_WITH_CARDINALITY  at most max are in a scope, and none is begun with fewer than min
 *     node_attributes, node_partitions: only nodes that have one of the values of each attribute, and one of the partitions
 *
 * Pure. Thread: any, one object one thread.   Source: YARN services API 2.8; placement constraints of YARN.
 */
#ifndef SPEC_NEEDS_H
#define SPEC_NEEDS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct spec_component;

enum spec_scope { SCOPE_NODE, SCOPE_RACK, SPEC_N_SCOPES };

struct spec_constraint {
    char *name;            /* spec_constraint_name */
    enum spec_scope scope; /* of min, max and is_together */
    bool is_together;      /* all containers are in one scope */
    int64_t min, max;      /* containers of the component in a scope; max INT64_MAX: any number */
    json_t *attributes;    /* {"os": ["linux", …]}; NULL: of no interest */
    json_t *partitions;    /* ["gpu", …]; NULL: of no interest */
};

/** An amount of a resource type, in units of 1. */
struct spec_amount {
    char *type;
    int64_t n;
    int64_t mask; /* of SPEC_GPU_TYPE: the GPUs of its node that it must have, bit 0 the first; 0: any */
};

struct spec_needs {
    struct spec_constraint *constraints;
    size_t n_constraints;
    struct spec_amount *amounts; /* without memory-mb and vcores */
    size_t n_amounts;
};

/** Those of a completed component. @return spec_needs_free; NULL: it has none */
struct spec_needs *spec_needs_new(const struct spec_component *c);
/** A copy; NULL of NULL. */
struct spec_needs *spec_needs_copy(const struct spec_needs *needs);
/** Free; NULL is fine. */
void spec_needs_free(struct spec_needs *needs);
/**
 * Whether a node is one that a constraint allows, whatever runs there.
 *
 * @param attributes  of the node: {"os": "linux", …}; NULL: it has none               [borrowed]
 * @param partition   of the node; NULL or "": the default one                         [borrowed]
 */
bool spec_constraint_allows(const struct spec_constraint *c, const json_t *attributes, const char *partition);
/**
 * Amount of a resource as given: {"value": 2, "unit": "Ki"} is 2048. A part of a unit counts as a whole one.
 *
 * @return from 0; INT64_MAX: more than can be counted; -1: value or unit is none.   Source: YARN's resource units.
 */
int64_t spec_amount_of(const json_t *resource);
/** "4", "2Ki": an amount as an option has it. @return as spec_amount_of */
int64_t spec_amount_read(const char *text);

#endif
