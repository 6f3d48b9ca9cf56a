/* Bytes of a node in the LMDB file. */
#include "store/lmdb/node.h"

#include <endian.h>
#include <errno.h>
#include <lmdb.h>
#include <string.h>

enum {
    NODE_FORMAT = 1,
    AT_FORMAT = 0,
    AT_VERSION = 4,
    AT_CVERSION = 8,
    AT_AVERSION = 12,
    AT_N_CHILDREN = 16,
    AT_ACL_LEN = 20,
    AT_CZXID = 24,
    AT_MZXID = 32,
    AT_PZXID = 40,
    AT_CTIME = 48,
    AT_MTIME = 56,
    NODE_HEAD = 64
};

void lmdb_put_le64(void *out, uint64_t n)
{
    n = htole64(n);
    memcpy(out, &n, sizeof n);
}

uint64_t lmdb_get_le64(const void *bytes)
{
    uint64_t n;
    memcpy(&n, bytes, sizeof n);
    return le64toh(n);
}

void lmdb_put_be64(void *out, uint64_t n)
{
    n = htobe64(n);
    memcpy(out, &n, sizeof n);
}

uint64_t lmdb_get_be64(const void *bytes)
{
    uint64_t n;
    memcpy(&n, bytes, sizeof n);
    return be64toh(n);
}

static void put_le32(char *out, uint32_t n)
{
    n = htole32(n);
    memcpy(out, &n, sizeof n);
}

static uint32_t get_le32(const char *bytes)
{
    uint32_t n;
    memcpy(&n, bytes, sizeof n);
    return le32toh(n);
}

int lmdb_node_read(const void *bytes, size_t len, struct lmdb_node *n)
{
    const char *head = bytes;
    if (len < NODE_HEAD || len > UINT32_MAX || get_le32(head + AT_FORMAT) != NODE_FORMAT)
        return ERR_IO;
    size_t acl_len = get_le32(head + AT_ACL_LEN);
    if (acl_len > len - NODE_HEAD)
        return ERR_IO;
    *n = (struct lmdb_node){
        .stat =
            {
                .czxid = (int64_t)lmdb_get_le64(head + AT_CZXID),
                .mzxid = (int64_t)lmdb_get_le64(head + AT_MZXID),
                .pzxid = (int64_t)lmdb_get_le64(head + AT_PZXID),
                .ctime_ms = (int64_t)lmdb_get_le64(head + AT_CTIME),
                .mtime_ms = (int64_t)lmdb_get_le64(head + AT_MTIME),
                .version = (int32_t)get_le32(head + AT_VERSION),
                .cversion = (int32_t)get_le32(head + AT_CVERSION),
                .n_children = (int32_t)get_le32(head + AT_N_CHILDREN),
                .data_len = (uint32_t)(len - NODE_HEAD - acl_len),
            },
        .aversion = (int32_t)get_le32(head + AT_AVERSION),
        .acl_bytes = head + NODE_HEAD,
        .acl_len = acl_len,
        .data = head + NODE_HEAD + acl_len,
    };
    return 0;
}

void lmdb_node_write(const struct lmdb_node *n, struct buf *out)
{
    buf_clear(out);
    char *head = buf_room(out, NODE_HEAD);
    put_le32(head + AT_FORMAT, NODE_FORMAT);
    put_le32(head + AT_VERSION, (uint32_t)n->stat.version);
    put_le32(head + AT_CVERSION, (uint32_t)n->stat.cversion);
    put_le32(head + AT_AVERSION, (uint32_t)n->aversion);
    put_le32(head + AT_N_CHILDREN, (uint32_t)n->stat.n_children);
    put_le32(head + AT_ACL_LEN, (uint32_t)n->acl_len);
    lmdb_put_le64(head + AT_CZXID, (uint64_t)n->stat.czxid);
    lmdb_put_le64(head + AT_MZXID, (uint64_t)n->stat.mzxid);
    lmdb_put_le64(head + AT_PZXID, (uint64_t)n->stat.pzxid);
    lmdb_put_le64(head + AT_CTIME, (uint64_t)n->stat.ctime_ms);
    lmdb_put_le64(head + AT_MTIME, (uint64_t)n->stat.mtime_ms);
    out->len += NODE_HEAD;
    buf_add(out, n->acl_bytes, n->acl_len);
    if (n->stat.data_len)
        buf_add(out, n->data, n->stat.data_len);
}

void lmdb_acl_write(const struct store_acl *acl, struct buf *out)
{
    for (size_t i = 0; i < acl->n_entries; i++) {
        const struct store_acl_entry *entry = &acl->entries[i];
        put_le32(buf_room(out, 4), entry->perms);
        out->len += 4;
        buf_add(out, entry->scheme, strlen(entry->scheme) + 1);
        buf_add(out, entry->id, strlen(entry->id) + 1);
    }
}

/** Step over a NUL-terminated text inside [*at, end). @return a copy in the arena, or NULL: no NUL there. */
static const char *text_take(const char **at, const char *end, struct arena *a)
{
    const char *text = *at;
    size_t room = (size_t)(end - text);
    size_t len = strnlen(text, room);
    if (len == room)
        return NULL;
    *at += len + 1;
    return arena_strn(a, text, len);
}

int lmdb_acl_read(const char *bytes, size_t len, struct arena *a, struct store_acl *out)
{
    const char *at = bytes, *end = bytes + len;
    /* An entry has six bytes at least. */
    struct store_acl_entry *entries = arena_alloc(a, (len / 6 + 1) * sizeof *entries);
    size_t n_entries = 0;
    while (at < end) {
        if (end - at < 6)
            return ERR_IO;
        struct store_acl_entry *entry = &entries[n_entries++];
        entry->perms = get_le32(at);
        at += 4;
        entry->scheme = text_take(&at, end, a);
        entry->id = entry->scheme ? text_take(&at, end, a) : NULL;
        if (!entry->id)
            return ERR_IO;
    }
    *out = (struct store_acl){entries, n_entries};
    return 0;
}

int lmdb_err(int rc)
{
    switch (rc) {
    case 0: return 0;
    case MDB_MAP_FULL:
    case MDB_TXN_FULL:
    case ENOSPC:
    case EDQUOT:
    case EFBIG: return ERR_NOSPC;
    default: return ERR_IO;
    }
}
