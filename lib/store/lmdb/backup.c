#include "store/lmdb/backup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/obj.h"
#include "base/path.h"
#include "run/file.h"
#include "store/lmdb/meta.h"

/** Room of the copy's map beyond its file, in bytes: for the one change that is made in it. */
#define MAP_MARGIN ((size_t)16 << 20)

static int lmdb_fail(struct err_info *why, int rc, const char *dir)
{
    return rc ? err_set(why, lmdb_err(rc), dir, "cannot write the backup: %s", mdb_strerror(rc)) : 0;
}

static int os_fail(struct err_info *why, const char *path, const char *what)
{
    int code = errno == EEXIST ? ERR_EXISTS : errno == ENOSPC || errno == EDQUOT ? ERR_NOSPC : ERR_IO;
    return err_set(why, code, path, "cannot %s: %s", what, strerror(errno));
}

/** Make what was written to files of a directory, and their names, durable. */
static int dir_sync(const char *dir, struct err_info *why)
{
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int rc = fd < 0 ? -1 : fsync(fd);
    int err = rc ? os_fail(why, dir, "sync the directory") : 0;
    if (fd >= 0)
        close(fd);
    return err;
}

/** @return result of LMDB. */
static int id_renew(MDB_env *env)
{
    struct lmdb_tree copy = {.env = env};
    MDB_txn *txn = NULL;
    uint64_t id = 0;
    BUG_IF(getrandom(&id, sizeof id, 0) != (ssize_t)sizeof id);
    int rc = mdb_txn_begin(env, NULL, 0, &txn);
    if (rc)
        return rc;
    rc = mdb_dbi_open(txn, "meta", 0, &copy.meta);
    if (!rc)
        rc = lmdb_meta_put(&copy, txn, "store_id", id);
    if (!rc)
        return mdb_txn_commit(txn);
    mdb_txn_abort(txn);
    return rc;
}

/** Give the copy an id of its own; its commit makes the whole file durable. */
static int copy_rename(const char *dir, struct err_info *why)
{
    mem_auto char *file = mem_fmt("%s/data.mdb", dir);
    mem_auto char *lock = mem_fmt("%s/lock.mdb", dir);
    struct stat st;
    MDB_env *env = NULL;
    if (stat(file, &st))
        return os_fail(why, file, "read the copy");
    int rc = mdb_env_create(&env);
    if (rc)
        return lmdb_fail(why, rc, dir);
    rc = mdb_env_set_maxdbs(env, 3);
    if (!rc)
        rc = mdb_env_set_mapsize(env, (size_t)st.st_size + MAP_MARGIN);
    if (!rc)
        rc = mdb_env_open(env, dir, MDB_NOTLS, 0600);
    if (!rc)
        rc = id_renew(env);
    mdb_env_close(env);
    if (!rc && unlink(lock) && errno != ENOENT)
        return os_fail(why, lock, "remove the lock");
    return lmdb_fail(why, rc, dir);
}

static void partial_remove(const char *dir)
{
    static const char *const files[] = {"data.mdb", "lock.mdb"};
    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        mem_auto char *path = mem_fmt("%s/%s", dir, files[i]);
        unlink(path);
    }
    rmdir(dir);
}

/** Fill the directory `partial` and let it appear as dir. */
static int copy_make(const struct lmdb_tree *tree, const char *partial, const char *dir, struct err_info *why)
{
    int err = lmdb_fail(why, mdb_env_copy2(tree->env, partial, MDB_CP_COMPACT), dir);
    err = err ? err : copy_rename(partial, why);
    err = err ? err : dir_sync(partial, why);
    if (!err && renameat2(AT_FDCWD, partial, AT_FDCWD, dir, RENAME_NOREPLACE))
        err = os_fail(why, dir, "make the directory");
    return err;
}

int lmdb_backup(const struct lmdb_tree *tree, const char *dir, struct err_info *why)
{
    mem_auto char *partial = mem_fmt("%s.partial", dir);
    mem_auto char *above = path_parent(dir);
    int err = file_make_dir(above, 0700, why);
    if (err)
        return err;
    if (access(dir, F_OK) == 0) {
        errno = EEXIST;
        return os_fail(why, dir, "make the directory");
    }
    if (mkdir(partial, 0700))
        return os_fail(why, partial, "make the directory");
    err = copy_make(tree, partial, dir, why);
    if (err)
        partial_remove(partial);
    return err ? err : dir_sync(above, why);
}
