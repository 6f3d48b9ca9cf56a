/** See progress.h. */
#include "progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/mem.h"
#include "out.h"
#include "run/loop.h"

#define ERASE_LINE    "\r\033[K"
#define PLAIN_EACH_MS 1000
#define WIDTH_UNKNOWN 80

void progress_begin(struct progress *p, bool is_quiet)
{
    const char *term = getenv("TERM");
    bool is_dumb = term && strcmp(term, "dumb") == 0;

    *p = (struct progress){.since_ms = run_now_ms(),
                           .is_terminal = isatty(STDERR_FILENO) == 1 && !is_dumb,
                           .is_quiet = is_quiet};
}

static double seconds_of(const struct progress *p)
{
    return (double)(run_now_ms() - p->since_ms) / 1000;
}

/** Columns of the terminal, which may have changed since the last line. */
static size_t terminal_width(void)
{
    struct winsize size;

    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : WIDTH_UNKNOWN;
}

/** The last column stays free: a terminal may begin a new line after it. The seconds stay when the text is cut. */
static void show_on_terminal(const struct progress *p, const char *text)
{
    char seconds[40];
    size_t width = terminal_width() - 1;
    size_t tail = (size_t)snprintf(seconds, sizeof seconds, " (%.1f s)", seconds_of(p));
    size_t len = out_text_fit(text, width > tail ? width - tail : 0);

    fprintf(stderr, ERASE_LINE "%.*s%.*s", (int)len, text, (int)(tail < width ? tail : width), seconds);
}

void progress_show(struct progress *p, const char *text)
{
    mem_auto char *line = mem_str(text);
    bool is_new = !p->text || strcmp(p->text, text) != 0;
    bool is_due = !p->text || run_now_ms() - p->printed_ms >= PLAIN_EACH_MS;

    if (p->is_quiet || (!p->is_terminal && (!is_new || !is_due)))
        return;
    out_hide_controls(line, "");
    if (p->is_terminal)
        show_on_terminal(p, line);
    else
        fprintf(stderr, "%s\n", line);
    p->printed_ms = run_now_ms();
    if (!is_new)
        return;
    free(p->text);
    p->text = mem_str(text);
}

void progress_hide(const struct progress *p)
{
    if (p->is_terminal && p->text)
        fprintf(stderr, ERASE_LINE);
}

void progress_end(struct progress *p, const char *text)
{
    progress_hide(p);
    if (text && !p->is_quiet)
        fprintf(stderr, "%s (%.1f s)\n", text, seconds_of(p));
    free(p->text);
    *p = (struct progress){0};
}
