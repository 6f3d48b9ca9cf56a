#include "access/jaas.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_MAX_LEN = 1 << 20, LINE_TEXT_MAX = 300 };

struct scanner {
    const char *at, *file;
    size_t line;
    char *token; /* the current one; "" at the end */
    bool is_quoted;
};

struct login {
    char *principal, *keytab, *cache;
    bool uses_keytab, uses_cache;
};

void jaas_fini(struct jaas_entry *entry)
{
    free(entry->principal);
    free(entry->keytab);
    free(entry->cache);
    *entry = (struct jaas_entry){0};
}

/* ---- tokens: words, "texts", and { } ; = ---- */

static int malformed(const struct scanner *s, const char *wanted, struct err_info *why)
{
    char where[LINE_TEXT_MAX];
    snprintf(where, sizeof where, "%s:%zu", s->file, s->line);
    return err_set(why, ERR_CONFIG, where, "%s: %s is wanted instead of \"%s\"", where, wanted, s->token);
}

static void skip_to(struct scanner *s, const char *end)
{
    for (; s->at < end; s->at++)
        s->line += *s->at == '\n';
}

static const char *end_of_comment(const char *at)
{
    bool is_long = at[1] == '*';
    const char *end = is_long ? strstr(at + 2, "*/") : strchr(at, '\n');
    return end ? end + (is_long ? 2 : 1) : at + strlen(at);
}

static void skip_blanks(struct scanner *s)
{
    for (;;) {
        skip_to(s, s->at + strspn(s->at, " \t\r\n\f"));
        bool is_comment = *s->at == '#' || (s->at[0] == '/' && (s->at[1] == '/' || s->at[1] == '*'));
        if (!is_comment)
            return;
        skip_to(s, end_of_comment(s->at));
    }
}

static int quoted(struct scanner *s, struct err_info *why)
{
    struct buf text = BUF_EMPTY;
    const char *at = s->at + 1;
    for (; *at && *at != '"' && *at != '\n'; at++) {
        if (*at == '\\' && at[1])
            at++;
        buf_add_char(&text, *at);
    }
    s->token = buf_take(&text);
    s->is_quoted = true;
    if (*at != '"')
        return malformed(s, "a text that ends on its line", why);
    s->at = at + 1;
    return 0;
}

static int next(struct scanner *s, struct err_info *why)
{
    free(s->token);
    s->token = NULL;
    s->is_quoted = false;
    skip_blanks(s);
    if (*s->at == '"')
        return quoted(s, why);
    size_t n = strcspn(s->at, " \t\r\n\f{};=\"");
    if (n == 0 && *s->at)
        n = 1;
    s->token = mem_strn(s->at, n);
    s->at += n;
    return 0;
}

static bool is_at(const struct scanner *s, const char *mark)
{
    return !s->is_quoted && strcmp(s->token, mark) == 0;
}

static bool is_word(const struct scanner *s)
{
    return s->is_quoted || (*s->token && !strchr("{};=", s->token[0]));
}

static int expect(struct scanner *s, const char *mark, struct err_info *why)
{
    if (!is_at(s, mark))
        return malformed(s, mark, why);
    return next(s, why);
}

/* ---- entries ---- */

static void login_fini(struct login *l)
{
    free(l->principal);
    free(l->keytab);
    free(l->cache);
    *l = (struct login){0};
}

static void set_text(char **member, const char *value)
{
    free(*member);
    *member = *value ? mem_str(value) : NULL;
}

static void set_option(struct login *l, const char *name, const char *value)
{
    if (strcmp(name, "principal") == 0)
        set_text(&l->principal, value);
    else if (strcmp(name, "keyTab") == 0)
        set_text(&l->keytab, value);
    else if (strcmp(name, "ticketCache") == 0)
        set_text(&l->cache, value);
    else if (strcmp(name, "useKeyTab") == 0)
        l->uses_keytab = strcmp(value, "true") == 0;
    else if (strcmp(name, "useTicketCache") == 0)
        l->uses_cache = strcmp(value, "true") == 0;
}

/* name=value … ; */
static int read_options(struct scanner *s, struct login *l, struct err_info *why)
{
    int err = 0;
    while (!err && is_word(s)) {
        mem_auto char *name = mem_str(s->token);
        err = next(s, why);
        if (!err)
            err = expect(s, "=", why);
        if (!err && !is_word(s))
            err = malformed(s, "a value", why);
        if (!err) {
            set_option(l, name, s->token);
            err = next(s, why);
        }
    }
    return err ? err : expect(s, ";", why);
}

/* module flag options; */
static int read_module(struct scanner *s, struct login *l, bool *is_krb5, struct err_info *why)
{
    *is_krb5 = str_ends(s->token, "Krb5LoginModule");
    int err = next(s, why);
    if (!err && !is_word(s))
        err = malformed(s, "a flag as \"required\"", why);
    if (!err)
        err = next(s, why);
    return err ? err : read_options(s, l, why);
}

/* The modules up to the brace. found: the first of Kerberos. */
static int read_modules(struct scanner *s, struct login *found, bool *has_krb5, struct err_info *why)
{
    int err = 0;
    while (!err && is_word(s)) {
        struct login l = {0};
        bool is_krb5 = false;
        err = read_module(s, &l, &is_krb5, why);
        bool is_first = !err && is_krb5 && !*has_krb5;
        if (is_first)
            *found = l;
        else
            login_fini(&l);
        *has_krb5 |= is_first;
    }
    if (!err)
        err = expect(s, "}", why);
    return err ? err : expect(s, ";", why);
}

static void take_login(struct login *l, struct jaas_entry *out)
{
    out->principal = l->principal;
    l->principal = NULL;
    out->keytab = l->uses_keytab ? l->keytab : NULL;
    if (out->keytab)
        l->keytab = NULL;
    out->cache = l->uses_cache ? l->cache : NULL;
    if (out->cache)
        l->cache = NULL;
}

static int read_entry(struct scanner *s, const char *wanted, struct jaas_entry *out, bool *is_found,
                      struct err_info *why)
{
    struct login l = {0};
    bool has_krb5 = false, is_wanted = strcmp(s->token, wanted) == 0 && !*is_found;
    int err = next(s, why);
    if (!err)
        err = expect(s, "{", why);
    if (!err)
        err = read_modules(s, &l, &has_krb5, why);
    if (!err && is_wanted && !has_krb5)
        err = err_set(why, ERR_CONFIG, s->file, "%s: the entry %s has no Krb5LoginModule", s->file, wanted);
    if (!err && is_wanted)
        take_login(&l, out);
    *is_found |= is_wanted;
    login_fini(&l);
    return err;
}

int jaas_parse(const char *text, const char *file, const char *entry, struct jaas_entry *out,
               struct err_info *why)
{
    struct scanner s = {.at = text, .file = file, .line = 1};
    bool is_found = false;
    *out = (struct jaas_entry){0};
    int err = next(&s, why);
    while (!err && is_word(&s))
        err = read_entry(&s, entry, out, &is_found, why);
    if (!err && *s.token)
        err = malformed(&s, "the name of an entry", why);
    if (!err && !is_found)
        err = err_set(why, ERR_CONFIG, file, "%s: there is no entry %s (hadoop.registry.jaas.context)", file,
                      entry);
    free(s.token);
    if (err)
        jaas_fini(out);
    return err;
}

int jaas_read(const char *file, const char *entry, struct jaas_entry *out, struct err_info *why)
{
    buf_auto struct buf text = BUF_EMPTY;
    *out = (struct jaas_entry){0};
    FILE *f = fopen(file, "re");
    if (!f)
        return err_set(why, ERR_CONFIG, file, "%s (java.security.auth.login.config): %s", file,
                       strerror(errno));
    size_t n = fread(buf_room(&text, FILE_MAX_LEN), 1, FILE_MAX_LEN, f);
    bool is_bad = ferror(f) || n == FILE_MAX_LEN;
    fclose(f);
    text.len += n;
    text.bytes[text.len] = 0;
    if (is_bad)
        return err_set(why, ERR_CONFIG, file, "%s: cannot be read as a JAAS file", file);
    return jaas_parse(text.bytes, file, entry, out, why);
}
