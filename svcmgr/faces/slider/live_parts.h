/** What the files of the live views share. Thread: owner.   Source: ours. */
#ifndef FACES_SLIDER_LIVE_PARTS_H
#define FACES_SLIDER_LIVE_PARTS_H

#include "slider/live.h"

/** Key and string; nothing where the value is NULL. */
void slider_write_text(struct jw *w, const char *key, const char *value);
/** Priority of a component, which is its id: from 1. */
int64_t slider_priority_of(const struct eng_component *c);
/** Failures of a component in the window. */
int64_t slider_recent_failures(const struct eng_component *c, int64_t now_ms);

#endif
