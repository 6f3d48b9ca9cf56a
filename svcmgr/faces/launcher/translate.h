/**
 * A FrameworkDescriptor as what the engine runs: specification and rules.
 *
 *     framework, version, queue            service
 *     task role, number, task service      component (task.h)
 *     retry and completion policies, gang, parent     rules
 *
 * Names become labels (spec/label.h); the rules keep them as titles.
 *
 * Pure. Thread: any.   Source: framework-launcher 16.
 */
#ifndef LAUNCHER_TRANSLATE_H
#define LAUNCHER_TRANSLATE_H

#include "engine/rules.h"
#include "launcher/descriptor.h"
#include "launcher/site.h"
#include "spec/spec.h"

/** The specification. @param name  of the framework [borrowed] @param d  checked [borrowed] @return spec_free */
struct spec_service *launcher_spec(const struct launcher_site *site, const char *name,
                                   const struct launcher_descriptor *d);
/** The rules. @param client  enum launcher_client: frameworks of the data deployment are kept @return eng_rules_free */
struct eng_rules *launcher_rules(const struct launcher_site *site, const char *name,
                                 const struct launcher_descriptor *d, int client);

#endif
