#include "cluster/source_text.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "run/shortage.h"
#include "spec/spec.h"

enum source_form source_form_of(const struct cluster_file *f)
{
    if (f->is_source)
        return SOURCE_TREE;
    if (f->is_archive)
        return SOURCE_ARCHIVE;
    if (!f->config)
        return SOURCE_FILE;
    bool is_xml = f->config->type == FILE_XML || f->config->type == FILE_HADOOP_XML;
    return is_xml ? SOURCE_XML : f->config->type == FILE_PROPERTIES ? SOURCE_PROPERTIES : SOURCE_FILE;
}

char *source_expand(const char *text, const struct cluster_file *f, struct err_info *why)
{
    size_t left = SPEC_EXPANDED_MAX;

    *why = (struct err_info){.code = 0};
    char *out = f->config ? spec_file_overlay(f->config, text, f->values, &left, why)
                          : spec_expand_to(text, f->values, left);

    if (!out && !why->code)
        err_set(why, ERR_TOOBIG, f->source, "%.200s with its placeholders replaced is larger than %zu bytes.",
                f->source, SPEC_EXPANDED_MAX);
    return out;
}

/** What to do about it, or which option bounds it. */
static const char *fault_sentence(enum source_problem problem)
{
    static const char *const sentences[] = {
        [SOURCE_ABSENT] = "there is no such file",
        [SOURCE_NO_RIGHT] = "the container's user may not read it: give him the right, or name another file",
        [SOURCE_LINK] = "a symbolic link leads to it: name the file itself",
        [SOURCE_OUTSIDE] = "it has \"..\" in it, or is not beneath yarn.service.local.source-dirs",
        [SOURCE_NOT_REGULAR] = "it is no regular file",
        [SOURCE_TOO_LARGE] = "it is too large (yarn.service.local.source-max-bytes; a template: 1 MiB)",
        [SOURCE_UNREAD] = "it cannot be read",
        [SOURCE_UNWRITTEN] = "its copy cannot be written",
        [SOURCE_STATUS] = "its server answers with HTTP status",
        [SOURCE_NO_SERVER] = "its server does not answer",
        [SOURCE_NO_ARCHIVE] = "it is no tar (plain, gzip, bzip2, xz, zstd) or zip archive that can be read",
        [SOURCE_NO_CONFIG] = "it is no configuration of its type",
        [SOURCE_ENTRY_OUTSIDE] = "an entry or its link leads outside of the archive",
        [SOURCE_ENTRY_KIND] = "an entry is a device, FIFO or socket",
        [SOURCE_ENTRY_NAME] = "an entry has a name that no file can have",
        [SOURCE_ENTRIES] = "it has more entries than yarn.service.local.archive-max-entries",
        [SOURCE_EXPANDS] = "it becomes larger than yarn.service.local.archive-max-bytes",
        [SOURCE_RATIO] = "it is packed more tightly than yarn.service.local.archive-max-ratio",
    };

    return sentences[problem];
}

/** What a problem is about, for a person. free() */
static char *fault_detail(const struct source_fault *f)
{
    if (f->problem == SOURCE_UNREAD || f->problem == SOURCE_UNWRITTEN)
        return mem_fmt(": %s%s%s", strerror(f->error), *f->detail ? ": " : "", f->detail);
    if (f->problem == SOURCE_STATUS)
        return mem_fmt(" %d%s%s", f->error, *f->detail ? ": " : "", f->detail);
    return *f->detail ? mem_fmt(": %s", f->detail) : mem_str("");
}

static int fault_code(const struct source_fault *f)
{
    if (f->problem == SOURCE_UNREAD || f->problem == SOURCE_UNWRITTEN)
        return shortage_code(f->error);
    bool is_away = f->problem == SOURCE_NO_SERVER || (f->problem == SOURCE_STATUS && f->error >= 500);

    return is_away ? ERR_UNAVAILABLE : ERR_INVALID;
}

static const char *source_noun(enum source_form form)
{
    return form == SOURCE_ARCHIVE ? "Archive" : form == SOURCE_TREE ? "Source" : "src_file";
}

int source_fault_why(const struct source *s, const char *user, const struct source_fault *f,
                     struct err_info *why)
{
    mem_auto char *detail = fault_detail(f);

    return err_set(why, fault_code(f), s->path, "%s %.140s, as user %.32s: %s%.200s.", source_noun(s->form),
                   s->path, user, fault_sentence(f->problem), detail);
}
