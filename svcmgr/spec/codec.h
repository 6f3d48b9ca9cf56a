/**
 * One table per document type: the table is decoder, encoder and destructor of a struct. A struct described by a
 * `struct fld_type` is allocated by the codec, owns everything its fields point to, and is freed with fld_free().
 *
 *     struct point { int64_t x; char *label; };
 *     static const struct fld point_flds[] = {FLD_I64("x", struct point, x, 0), FLD_STR("label", struct point, label, 0)};
 *     static const struct fld_type point_type = {"Point", sizeof(struct point), point_flds, 2, NULL};
 *
 * Reading follows the input rules of the services API: integers and booleans may be text, text may be a number or
 * boolean, floats are cut, "" for a number is absent, null is absent, unknown members are ignored; spec/unknown.h names them.
 * Pure. Thread: any, one object one thread.   Source: YARN services API (Jackson's defaults); ours.
 */
#ifndef SPEC_CODEC_H
#define SPEC_CODEC_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "bobbin/error.h"

/** An integer member that was not given. */
#define FLD_UNSET INT64_MIN

enum fld_kind {
    FLD_KIND_STR,  /* char *; NULL: absent                                                   */
    FLD_KIND_I64,  /* int64_t; FLD_UNSET: absent                                             */
    FLD_KIND_BOOL, /* bool                                                                   */
    FLD_KIND_ENUM, /* int; index into `words`; -1: absent                                    */
    FLD_KIND_MAP,  /* json_t *: object whose values are all strings; NULL: absent            */
    FLD_KIND_JSON, /* json_t *: kept as it is; NULL: absent                                  */
    FLD_KIND_STRS, /* char **, counted: array of strings                                     */
    FLD_KIND_DATE, /* int64_t ms since the epoch; read from a number or ISO-8601 text        */
    FLD_KIND_OBJ,  /* struct of type `sub` *; NULL: absent                                   */
    FLD_KIND_LIST, /* struct of type `sub` **, counted                                       */
    FLD_KIND_KNOWN /* nothing: a member that a document may have, and that is neither kept nor written */
};

enum fld_flag {
    FLD_ALWAYS = 1,   /* written even when absent or empty: [] {} ""                          */
    FLD_IN = 2,       /* never written                                                         */
    FLD_ZERO = 4,     /* I64: 0 counts as absent on output                                      */
    FLD_NULLABLE = 8, /* I64: an explicit null makes it FLD_UNSET instead of leaving the default */
    FLD_EACH = 16,    /* JSON: an object of any names, whose values are of type `sub` */
    FLD_STORED = 32   /* of documents of ours: no request has it, spec_list_unknown does not know it */
};

struct fld_type;
struct jw;

struct fld {
    const char *name;
    const char *alias; /* second spelling on input, or NULL */
    enum fld_kind kind;
    unsigned flags;
    size_t offset;
    size_t n_offset; /* of the size_t count: STRS, LIST */
    /* OBJ, LIST; JSON, KNOWN: what its objects may have, see spec/unknown.h; or NULL */
    const struct fld_type *sub;
    const char *const *words; /* ENUM: NULL-terminated */
};

struct fld_type {
    const char *what; /* for messages */
    size_t size;
    const struct fld *flds;
    size_t n_flds;
    /** Set what is not zero by default; called on a zeroed object in which integers are FLD_UNSET and enums -1. */
    void (*defaults)(void *object);
};

#define FLD_ROW(kind_, name_, s, m, flags_, n_off, sub_, words_)                                             \
    {                                                                                                        \
        .name = name_, .kind = kind_, .flags = flags_, .offset = offsetof(s, m), .n_offset = n_off,          \
        .sub = sub_, .words = words_                                                                         \
    }
#define FLD_STR(name, s, m, flags)          FLD_ROW(FLD_KIND_STR, name, s, m, flags, 0, NULL, NULL)
#define FLD_I64(name, s, m, flags)          FLD_ROW(FLD_KIND_I64, name, s, m, flags, 0, NULL, NULL)
#define FLD_BOOL(name, s, m, flags)         FLD_ROW(FLD_KIND_BOOL, name, s, m, flags, 0, NULL, NULL)
#define FLD_DATE(name, s, m, flags)         FLD_ROW(FLD_KIND_DATE, name, s, m, flags, 0, NULL, NULL)
#define FLD_MAP(name, s, m, flags)          FLD_ROW(FLD_KIND_MAP, name, s, m, flags, 0, NULL, NULL)
#define FLD_JSON(name, s, m, flags)         FLD_ROW(FLD_KIND_JSON, name, s, m, flags, 0, NULL, NULL)
#define FLD_JSON_OF(name, s, m, flags, sub) FLD_ROW(FLD_KIND_JSON, name, s, m, flags, 0, sub, NULL)
#define FLD_KNOWN(name_)                                                                                     \
    {                                                                                                        \
        .name = name_, .kind = FLD_KIND_KNOWN, .flags = FLD_IN                                               \
    }
#define FLD_KNOWN_OF(name_, sub_)                                                                            \
    {                                                                                                        \
        .name = name_, .kind = FLD_KIND_KNOWN, .flags = FLD_IN, .sub = sub_                                  \
    }
#define FLD_ENUM(name, s, m, flags, words) FLD_ROW(FLD_KIND_ENUM, name, s, m, flags, 0, NULL, words)
#define FLD_OBJ(name, s, m, flags, sub)    FLD_ROW(FLD_KIND_OBJ, name, s, m, flags, 0, sub, NULL)
#define FLD_STRS(name, s, m, flags)        FLD_ROW(FLD_KIND_STRS, name, s, m, flags, offsetof(s, n_##m), NULL, NULL)
#define FLD_LIST(name, s, m, flags, sub)                                                                     \
    FLD_ROW(FLD_KIND_LIST, name, s, m, flags, offsetof(s, n_##m), sub, NULL)

/** A new object of a type with its defaults. Free with fld_free. Thread: any.   Source: ours. */
void *fld_new(const struct fld_type *type) __attribute__((returns_nonnull));
/** Free an object and all it owns; NULL is fine. Thread: any.   Source: ours. */
void fld_free(const struct fld_type *type, void *object);
/**
 * Read an object.
 *
 * @param value  JSON value                                                       [borrowed]
 * @param out    new object, free with fld_free                                   [out]
 * @return 0; or ERR_JSON: wrong JSON type or unknown word, why->where the JSON pointer; *out unchanged.
 * Thread: any.   Source: YARN services API 2.1.
 */
int fld_read(const struct fld_type *type, const json_t *value, void **out, struct err_info *why);
/** As fld_read for a value that is part of a document. @param where  its JSON pointer, "/0" [borrowed] */
int fld_read_at(const struct fld_type *type, const json_t *value, const char *where, void **out,
                struct err_info *why);
/**
 * Read an object from the text that fld_write_text made of it: the same as fld_read, in a fifth of the time. Only what is written so: members in the
 * order of the table, of their own types, in ASCII, and no maps or lists.
 *
 * @param first  name of an integer member that comes before those of the table, skipped; NULL: none  [borrowed]
 * @param bytes  text of `len` bytes                                                [borrowed]
 * @return new object, free with fld_free; NULL: another text, which json_read and fld_read may take.
 * Thread: any.   Source: ours.
 */
void *fld_read_plain(const struct fld_type *type, const char *first, const char *bytes, size_t len);
/** Append an object as compact JSON text: absent members omitted, FLD_ALWAYS ones written. Thread: any. */
void fld_write_text(const struct fld_type *type, const void *object, struct buf *out);
/** Append its members to an object that is begun, as fld_write_text. Thread: any. */
void fld_write_members(const struct fld_type *type, const void *object, struct jw *w);
/** The members of a type move from one object to another, which loses its own; they are absent in `from` then. Thread: any. */
void fld_move(const struct fld_type *type, void *from, void *to);
/** Write an object as a new JSON value: absent members omitted, FLD_ALWAYS ones written. Thread: any. */
json_t *fld_write(const struct fld_type *type, const void *object);
/** A deep copy. Thread: any. */
void *fld_copy(const struct fld_type *type, const void *object) __attribute__((returns_nonnull));

#endif
