/**
 * Names as path elements: IDNA-2003, YARN ids, user names. See path.h.
 */
#include <idn2.h>
#include <locale.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wctype.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/obj.h"
#include "base/str.h"
#include "bobbin/path.h"

/** The supplementary code points that Unicode 3.2 assigns; IDNA-2003 knows no others, libidn2 knows later ones. */
static const struct {
    uint32_t first, last;
} unicode32_supplementary[] = {
    {0x10300, 0x1031e}, {0x10320, 0x10323}, {0x10330, 0x1034a}, {0x10400, 0x10425}, {0x10428, 0x1044d},
    {0x1d000, 0x1d0f5}, {0x1d100, 0x1d126}, {0x1d12a, 0x1d1dd}, {0x1d400, 0x1d7ff}, {0x20000, 0x2a6d6},
    {0x2f800, 0x2fa1d}, {0xe0001, 0xe0001}, {0xe0020, 0xe007f},
};

static bool known_to_idna2003(uint32_t cp)
{
    if (cp < 0x10000)
        return true;
    for (size_t i = 0; i < ARRAY_LEN(unicode32_supplementary); i++)
        if (cp >= unicode32_supplementary[i].first && cp <= unicode32_supplementary[i].last)
            return true;
    return false;
}

static bool is_dot(uint32_t cp)
{
    return cp == '.' || cp == 0x3002 || cp == 0xff0e || cp == 0xff61;
}

static int encode_label(const char *label, bool ascii, struct buf *out, struct err_info *why)
{
    char *encoded = NULL;
    size_t len;
    int rc = IDN2_OK;

    if (ascii)
        encoded = mem_str(label);
    else
        rc = idn2_to_ascii_8z(label, &encoded, IDN2_TRANSITIONAL | IDN2_NO_ALABEL_ROUNDTRIP);
    if (rc != IDN2_OK)
        return err_set(why, ERR_INVALID, label, "name cannot be encoded: %s", idn2_strerror(rc));
    len = strlen(encoded);
    if (len > 0 && len <= REG_LABEL_MAX)
        buf_add(out, encoded, len);
    if (ascii)
        free(encoded);
    else
        idn2_free(encoded);
    if (len == 0)
        return err_set(why, ERR_INVALID, label, "empty label in a name");
    if (len > REG_LABEL_MAX)
        return err_set(why, ERR_INVALID, label, "label is longer than 63 bytes when encoded");
    return 0;
}

/** Cut one label off *at into `label`; *dot says whether a dot followed it. */
static int take_label(const char **at, struct buf *label, bool *ascii, bool *dot, struct err_info *why)
{
    buf_clear(label);
    *ascii = true;
    *dot = false;
    while (**at && !*dot) {
        uint32_t cp;
        size_t n = utf8_next(*at, strlen(*at), &cp);

        if (n == 0)
            return err_set(why, ERR_INVALID, NULL, "name is not UTF-8");
        if (!known_to_idna2003(cp))
            return err_set(why, ERR_INVALID, NULL, "character U+%04X is unassigned in IDNA-2003",
                           (unsigned)cp);
        *dot = is_dot(cp);
        *ascii = *ascii && (*dot || cp < 0x80);
        if (!*dot)
            buf_add(label, *at, n);
        *at += n;
    }
    return 0;
}

int reg_encode(const char *name, char **out, struct err_info *why)
{
    buf_auto struct buf encoded = BUF_EMPTY;
    buf_auto struct buf label = BUF_EMPTY;
    const char *at = name;

    if (!name)
        return err_set(why, ERR_INVALID, NULL, "no name given");
    while (*at && strcmp(name, ".") != 0) {
        bool ascii, dot;
        int err = take_label(&at, &label, &ascii, &dot, why);

        if (!err)
            err = encode_label(buf_cstr(&label), ascii, &encoded, why);
        if (err)
            return err;
        if (dot)
            buf_add_char(&encoded, '.');
    }
    *out = strcmp(name, ".") == 0 ? mem_str(".") : buf_take(&encoded);
    return 0;
}

char *reg_encode_yarn_id(const char *id)
{
    buf_auto struct buf b = BUF_EMPTY;

    while (*id) {
        bool container = str_starts(id, "container");

        if (container)
            buf_add_str(&b, "ctr");
        else
            buf_add_char(&b, *id == '_' ? '-' : *id);
        id += container ? strlen("container") : 1;
    }
    return buf_take(&b);
}

/** Lower case whatever the locale of the program is. */
static char *lower_utf8(const char *name)
{
    locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
    buf_auto struct buf b = BUF_EMPTY;

    while (*name) {
        uint32_t cp;
        size_t n = utf8_next(name, strlen(name), &cp);

        if (n == 0 || (n > 1 && !utf8)) {
            buf_add_char(&b, *name++);
            continue;
        }
        if (cp < 0x80)
            cp = cp >= 'A' && cp <= 'Z' ? cp + ('a' - 'A') : cp;
        else
            cp = (uint32_t)towlower_l((wint_t)cp, utf8);
        b.len += utf8_put(buf_room(&b, 4), cp);
        buf_room(&b, 1)[0] = '\0';
        name += n;
    }
    if (utf8)
        freelocale(utf8);
    return buf_take(&b);
}

char *reg_convert_user(const char *name)
{
    char *user = lower_utf8(name);
    char *at = strchr(user, '@');
    char *slash;

    if (at && at > user)
        *at = '\0';
    slash = strchr(user, '/');
    if (slash && slash > user)
        *slash = '\0';
    return user;
}

int reg_user(const char *name, char **out, struct err_info *why)
{
    mem_auto char *encoded = NULL;
    char *user;
    int err = reg_encode(name, &encoded, why);

    if (err)
        return err;
    user = reg_convert_user(encoded);
    for (char *p = user; *p; p++)
        if (*p == '_')
            *p = '-';
    *out = user;
    return 0;
}

char *reg_current_user(void)
{
    const char *named = getenv("HADOOP_USER_NAME");
    struct passwd entry, *found = NULL;
    char room[4096];

    if (named && named[0] != '\0')
        return mem_str(named);
    if (getpwuid_r(geteuid(), &entry, room, sizeof room, &found) == 0 && found)
        return mem_str(found->pw_name);
    return mem_fmt("%u", (unsigned)geteuid());
}
