#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "localizer/localizer.h"

#define BLOCK_BYTES 65536
/* What an archive may become whatever its ratio: a small one is mostly head. */
#define RATIO_FLOOR ((int64_t)1 << 20)

/** An archive in work. */
struct unpacking {
    struct archive *archive;
    int top;
    int64_t packed_bytes;
    int64_t ratio_left; /* bytes that may come out by the ratio */
    struct unpack_limits *left;
    struct source_fault *f;
};

static int fail(const struct unpacking *u, enum source_problem problem, int error, const char *detail)
{
    source_fault_detail(u->f, detail ? detail : "");
    return localizer_fault(u->f, problem, error);
}

static int no_archive(const struct unpacking *u)
{
    const char *text = archive_error_string(u->archive);

    return fail(u, SOURCE_NO_ARCHIVE, 0, text ? text : "its format is not known");
}

/* ---- content ---- */

/** Before so many more bytes of an entry are written. */
static int count_bytes(struct unpacking *u, int64_t n, const char *name)
{
    if (n > u->left->max_bytes)
        return fail(u, SOURCE_EXPANDS, 0, name);
    if (n > u->ratio_left)
        return fail(u, SOURCE_RATIO, 0, name);
    u->left->max_bytes -= n;
    u->ratio_left -= n;
    return 0;
}

static int write_at(int fd, const char *bytes, size_t len, int64_t at)
{
    while (len > 0) {
        ssize_t n = pwrite(fd, bytes, len, at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return -1;
        bytes += n;
        at += n;
        len -= (size_t)n;
    }
    return 0;
}

/** Holes count as bytes: what reads them gets as many. */
static int write_content(struct unpacking *u, int fd, const char *name)
{
    const void *bytes;
    size_t len;
    la_int64_t at;
    int64_t end = 0;
    int r;

    while ((r = archive_read_data_block(u->archive, &bytes, &len, &at)) == ARCHIVE_OK) {
        int64_t next = at + (int64_t)len;
        if (next < end || at < 0)
            return fail(u, SOURCE_NO_ARCHIVE, 0, name);
        if (count_bytes(u, next - end, name))
            return -1;
        if (write_at(fd, bytes, len, at))
            return fail(u, SOURCE_UNWRITTEN, errno, name);
        end = next;
    }
    if (r != ARCHIVE_EOF)
        return no_archive(u);
    return ftruncate(fd, end) ? fail(u, SOURCE_UNWRITTEN, errno, name) : 0;
}

/* ---- entries ---- */

static int make_file(struct unpacking *u, int parent, const char *last, const char *name, mode_t mode)
{
    int fd = openat(parent, last, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

    if (fd < 0)
        return fail(u, SOURCE_UNWRITTEN, errno, name);
    int failed = write_content(u, fd, name);
    if (!failed && fchmod(fd, (mode & 0777) | 0600))
        failed = fail(u, SOURCE_UNWRITTEN, errno, name);
    close(fd);
    return failed;
}

static int make_dir(struct unpacking *u, int parent, const char *last, const char *name, mode_t mode)
{
    if (mkdirat(parent, last, 0700) && errno != EEXIST)
        return fail(u, SOURCE_UNWRITTEN, errno, name);
    int fd = openat(parent, last, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return fail(u, SOURCE_ENTRY_OUTSIDE, errno, name);
    int failed = fchmod(fd, (mode & 0777) | 0700) ? fail(u, SOURCE_UNWRITTEN, errno, name) : 0;
    close(fd);
    return failed;
}

static int make_symlink(struct unpacking *u, int parent, const char *last, const char *name,
                        const char *target)
{
    if (!target || !entry_link_is_inside(name, target))
        return fail(u, SOURCE_ENTRY_OUTSIDE, 0, name);
    return symlinkat(target, parent, last) ? fail(u, SOURCE_UNWRITTEN, errno, name) : 0;
}

/** To a regular file that came before. */
static int make_hardlink(struct unpacking *u, int parent, const char *last, const char *name,
                         const char *target)
{
    const char *target_last;
    struct stat st;
    mem_auto char *clean = entry_name(target, u->f);
    int from = clean ? entry_open_parent(u->top, clean, &target_last, u->f) : -1;

    if (from < 0)
        return fail(u, SOURCE_ENTRY_OUTSIDE, 0, name);
    bool is_file = !fstatat(from, target_last, &st, AT_SYMLINK_NOFOLLOW) && S_ISREG(st.st_mode);
    int failed = !is_file                                     ? fail(u, SOURCE_ENTRY_OUTSIDE, 0, name)
                 : linkat(from, target_last, parent, last, 0) ? fail(u, SOURCE_UNWRITTEN, errno, name)
                                                              : 0;
    close(from);
    return failed;
}

/** An entry that comes again replaces what it was, but no directory. */
static void make_room(int parent, const char *last)
{
    unlinkat(parent, last, 0);
}

static int make_entry(struct unpacking *u, struct archive_entry *e, int parent, const char *last,
                      const char *name)
{
    mode_t mode = archive_entry_perm(e);
    const char *hardlink = archive_entry_hardlink(e);

    if (archive_entry_filetype(e) != AE_IFDIR && !hardlink)
        make_room(parent, last);
    if (hardlink)
        return make_hardlink(u, parent, last, name, hardlink);
    switch (archive_entry_filetype(e)) {
    case AE_IFREG: return make_file(u, parent, last, name, mode);
    case AE_IFDIR: return make_dir(u, parent, last, name, mode);
    case AE_IFLNK: return make_symlink(u, parent, last, name, archive_entry_symlink(e));
    default: return fail(u, SOURCE_ENTRY_KIND, 0, name);
    }
}

static int unpack_entry(struct unpacking *u, struct archive_entry *e)
{
    const char *said = archive_entry_pathname(e), *last;

    if (u->left->max_entries-- <= 0)
        return fail(u, SOURCE_ENTRIES, 0, said);
    if (!said)
        return fail(u, SOURCE_ENTRY_NAME, 0, "(not UTF-8)");
    mem_auto char *name = entry_name(said, u->f);
    if (!name)
        return -1;
    if (!*name)
        return archive_entry_filetype(e) == AE_IFDIR ? 0 : fail(u, SOURCE_ENTRY_NAME, 0, said);
    int parent = entry_open_parent(u->top, name, &last, u->f);
    if (parent < 0)
        return -1;
    int failed = make_entry(u, e, parent, last, name);
    close(parent);
    return failed;
}

/* ---- the whole ---- */

static int unpack_all(struct unpacking *u, int from)
{
    struct archive_entry *e;
    int r;

    if (archive_read_open_fd(u->archive, from, BLOCK_BYTES) != ARCHIVE_OK)
        return no_archive(u);
    while ((r = archive_read_next_header(u->archive, &e)) == ARCHIVE_OK || r == ARCHIVE_WARN)
        if (unpack_entry(u, e))
            return -1;
    return r == ARCHIVE_EOF ? 0 : no_archive(u);
}

int localizer_unpack(int from, int to, struct unpack_limits *left, struct source_fault *f)
{
    struct stat st;
    struct unpacking u = {.archive = archive_read_new(), .top = to, .left = left, .f = f};
    int64_t floor = RATIO_FLOOR;

    if (!u.archive || fstat(from, &st)) {
        archive_read_free(u.archive);
        return localizer_fault(f, SOURCE_UNREAD, errno);
    }
    if (__builtin_mul_overflow((int64_t)st.st_size, left->max_ratio, &u.ratio_left))
        u.ratio_left = INT64_MAX;
    u.ratio_left = u.ratio_left < floor ? floor : u.ratio_left;
    archive_read_support_filter_gzip(u.archive);
    archive_read_support_filter_bzip2(u.archive);
    archive_read_support_filter_xz(u.archive);
    archive_read_support_filter_zstd(u.archive);
    archive_read_support_format_tar(u.archive);
    archive_read_support_format_zip(u.archive);
    int failed = unpack_all(&u, from);
    archive_read_free(u.archive);
    return failed;
}
