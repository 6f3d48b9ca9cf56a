/**
 * Registry paths: joining, checking, encoding, and the helper functions that name users, services and components.
 * Strings returned are new; free() them. Pure. Thread: any.   Source: Hadoop RegistryPathUtils, RegistryUtils.
 */
#ifndef BOBBIN_PATH_H
#define BOBBIN_PATH_H

#include <stddef.h>

#include "bobbin/error.h"

/** Longest label of a DNS name, bytes. */
#define REG_LABEL_MAX 63

enum reg_names {
    REG_NAMES_DNS,      /* what a write creates must be RFC 1123 labels of at most 63 bytes */
    REG_NAMES_ZOOKEEPER /* ZooKeeper's own rules only */
};

/** Join two paths as Hadoop's RegistryPathUtils.join: one '/' between, interior doubles kept. NULL when either is. */
char *reg_path_join(const char *base, const char *path);
/** join(base, path), then checked. @return 0 and *out; ERR_INVALID (NULL); ERR_PATH naming the path and the rule it
 *  breaks. */
int reg_path_full(const char *base, const char *path, char **out, struct err_info *why);
/** A caller's path as every operation takes it: "x", "/x" and "/x/" are "/x", "" is "/". @return 0 and *out; ERR_INVALID
 *  (NULL); ERR_PATH naming the path and the rule it breaks. */
int reg_path_normal(const char *path, char **out, struct err_info *why);
/** ZooKeeper's path rules on a whole path. @return 0; ERR_INVALID (NULL); ERR_PATH. */
int reg_path_check(const char *path, struct err_info *why);
/** One element of a path against the RFC 1123 rule and 63 bytes. @return 0 or ERR_PATH naming the element. */
int reg_path_check_element(const char *element, struct err_info *why);
/** Every element as RFC 1123 label (no length limit: Hadoop's validateElementsAsDNS). @return 0 or ERR_PATH. */
int reg_path_check_dns(const char *path, struct err_info *why);
/** Elements of a path, empty ones dropped, NULL-terminated. Free with reg_path_split_free. */
char **reg_path_split(const char *path, size_t *n);
/** Free such an array; NULL is fine. */
void reg_path_split_free(char **elements);
/** Last element or "". */
char *reg_path_last(const char *path);
/** Parent, absolute. @return 0 and *out; ERR_NOTFOUND for a path without elements. */
int reg_path_parent(const char *path, char **out, struct err_info *why);

/** IDNA-2003 ToASCII, label by label. @return 0 and *out; ERR_INVALID (empty label, label over 63, unassigned). */
int reg_encode(const char *name, char **out, struct err_info *why);
/** Container, application and attempt ids as path elements: container -> ctr, _ -> -. */
char *reg_encode_yarn_id(const char *id);
/** Lower case, cut at '@' and at '/'. */
char *reg_convert_user(const char *name);
/** registryUser: encode, convert, '_' to '-'. @return 0 and *out; ERR_INVALID. */
int reg_user(const char *name, char **out, struct err_info *why);
/** Current short user name: HADOOP_USER_NAME if set and not empty, else the login name. */
char *reg_current_user(void);

/** /users/{user}; "" gives "/services/"; what starts with /users/ is returned as it is. @return 0; ERR_INVALID. */
int reg_home_path(const char *user, char **out, struct err_info *why);
/** {home}/services/{class}. @return 0 and *out; ERR_INVALID (NULL, a user that cannot be encoded). */
int reg_class_path(const char *user, const char *service_class, char **out, struct err_info *why);
/** {home}/services/{class}/{service}. @return as reg_class_path. */
int reg_service_path(const char *user, const char *service_class, const char *service, char **out,
                     struct err_info *why);
/** {home}/services/{class}/{service}/components. @return as reg_class_path. */
int reg_components_path(const char *user, const char *service_class, const char *service, char **out,
                        struct err_info *why);
/** {home}/services/{class}/{service}/components/{component}. @return as reg_class_path. */
int reg_component_path(const char *user, const char *service_class, const char *service,
                       const char *component, char **out, struct err_info *why);
/** {home}/{class}/{service}, the form of Hadoop's registry design document; its programs use that of reg_service_path.
 *  @return as reg_class_path. */
int reg_design_service_path(const char *user, const char *service_class, const char *service, char **out,
                            struct err_info *why);
/** User of a path for DNS names: first `/users/` followed by [a-z][a-z0-9-.]*; else "anonymous". */
char *reg_path_user(const char *path);

#endif
