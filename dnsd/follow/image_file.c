#include "follow/image_file.h"
#include "base/mem.h"
#include "base/obj.h"
#include "run/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/** The file holds the secret of the hash of names. */
#define IMAGE_MODE 0600

#define RELEASE_MAGIC OBJ_MAGIC('I', 'M', 'G', 'R')
#define TARGET_MAGIC  OBJ_MAGIC('I', 'M', 'G', 'T')

/** Where an image is written to. */
struct target {
    struct obj obj;
    struct file_out *file;
};

static int on_octets(void *arg, const void *bytes, size_t len)
{
    return file_out_put(obj_cast(arg, struct target, TARGET_MAGIC)->file, bytes, len);
}

_Static_assert(sizeof(((struct zone_image_about *)0)->boot) == sizeof(((struct timestamp *)0)->boot),
               "both hold a boot id");

struct zone_image_about image_file_about(const struct timestamp *made, uint64_t likeness, uint64_t n_records)
{
    struct zone_image_about about = {.made_ms = (uint64_t)made->wall_ms,
                                     .likeness = likeness,
                                     .n_records = n_records,
                                     .boot_ms = made->boot_ms};
    memcpy(about.boot, made->boot, sizeof about.boot);
    return about;
}

int64_t image_file_age_ms(const struct zone_image_about *about)
{
    struct timestamp made = {.wall_ms = (int64_t)about->made_ms, .boot_ms = about->boot_ms}, now;
    memcpy(made.boot, about->boot, sizeof made.boot);
    timestamp_ago(0, &now);
    return timestamp_age_ms(&made, &now);
}

int image_file_write(const char *path, const struct zone_version *v, const struct zone_image_about *about,
                     struct err_info *why)
{
    struct target target = {{TARGET_MAGIC}, file_out_open(path, IMAGE_MODE, why)};
    struct zone_image_sink sink = {on_octets, &target};
    if (!target.file)
        return why->code;
    zone_image_write(v, about, &sink); /* file_out_end returns what went wrong */
    return file_out_end(target.file, why);
}

/* ---- release: the kernel takes longer to unmap hundreds of megabytes than a turn of the loop may last ---- */

struct release {
    struct obj obj;
    uv_work_t work;
    uint8_t *bytes;
    size_t len;
};

static void run_release(uv_work_t *work)
{
    struct release *r = obj_cast(work->data, struct release, RELEASE_MAGIC);
    BUG_IF(munmap(r->bytes, r->len));
}

static void on_released(uv_work_t *work, int status)
{
    struct release *r = obj_cast(work->data, struct release, RELEASE_MAGIC);
    BUG_IF(status);
    obj_fini(&r->obj);
    free(r);
}

static void release(void *arg, uint8_t *bytes, size_t len)
{
    struct release *r = mem_new(struct release);
    obj_init(&r->obj, RELEASE_MAGIC);
    r->work.data = r;
    r->bytes = bytes;
    r->len = len;
    BUG_IF(uv_queue_work(run_loop_uv(arg), &r->work, run_release, on_released));
}

/* ---- reading ---- */

static int read_all(int fd, uint8_t *bytes, size_t len)
{
    while (len) {
        ssize_t n = read(fd, bytes, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return ERR_IO;
        bytes += n;
        len -= (size_t)n;
    }
    return 0;
}

/* The octets of a file, copied: a mapped file can shrink under its readers. */
static uint8_t *copy_file(int fd, size_t len)
{
    uint8_t *bytes = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (bytes == MAP_FAILED)
        return NULL;
    madvise(bytes, len, MADV_HUGEPAGE); /* fails where there are none: small pages will do */
    if (read_all(fd, bytes, len) == 0)
        return bytes;
    munmap(bytes, len);
    return NULL;
}

static int read_open(struct run_loop *loop, const char *path, int fd, struct zone_image **image,
                     struct err_info *why)
{
    struct stat st;
    if (fstat(fd, &st) || !S_ISREG(st.st_mode))
        return err_set(why, ERR_IO, path, "the image cannot be read: it is no regular file");
    if (st.st_size > FILE_MAX_BYTES)
        return err_set(why, ERR_TOOBIG, path, "the image is larger than 4 GiB");
    struct zone_image_memory memory = {.bytes = st.st_size ? copy_file(fd, (size_t)st.st_size) : NULL,
                                       .len = (size_t)st.st_size,
                                       .release = release,
                                       .arg = loop};
    if (st.st_size && !memory.bytes)
        return err_set(why, ERR_IO, path, "the image cannot be read: %s", strerror(errno));
    *image = st.st_size ? zone_image_read(&memory) : NULL;
    if (*image)
        return 0;
    if (memory.bytes)
        munmap(memory.bytes, memory.len);
    return err_set(why, ERR_PARSE, path, "the image is damaged or of another version; it is left alone");
}

int image_file_read(struct run_loop *loop, const char *path, struct zone_image **image, struct err_info *why)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return errno == ENOENT
                   ? err_set(why, ERR_NOTFOUND, path, "there is no such file")
                   : err_set(why, ERR_IO, path, "the image cannot be opened: %s", strerror(errno));
    int err = read_open(loop, path, fd, image, why);
    close(fd);
    return err;
}
