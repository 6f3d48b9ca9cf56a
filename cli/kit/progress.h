/**
 * What a person sees on standard error while a command waits.
 *
 * On a terminal: one line that is written over, as wide as the terminal at most, with the seconds so far; it is erased at the end. Else, as
 * in a pipe or with TERM=dumb: a plain line when the text has changed, one a second at most.
 *
 * Thread: main.   Source: ours.
 */
#ifndef CLI_KIT_PROGRESS_H
#define CLI_KIT_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
    char *text;         /* last shown; NULL: nothing was */
    int64_t since_ms;   /* begin */
    int64_t printed_ms; /* of the last plain line */
    bool is_terminal;
    bool is_quiet;
};

/** Begin; shows nothing yet. @param is_quiet  nothing is ever shown @param p  progress_end releases it [out] */
void progress_begin(struct progress *p, bool is_quiet);
/** Show what is waited for now. @param text  one line; control characters show as "?" [borrowed] */
void progress_show(struct progress *p, const char *text);
/** Take the line off the terminal, as something else is printed there; the next progress_show brings it back. */
void progress_hide(const struct progress *p);
/** End with a last line that stays; NULL: with nothing. Releases p. */
void progress_end(struct progress *p, const char *text);

#endif
