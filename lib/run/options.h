/**
 * Options of a program, one table row each, read from Hadoop configuration files and `-D key=value`.
 *
 * Files in the configuration directory, in this order, later wins unless `final`: core-site.xml, hdfs-site.xml, yarn-site.xml.
 * Each `<property>` has name, value, optional final; values may hold `${other.key}` and `${env.NAME}`; XInclude works.
 * Keys of other programs are left alone. All errors are reported at once as `file:line: …` before anything starts.
 *
 *     #define MY_OPTIONS(X) \
 *         X(OPT_PORT, "my.port", OPT_INT, "", "5335", 0, 65535, OPT_FIXED, "Port to listen on.") …
 *     enum { OPTIONS_ENUM(MY_OPTIONS) };
 *     static const struct opt_def my_options[] = { OPTIONS_ROWS(MY_OPTIONS) };
 *
 * Source: Hadoop's Configuration class (behaviour); ours.
 */
#ifndef RUN_OPTIONS_H
#define RUN_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "bobbin/error.h"

enum opt_type {
    OPT_TEXT, /* any text                                                                */
    OPT_BOOL, /* true, false                                                             */
    OPT_INT,  /* decimal integer in min..max                                             */
    OPT_TIME, /* duration; `unit` ("s", "ms") is what a bare number counts; min..max ms  */
    OPT_SIZE, /* bytes, with k, M, G; min..max                                           */
    OPT_ADDR, /* host:port; host an IP literal or localhost                              */
    OPT_ENUM  /* one of the words in `unit`, separated by '|'                            */
};
enum opt_reload { OPT_FIXED, OPT_RELOADABLE };

struct opt_def {
    const char *key;
    enum opt_type type;
    const char *unit;
    const char *def; /* default as text; NULL: unset */
    int64_t min, max;
    enum opt_reload reload;
    const char *prose; /* one or two sentences for help and manual */
};

#define OPTIONS_ENUM_ONE(id, ...) id,
#define OPTIONS_ENUM(TABLE)       TABLE(OPTIONS_ENUM_ONE)
#define OPTIONS_ROW_ONE(id, key, type, unit, def, min, max, reload, prose)                                   \
    {key, type, unit, def, min, max, reload, prose},
#define OPTIONS_ROWS(TABLE) TABLE(OPTIONS_ROW_ONE)

struct options;

/**
 * Read and check.
 *
 * @param defs      table; its row numbers are the ids of the getters            [borrowed, lives on]
 * @param n_defs    rows
 * @param dir       configuration directory or NULL for none                     [borrowed]
 * @param sets      `-D` arguments as "key=value", NULL-terminated, or NULL      [borrowed]
 * @param errors    one line an error, appended, each `place: sentence`          [out]
 * @return the options; or NULL: `errors` is not empty. Free with options_free.
 * Thread: any.
 */
struct options *options_read(const struct opt_def *defs, size_t n_defs, const char *dir,
                             const char *const *sets, struct buf *errors);
/** Why options are checked: only -t looks at what a start finds out anyway and goes on with; files that options name are read by a
 *  reload itself, which keeps what it had. */
enum opt_purpose { OPT_FOR_START, OPT_FOR_TEST, OPT_FOR_RELOAD };

/** What is wrong with options, one line each, `place: key: sentence`. */
struct opt_report {
    enum opt_purpose purpose;
    struct buf errors;   /* a start refuses them */
    struct buf warnings; /* a start goes on      */
};
#define OPT_REPORT_FOR(why) ((struct opt_report){(why), BUF_EMPTY, BUF_EMPTY})

/**
 * As options_read, but go on: a row whose value is wrong has its default, so that checks over several options can run and all
 * errors are reported at once. Nothing must start when the report has errors.
 *
 * @param report  errors are appended                                            [out]
 * @return the options, always. Free with options_free.
 * Thread: any.   Source: ours.
 */
struct options *options_load(const struct opt_def *defs, size_t n_defs, const char *dir,
                             const char *const *sets, struct opt_report *report);
/** Release what a report holds; it is empty afterwards. Thread: owner. Source: ours. */
void opt_report_fini(struct opt_report *report);
/**
 * Append an error about a key: where it was set, the key, and the sentence of why, behind its place when the sentence does not name
 * that. A key whose value options_load refused has been reported and is passed over.
 *
 * @param o       options                                                        [borrowed]
 * @param key     that a person would change, unless why->where is a key of the table, which goes before it [borrowed]
 * @param why     what is wrong                                                  [borrowed]
 * @param report  a line is appended to errors                                   [in,out]
 * Thread: any.   Source: ours.
 */
void opt_error(const struct options *o, const char *key, const struct err_info *why,
               struct opt_report *report);
/** The same for a warning. */
void opt_warning(const struct options *o, const char *key, const struct err_info *why,
                 struct opt_report *report);

/** Release; NULL is fine. Thread: owner. Source: ours. */
void options_free(struct options *o);
/**
 * Take over what a running program may change: the rows marked OPT_RELOADABLE. The other rows keep value and address.
 * Text got from a reloadable row is dead afterwards, so those rows are read on the owner's thread only.
 *
 * @param o           options in force                                           [in,out]
 * @param take_fresh  a later options_read of the same table                     [taken]
 * @param kept        keys of fixed rows that differ in take_fresh, separated by blanks, appended [out]
 * Thread: owner.   Source: ours.
 */
void options_reload(struct options *o, struct options *take_fresh, struct buf *kept);

/* Values by row number. A row number outside the table or a wrong type is a BUG. Thread: any, for fixed rows; the owner's,
 * for reloadable ones. Source: ours. */

/** Row number of a key; -1: no row has it. */
int opt_find(const struct options *o, const char *key);
/** Text of a row of any type, expanded and trimmed; NULL when it is unset and has no default. Borrowed from o. */
const char *opt_text(const struct options *o, int id);
/** Value of an OPT_BOOL row; false when unset without default. */
bool opt_bool(const struct options *o, int id);
/** Value of an OPT_INT row, or bytes of an OPT_SIZE row; 0 when unset without default. */
int64_t opt_int(const struct options *o, int id);
/** Milliseconds of an OPT_TIME row; 0 when unset without default. */
int64_t opt_ms(const struct options *o, int id);
/** The value was set by a file or -D (true), or is the default (false). */
bool opt_is_set(const struct options *o, int id);
/** Where the value came from: "file:line", "-D", or "default". Static or owned by o. */
const char *opt_origin(const struct options *o, int id);
/** Expanded text of a key that no row names, from files or -D, or NULL; what cannot be expanded stays as written.
 *  Borrowed from o. Fixed: a reload leaves it alone. */
const char *opt_other(const struct options *o, const char *key);

/** Where such a key was set, as opt_origin, or NULL. Borrowed from o. */
const char *opt_other_origin(const struct options *o, const char *key);

/** Call fn for each key that no row names and that begins with prefix, in byte order, with its text as opt_other gives it.
 *  Thread: any. Source: ours. */
void opt_each_other(const struct options *o, const char *prefix,
                    void (*fn)(void *arg, const char *key, const char *text), void *arg);

/**
 * Append the table as text: for each row a line `key=default` (or `key (unset)`), then indented by four blanks a line
 * with type, range and whether SIGHUP reads it again, and a line of prose. For --show-defaults and the manual.
 *
 * @param defs  table                                                            [borrowed]
 * @param out   grows                                                            [in,out]
 * Thread: any.   Source: ours.
 */
void options_show(const struct opt_def *defs, size_t n_defs, struct buf *out);

#endif
