/** Questions that master files name for their readers: see dev.h. */
#include "dev.h"

#include <errno.h>
#include <glob.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "run/file.h"

#define QUESTION  "; $ dig "
#define MAX_WORDS 8

/** One question, its words separated by blanks. */
static int ask_line(struct dev *d, char *line, struct err_info *why)
{
    const char *words[MAX_WORDS + 1] = {NULL};
    size_t n = 0;
    char *word;

    while (n < MAX_WORDS && (word = strsep(&line, " \t\r"))) {
        if (word[0])
            words[n++] = word;
    }
    return n ? dev_dig_records(d, words, why) : 0;
}

static int ask_file(struct dev *d, const char *path, struct err_info *why)
{
    buf_auto struct buf text = BUF_EMPTY;
    int err = file_read(path, &text, why);

    if (err)
        return err;
    mem_auto char *lines = mem_str(buf_cstr(&text));
    char *rest = lines, *line;
    while (!err && (line = strsep(&rest, "\n"))) {
        if (str_starts(line, QUESTION))
            err = ask_line(d, line + strlen(QUESTION), why);
    }
    return err;
}

int dev_zones_start(struct dev *d, struct err_info *why)
{
    glob_t files = {0};
    int err = 0;

    if (!d->zones)
        return 0;
    mem_auto char *pattern = mem_fmt("%s/*.zone", d->zones);
    if (glob(pattern, 0, NULL, &files) == 0) {
        for (size_t i = 0; i < files.gl_pathc && !err; i++)
            err = ask_file(d, files.gl_pathv[i], why);
    }
    globfree(&files);
    return err;
}
