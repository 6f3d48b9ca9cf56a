/**
 * Rules of validation that concern one component; for complete.c. Messages are literal.
 *
 * Thread: any.   Source: YARN services API 3.
 */
#ifndef SPEC_CHECK_H
#define SPEC_CHECK_H

#include "spec/spec.h"

/** Refuse a document: ERR_INVALID with the literal diagnostics. */
#define SPEC_REFUSE(why, ...) err_set((why), ERR_INVALID, NULL, __VA_ARGS__)

/** Exchange two values of one type when cond holds. */
#define SPEC_SWAP_IF(cond, a, b)                                                                             \
    do {                                                                                                     \
        if (cond) {                                                                                          \
            __typeof__(a) swap_kept = (a);                                                                   \
            (a) = (b);                                                                                       \
            (b) = swap_kept;                                                                                 \
        }                                                                                                    \
    } while (0)

/** Rules V14..V21 for one component after inheritance. @return 0; or ERR_INVALID with the diagnostics. */
int spec_check_component(const struct spec_service *s, const struct spec_component *c,
                         const struct spec_world *world, struct err_info *why);
/** The named ports of a component of s. @return 0; or ERR_INVALID with the diagnostics. */
int spec_check_ports(const struct spec_service *s, const struct spec_component *c, struct err_info *why);
/** Each ${PORT.name} of a text is one of its ports. @return 0; or ERR_INVALID with the diagnostics. */
int spec_check_port_placeholders(const struct spec_component *c, const char *text, struct err_info *why);
/** A text with some number for each of them. free() */
char *spec_any_ports(const struct spec_component *c, const char *text);
/** Rule V22, and words and numbers of the component's policy; index: its place in the list. @return 0; or ERR_INVALID
 *  with the diagnostics. */
int spec_check_placement(const struct spec_component *c, size_t index, struct err_info *why);
/** What an artifact of type DOCKER needs to run here. index: the place of the component. @return 0; or ERR_INVALID with the
 *  diagnostics. */
int spec_check_image(const struct spec_component *c, size_t index, const struct spec_world *world,
                     struct err_info *why);
/** What the one host of a local cluster cannot have. @return 0; or ERR_INVALID with the diagnostics. */
int spec_check_placement_local(const struct spec_component *c, size_t index, const struct spec_host *host,
                               struct err_info *why);
/** Resources beside memory and cores that the one host of a local cluster must declare. Parameters, result as above. */
int spec_check_additional_local(const struct spec_component *c, size_t index, const struct spec_host *host,
                                struct err_info *why);

#endif
