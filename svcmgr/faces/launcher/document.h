/**
 * Documents of the FrameworkLauncher API: one table a type is reader, rule book, writer and destructor of a struct.
 *
 * Reading is that of the original: numeric text for numbers, ordinals for words, numbers and text for booleans, numbers for text, unknown
 * members ignored, an absent member has the default of its row. Unlike the services API's (spec/codec.h) an explicit null is a value of its
 * own, maps have structs as values, every broken rule is named by its path, and all members are written, nulls too.
 *
 *     "taskRoles[w].taskService.resource.cpuNumber: must be greater than or equal to 1"
 *
 * Pure. Thread: any, one object one thread.   Source: framework-launcher 1.1, 1.4, 4.
 */
#ifndef LAUNCHER_DOCUMENT_H
#define LAUNCHER_DOCUMENT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "bobbin/error.h"

/** A number that is null. */
#define LAUNCHER_NULL INT64_MIN
/** A word that is null. */
#define LAUNCHER_NO_WORD (-1)

enum ldoc_kind {
    LDOC_INT,     /* int64_t of 32 bits; LAUNCHER_NULL: null                                  */
    LDOC_LONG,    /* int64_t of 64 bits; LAUNCHER_NULL: null                                  */
    LDOC_DECIMAL, /* double; NAN: null                                                        */
    LDOC_BOOL,    /* bool; null is refused                                                    */
    LDOC_TEXT,    /* char *; NULL: null                                                       */
    LDOC_WORD,    /* int, index into `words`; LAUNCHER_NO_WORD: null                          */
    LDOC_TEXTS,   /* char **, counted; an item is never NULL                                  */
    LDOC_OBJECT,  /* struct of type `sub`, embedded; null is refused                          */
    LDOC_CHILD,   /* struct of type `sub` *; NULL: null                                       */
    LDOC_MAP,     /* struct of type `sub` **, counted; first member: char *, the key; NULL: null */
    LDOC_LIST     /* struct of type `sub` **, counted                                         */
};

enum ldoc_flag {
    LDOC_REQUIRED = 1,   /* has no default: absent is null */
    LDOC_NULLABLE = 2,   /* null is a value; else it breaks a rule */
    LDOC_SILENT = 4,     /* read, and written only when it is neither false nor null */
    LDOC_SET = 8,        /* LIST: of items whose first members are equal only the first is kept */
    LDOC_NULL_ITEMS = 16 /* MAP: a null value is one: an object whose second member, a bool, is true */
};

/** What a text, or the keys of a map, must look like. */
enum ldoc_pattern { LDOC_ANY, LDOC_NAME, LDOC_GPU_TYPE, LDOC_GPU_TYPES };

struct ldoc_type;

struct ldoc_member {
    const char *name;
    enum ldoc_kind kind;
    unsigned flags;
    size_t offset;
    size_t n_offset; /* of the size_t count: TEXTS, MAP, LIST */
    const struct ldoc_type *sub;
    /* OBJECT: whose defaults an absent one has, of the same struct; NULL: sub's */
    const struct ldoc_type *def_sub;
    const char *const *words; /* NULL-terminated */
    int64_t def;              /* numbers, booleans, words */
    const char *def_text;     /* TEXT; NULL: null */
    /* of a number; characters of a text; items of a map, a list or texts */
    bool has_min, has_max;
    int64_t min, max;
    enum ldoc_pattern pattern; /* of a text, of the keys of a map */
};

/** What is wrong with a document. */
struct ldoc_report {
    struct buf rules; /* broken rules, a line each; LDOC_RULES_MAX of them and the number of the rest */
    size_t n_rules;
};
#define LDOC_RULES_MAX    50
#define LDOC_REPORT_EMPTY ((struct ldoc_report){BUF_EMPTY, 0})

struct ldoc_type {
    size_t size;
    const struct ldoc_member *members;
    size_t n_members;
    bool is_named; /* its first member, a char *, is the key of a map and in no row */
    /** Rules of several members together; NULL: none. Called when each of them keeps its own. */
    void (*check)(const void *object, const char *path, struct ldoc_report *report);
};

/** Release. Thread: any. */
void ldoc_report_fini(struct ldoc_report *r);
/** Add a broken rule: "path: text". Thread: any. */
void ldoc_break(struct ldoc_report *r, const char *path, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/**
 * Read an object.
 *
 * @param type    of the object                                                     [borrowed]
 * @param value   JSON value                                                        [borrowed]
 * @param out     new object, ldoc_free                                             [out]
 * @param report  broken rules are appended; the object is there all the same        [in,out]
 * @param why     where: the path of the member; text: what it must be               [out]
 * @return 0; ERR_JSON: a value of the wrong type, or an unknown word; *out unchanged.
 * Thread: any.   Source: framework-launcher 1.1, 1.4.
 */
int ldoc_read(const struct ldoc_type *type, const json_t *value, void **out, struct ldoc_report *report,
              struct err_info *why);
/** Write an object: all members in the order of the table, nulls too. [new] Thread: any.   Source: framework-launcher 1.1. */
json_t *ldoc_write(const struct ldoc_type *type, const void *object);
/** Free an object and all it owns; NULL is fine. Thread: any. */
void ldoc_free(const struct ldoc_type *type, void *object);
/** A word as it is written; NULL: it is null. Static. Thread: any. */
const char *ldoc_word(const char *const *words, int word);
/** Whether a text is a name: ^[A-Za-z0-9\-._~]{1,256}$. Thread: any.   Source: framework-launcher 3. */
bool ldoc_is_name(const char *text);

#endif
