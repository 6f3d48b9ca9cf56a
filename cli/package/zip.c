/** The metainfo of a zip file: see parts.h. */
#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/str.h"
#include "package/parts.h"

#define BLOCK_BYTES 65536
#define JSON_NAME   "metainfo.json"
#define XML_NAME    "metainfo.xml"

static int malformed(struct archive *a, const char *path, struct err_info *why)
{
    const char *text = archive_error_string(a);

    return err_set(why, ERR_PARSE, path, "cannot be read as a zip file: %.300s",
                   text ? text : "its format is not known");
}

/** Content of the entry that comes next. */
static int read_content(struct archive *a, const char *path, struct buf *out, struct err_info *why)
{
    la_ssize_t n = 1;

    while (n > 0 && out->len <= PACKAGE_METAINFO_MAX) {
        n = archive_read_data(a, buf_room(out, BLOCK_BYTES), BLOCK_BYTES);
        out->len += n > 0 ? (size_t)n : 0;
    }
    if (n < 0)
        return malformed(a, path, why);
    if (out->len > PACKAGE_METAINFO_MAX)
        return err_set(why, ERR_TOOBIG, path, "its metainfo has more than %zu bytes", PACKAGE_METAINFO_MAX);
    return 0;
}

/** Documents that stand beside metainfo in a package, and are of no use to containers. */
static bool is_document(const char *name)
{
    return !strchr(name, '/') && (str_ends(name, ".json") || str_ends(name, ".xml"));
}

static int take_entry(struct archive *a, struct archive_entry *e, const char *path, struct package_zip *out,
                      struct err_info *why)
{
    const char *name = archive_entry_pathname(e);

    if (!name || archive_entry_filetype(e) != AE_IFREG) {
        return 0;
    }
    name += str_starts(name, "./") ? 2 : 0;
    bool is_json = strcmp(name, JSON_NAME) == 0, is_xml = strcmp(name, XML_NAME) == 0;
    out->has_files = out->has_files || !is_document(name);
    if (!is_json && !(is_xml && (out->is_xml || !out->metainfo.len)))
        return 0;
    if (out->metainfo.len && out->is_xml == is_xml)
        return err_set(why, ERR_PARSE, path, "it has %s twice", name);
    out->metainfo.len = 0;
    out->is_xml = is_xml;
    return read_content(a, path, &out->metainfo, why);
}

static int take_entries(struct archive *a, const char *path, struct package_zip *out, struct err_info *why)
{
    struct archive_entry *e;
    int n = 0, r;

    while ((r = archive_read_next_header(a, &e)) == ARCHIVE_OK || r == ARCHIVE_WARN) {
        if (++n > PACKAGE_ENTRIES_MAX)
            return err_set(why, ERR_TOOBIG, path, "it has more than %d entries", PACKAGE_ENTRIES_MAX);
        int rc = take_entry(a, e, path, out, why);
        if (rc)
            return rc;
    }
    if (r != ARCHIVE_EOF)
        return malformed(a, path, why);
    if (!out->metainfo.len)
        return err_set(why, ERR_PARSE, path,
                       "no package of Slider: neither " JSON_NAME " nor " XML_NAME " is at its top");
    return 0;
}

int package_zip_read(const char *path, struct package_zip *out, struct err_info *why)
{
    struct stat st;

    *out = (struct package_zip){.metainfo = BUF_EMPTY};
    if (stat(path, &st))
        return err_set(why, ERR_IO, path, "cannot be read: %s", strerror(errno));
    if (!S_ISREG(st.st_mode))
        return err_set(why, ERR_IO, path, "is no regular file");
    struct archive *a = archive_read_new();
    if (!a)
        return err_set(why, ERR_IO, path, "cannot be read: no memory");
    /* Only by its directory at the end: what is not wanted is not unpacked. */
    archive_read_support_format_zip_seekable(a);
    int rc = archive_read_open_filename(a, path, BLOCK_BYTES) == ARCHIVE_OK ? take_entries(a, path, out, why)
                                                                            : malformed(a, path, why);
    archive_read_free(a);
    return rc;
}
