/** See input.h. */
#include "input.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "json/json.h"

#define PIECE 65536

static int read_all(FILE *f, const char *name, struct buf *out, struct err_info *why)
{
    size_t n;

    do {
        n = fread(buf_room(out, PIECE), 1, PIECE, f);
        out->len += n;
    } while (n > 0 && out->len <= INPUT_MAX);
    out->bytes[out->len] = '\0';
    if (ferror(f))
        return err_set(why, ERR_IO, name, "cannot be read: %s", strerror(errno));
    if (out->len > INPUT_MAX)
        return err_set(why, ERR_TOOBIG, name, "has more than %zu bytes", INPUT_MAX);
    return 0;
}

int input_read(const char *name, struct buf *out, struct err_info *why)
{
    bool is_stdin = strcmp(name, "-") == 0;
    FILE *f = is_stdin ? stdin : fopen(name, "re");

    if (!f)
        return err_set(why, ERR_IO, name, "cannot be opened: %s", strerror(errno));
    int err = read_all(f, name, out, why);
    if (!is_stdin)
        fclose(f);
    return err;
}

int input_read_line(const char *name, const char *option, char **out, struct err_info *why)
{
    buf_auto struct buf bytes = BUF_EMPTY;
    int err = input_read(name, &bytes, why);
    if (err)
        return err;
    mem_auto char *line = mem_strn(buf_cstr(&bytes), strcspn(buf_cstr(&bytes), "\r\n"));
    const char *rest = buf_cstr(&bytes) + strlen(line);
    if (!line[0] || rest[strspn(rest, "\r\n")])
        return err_set(why, ERR_USAGE, option, "%s must hold the secret as its one line", name);
    *out = line;
    line = NULL;
    return 0;
}

int input_blame(const char *name, int code, struct err_info *why)
{
    mem_auto char *place = mem_fmt("%s%s%s", name, why->where[0] ? ":" : "", why->where);
    mem_auto char *text = mem_str(why->text);

    return err_set(why, code, place, "%s", text);
}

int input_read_json(const char *name, json_t **out, struct err_info *why)
{
    buf_auto struct buf bytes = BUF_EMPTY;
    int err = input_read(name, &bytes, why);

    if (err)
        return err;
    err = json_read(buf_cstr(&bytes), bytes.len, out, why);
    return err ? input_blame(name, err, why) : 0;
}
