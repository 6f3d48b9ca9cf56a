/**
 * Where a file is, by the words of a caller: on this host, on a web server, or in HDFS.
 *
 *   /a/b, file:///a/b                              FS_FILE   path "/a/b"
 *   http://host/a, https://host/a                  FS_WEB    path is the URL
 *   hdfs://ns/a, webhdfs://…, swebhdfs://…, a      FS_HDFS   path "hdfs://ns/a"; urls: http://nn1:9870/webhdfs/v1/a, one for each NameNode
 *
 * HDFS is reached by its REST API. The URI names the NameNode's port for Java clients; that of HTTP is in Hadoop's configuration.
 * Pure.   Thread: any.   Source: Hadoop's Path, DFSUtil.getInfoServer, hdfs-default.xml.
 */
#ifndef FS_PLACE_H
#define FS_PLACE_H

#include <stdbool.h>
#include <stddef.h>

#include "bobbin/error.h"

/** Families of keys: they end in the name of a nameservice, and most in that of a NameNode of it, ".ns.nn1". */
#define FS_HA_NAMENODES_FAMILY  "dfs.ha.namenodes."
#define FS_HTTP_ADDRESS_FAMILY  "dfs.namenode.http-address."
#define FS_HTTPS_ADDRESS_FAMILY "dfs.namenode.https-address."
#define FS_RPC_ADDRESS_FAMILY   "dfs.namenode.rpc-address."

/** Of one nameservice; further ones are not asked. */
#define FS_NAMENODES_MAX 8
/** Of a path in HDFS, in bytes. Source: MAX_PATH_LENGTH of its NameNode. */
#define FS_PATH_MAX 8000

struct options; /* of the program, or of a test: only get knows them */

/** Hadoop's configuration. */
struct fs_conf {
    /** Text of a key, or NULL: it has none. Borrowed. The function may be NULL: no key is set. */
    const char *(*get)(const struct options *o, const char *key);
    const struct options *options;
};

enum fs_kind { FS_FILE, FS_WEB, FS_HDFS };

/**
 * A place. Its strings are owned; release with fs_place_fini.
 *
 *   path  FS_FILE: absolute; FS_WEB: the URL; FS_HDFS: URI with authority and absolute path, nothing escaped
 *   urls  FS_HDFS: the path in WebHDFS, escaped, without a query; in the order of the configuration
 */
struct fs_place {
    enum fs_kind kind;
    char *path;
    char **urls;
    size_t n_urls;
};

/**
 * Read what a caller has named. Of HDFS the text behind the authority is the path as it stands, as in Hadoop's Path: nothing is
 * unescaped. A path without scheme is one of the host when it is absolute; else it lies in /user/USER of fs.defaultFS, if that is HDFS.
 *
 * @param conf  of Hadoop                                                            [borrowed]
 * @param uri   of a caller                                                          [borrowed]
 * @param user  whose home a relative path begins at                                 [borrowed]
 * @param out   filled on success, empty before                                      [out]
 * @return 0; ERR_INVALID: it is none of these; ERR_CONFIG: it is one of HDFS, and the configuration does not name its NameNode, or
 *         names it wrongly.   Thread: any.   Source: ours; Hadoop's keys of the families above.
 */
int fs_place_read(const struct fs_conf *conf, const char *uri, const char *user, struct fs_place *out,
                  struct err_info *why);
/** Release the strings; *p is empty afterwards. Thread: any. */
void fs_place_fini(struct fs_place *p);
/** It is a URI of HDFS, in any of its three schemes. Thread: any. */
bool fs_is_hdfs(const char *uri);
/** By its name it is an archive that is unpacked: .zip, .tgz, .tar or .tar.gz in any case. Thread: any.   Source: framework-launcher 12.3; Hadoop's FSDownload. */
bool fs_is_archive(const char *uri);

#endif
