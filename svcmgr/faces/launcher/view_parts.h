/** Values that several documents of view.h have. For view*.c. */
#ifndef LAUNCHER_VIEW_PARTS_H
#define LAUNCHER_VIEW_PARTS_H

#include "engine/rules.h"
#include "json/writer.h"

/** Write a time of day in milliseconds; 0 writes null. Thread: any. */
void launcher_write_time(struct jw *w, int64_t ms);
/** Write a RetryPolicyState; NULL: nothing was retried. Thread: any.   Source: framework-launcher 8.3. */
void launcher_write_retries(struct jw *w, const struct eng_retries *r);

#endif
