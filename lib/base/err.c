#include "bobbin/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct err_row {
    int code;
    const char *name, *type, *exception, *text;
    int http, exit_code;
};

static const struct err_row rows[] = {
#define ROW(token, code, type, http, exit_code, exception, text)                                             \
    {code, #token, type, exception, text, http, exit_code},
    BOBBIN_ERRORS(ROW)
#undef ROW
};

static const struct err_row ok = {0, "OK", "ok", "", "ok", 200, 0};
static const struct err_row unknown = {0, "ERR_?", "internal", "", "unknown error", 500, 70};

static const struct err_row *row_of(int code)
{
    if (code == 0)
        return &ok;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].code == code)
            return &rows[i];
    return &unknown;
}

int err_set(struct err_info *why, int code, const char *where, const char *fmt, ...)
{
    if (!why)
        return code;
    char text[sizeof why->text];
    char place[sizeof why->where];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    snprintf(place, sizeof place, "%s", where ? where : "");
    why->code = code;
    memcpy(why->text, text, sizeof text);
    memcpy(why->where, place, sizeof place);
    return code;
}

const char *err_name(int code)
{
    return row_of(code)->name;
}

const char *err_text(int code)
{
    return row_of(code)->text;
}

const char *err_type(int code)
{
    return row_of(code)->type;
}

int err_http_status(int code)
{
    return row_of(code)->http;
}

int err_exit_code(int code)
{
    return row_of(code)->exit_code;
}

const char *err_exception(int code)
{
    return row_of(code)->exception;
}

int err_from_type(const char *type)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strcmp(rows[i].type, type) == 0)
            return rows[i].code;
    return ERR_INTERNAL;
}
