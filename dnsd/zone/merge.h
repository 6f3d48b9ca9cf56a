/**
 * Merging the edits of a name into its node, which gives the next node. For the files of this folder.
 *
 * Pure. Thread: writer.   Source: RFC 2181 5 (sets, equal TTLs), RFC 1035 3.3.13 (one SOA).
 */
#ifndef ZONE_MERGE_H
#define ZONE_MERGE_H

#include "base/buf.h"
#include "zone/shard.h"

/** An edit: one zone_tx_add or zone_tx_remove. */
struct zone_edit {
    struct zone_edit *next;
    uint32_t sequence; /* order of the calls */
    uint32_t ttl_s;
    uint16_t type, rdlen;
    bool is_add;
    uint8_t rdata[];
};

/** What becomes of the mark of a held name. */
enum node_hold { NODE_HOLD_STAYS, NODE_HOLD_BEGINS, NODE_HOLD_ENDS };

/** The change of a node. */
struct node_change {
    const struct zone_node *old; /* or NULL                                      [borrowed] */
    struct zone_edit **edits;    /* sorted by node_sort_edits                      [borrowed] */
    size_t n_edits;
    int64_t more_children; /* nodes below added minus those deleted */
    enum node_hold hold;
    uint32_t hash;
    uint16_t zone;
    uint8_t rel_len;
    bool is_apex, hides_alias; /* a CNAME beside other records */
    const uint8_t *name;       /* whole name; its first rel_len octets are before the apex  [borrowed] */
    const struct zone_watcher *watcher;
};

/** The result of a merge. */
struct node_outcome {
    uint64_t n_added, n_removed, n_missing;
    bool is_visible; /* its records differ for readers */
    bool is_changed; /* it differs at all: counts, children and the mark of a held name, too */
};

/** Sort edits by type, rdata and sequence. */
void node_sort_edits(struct zone_edit **edits, size_t n_edits);

/**
 * Make the next node.
 *
 * @param out      the node's octets; left empty when the node does not exist any more  [out]
 * @param outcome  added to                                                              [in,out]
 */
void node_merge(const struct node_change *change, struct buf *out, struct node_outcome *outcome);

/** Flags that a node has by its sets. @param n borrowed. */
uint8_t node_flags(const struct zone_node *n, bool is_apex);
/** Write a serial into the SOA of a node, if it has one. @param n not published yet [in,out] */
void node_put_serial(struct zone_node *n, uint32_t serial);

#endif
