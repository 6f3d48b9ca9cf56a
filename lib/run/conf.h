/**
 * Hadoop configuration files as key → text: files in order, `final`, XInclude, `${…}`. What a key means is options.h's
 * business.
 *
 * Order of precedence: -D, then a property marked final (the first one), then the last file that names the key, then
 * the default. A property without value is as if it were not there.
 *
 * Thread: one conf, one thread.   Source: behaviour of Hadoop's Configuration class; XInclude 1.0.
 */
#ifndef RUN_CONF_H
#define RUN_CONF_H

#include <stdbool.h>

#include "base/buf.h"
#include "bobbin/error.h"

struct conf;

struct conf_item {
    char *text;   /* as written, not expanded */
    char *origin; /* "file:line" or "-D" */
    bool is_final;
};

/** An empty configuration. Free with conf_free. Thread: any. Source: ours. */
struct conf *conf_new(void);
/** Release; NULL is fine. Thread: owner. Source: ours. */
void conf_free(struct conf *c);
/**
 * Name the default of a key, which `${key}` gives when nothing sets it.
 *
 * @param key   configuration key                                                [copied]
 * @param text  default, or NULL: none                                           [copied]
 * Thread: owner.   Source: ours.
 */
void conf_default(struct conf *c, const char *key, const char *text);
/**
 * Read core-site.xml, then hdfs-site.xml, then yarn-site.xml of a directory; a missing file is fine, a missing directory is an error.
 *
 * @param dir     path                                                           [borrowed]
 * @param errors  one line an error, appended as `file:line: sentence`           [out]
 * Thread: owner.   Source: Hadoop's Configuration class.
 */
void conf_load_dir(struct conf *c, const char *dir, struct buf *errors);
/**
 * Set a key from "key=value"; it wins over every file.
 *
 * @param assignment  text with a '=' that is not its first byte                 [borrowed]
 * @param errors      one line appended when it is not                           [out]
 * Thread: owner.   Source: Hadoop's generic option -D.
 */
void conf_set(struct conf *c, const char *assignment, struct buf *errors);
/** The item of a key, or NULL; borrowed until the key is set again. Thread: owner. Source: ours. */
const struct conf_item *conf_get(const struct conf *c, const char *key);
/** All keys that are set, in byte order, ended by NULL; free() the array. Thread: owner. Source: ours. */
const char **conf_keys(const struct conf *c);
/**
 * Put values for `${other.key}`, `${env.NAME}`, `${env.NAME-default}` (unset), `${env.NAME:-default}` (unset or empty),
 * `${user.name}` and `${user.home}`; innermost first, at most 20 of them.
 *
 * @param key   key the text belongs to, for the error                           [borrowed]
 * @param text  text with references                                             [borrowed]
 * @param out   new string, free()                                               [out]
 * @param why   filled on error, where = key; may be NULL                        [out]
 * @return 0; or ERR_CONFIG: a name without value, or more than 20 steps; *out unchanged.
 * Thread: owner.   Source: Hadoop's Configuration class, which leaves an unknown name as it is.
 */
int conf_expand(const struct conf *c, const char *key, const char *text, char **out, struct err_info *why);

#endif
