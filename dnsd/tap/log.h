/**
 * The line of a query in the log, and how many of them there are.
 *
 * Thread: one.   Source: ours.
 */
#ifndef TAP_LOG_H
#define TAP_LOG_H

#include "tap/ring.h"

/** Lines of the present second. */
struct tap_budget {
    int64_t second;
    unsigned n_taken;
};

/** Take a line. @param now_ms a clock that only rises. @param most lines a second. @return false: they are used up. Source: ours. */
bool tap_budget_take(struct tap_budget *b, int64_t now_ms, unsigned most);

/** Log an entry as dns_query; one whose question cannot be read has no name. @param query what follows the entry [borrowed]. Source:
 *  ours. */
void tap_log(const struct tap_entry *e, const uint8_t *query);

#endif
