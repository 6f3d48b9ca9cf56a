/**
 * How a package is read: its metainfo out of the zip (zip.c), XML into the form of metainfo.json (xml.c), that into the document
 * (components.c, metainfo.c).
 *
 * Thread: main.   Source: ours.
 */
#ifndef CLI_PACKAGE_PARTS_H
#define CLI_PACKAGE_PARTS_H

#include "package/package.h"

/** What a zip has. */
struct package_zip {
    struct buf metainfo;
    bool is_xml;
    bool has_files; /* entries that containers may want */
};

/**
 * Find the metainfo of a zip: metainfo.json, else metainfo.xml.
 *
 * @param out  release its metainfo in any case                                       [out]
 * @return 0; ERR_IO; ERR_PARSE: no zip, or without metainfo; ERR_TOOBIG.
 */
int package_zip_read(const char *path, struct package_zip *out, struct err_info *why);
/**
 * XML in the form of metainfo.json: an element without elements is a text, `components` and other lists are arrays, all else objects.
 *
 * @param where  name of the document, for errors                                     [borrowed]
 * @param out    object                                                               [out, new reference]
 * @return 0; ERR_PARSE: not well-formed, with a DOCTYPE, nested deeper than 16, or another root than metainfo.
 */
int package_xml_read(const struct buf *text, const char *where, json_t **out, struct err_info *why);

/** A metainfo that is being read. All borrowed. */
struct package_reading {
    const char *where; /* name of the document */
    const json_t *app_conf;
    struct buf *warnings;
    struct err_info *why;
};

/** A member's text; "": absent, or no text. [borrowed] */
const char *package_text(const json_t *object, const char *key);
/** A list; NULL: absent or empty. @return 0; ERR_INVALID: it is something else. @param out [borrowed] */
int package_list(const struct package_reading *r, const json_t *object, const char *place, const char *key,
                 const json_t **out);
/** Say that a part has no effect. */
void package_warn(const struct package_reading *r, const char *place, const char *text);
/** Make one line of what a document or a library says: control characters become blanks. */
void package_one_line(char *text);
/** Refuse a part. @param place  in the document, as "components/X" @return code */
int package_refuse(const struct package_reading *r, int code, const char *place, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/**
 * Read metainfo as the document of package.h, without its files.
 *
 * @param out  an object, to which members are added, also on error                  [in,out]
 * @return as package_read.
 */
int package_metainfo_read(const struct package_reading *r, const struct buf *text, bool is_xml, json_t *out);
/** The components of an application. @param out  object by name [out, new reference] @return as package_read */
int package_components(const struct package_reading *r, const json_t *application, json_t **out);

#endif
