/* Without a fuzzer: every file of the named folders, whole and cut at every octet, in a block of exactly its size. */
#include "fuzz.h"

#include <dirent.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"

static void read_file(const char *path, struct buf *out)
{
    FILE *in = fopen(path, "re");
    if (!in) {
        perror(path);
        exit(2);
    }
    for (size_t n = 1; n;) {
        n = fread(buf_room(out, 4096), 1, 4096, in);
        out->len += n;
    }
    fclose(in);
}

static void replay(const struct buf *b)
{
    for (size_t len = 0; len <= b->len; len++) {
        uint8_t *exact = mem_zalloc(len ? len : 1);
        if (len)
            memcpy(exact, b->bytes, len);
        LLVMFuzzerTestOneInput(exact, len);
        free(exact);
    }
}

static unsigned replay_folder(const char *folder)
{
    unsigned n_files = 0;
    DIR *dir = opendir(folder);
    if (!dir) {
        perror(folder);
        exit(2);
    }
    for (struct dirent *e; (e = readdir(dir));) {
        if (e->d_name[0] == '.')
            continue;
        mem_auto char *path = mem_fmt("%s/%s", folder, e->d_name);
        buf_auto struct buf b = BUF_EMPTY;
        read_file(path, &b);
        printf("%s: %zu octets\n", path, b.len);
        fflush(stdout);
        replay(&b);
        n_files++;
    }
    closedir(dir);
    return n_files;
}

int main(int argc, char **argv)
{
    unsigned n_files = 0;
    for (int i = 1; i < argc; i++)
        n_files += replay_folder(argv[i]);
    printf("%u files\n", n_files);
    return n_files ? 0 : 1;
}
