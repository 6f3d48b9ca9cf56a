/**
 * Slider's application packages: a zip file with metainfo.json or metainfo.xml at its top. What comes out is the document that svcmgr
 * takes beside an application's three others:
 *
 *     { "name": "MEMCACHED", "version": "1.0",
 *       "components": { "SERVER": { "exec": "/usr/bin/memcached", "min": 1, "max": 4, "category": "MASTER" } },
 *       "configFiles": { "site": { "type": "PROPERTIES", "fileName": "site.properties" } },
 *       "files": [ { "type": "ARCHIVE", "src_file": "/opt/memcached.zip", "dest_file": "definition" } ] }
 *
 * The package is read with the rights of whoever calls. Content of other entries than metainfo is not looked at.
 *
 * Thread: main.   Source: Slider's application packages, metainfo 2.0 and 2.1; slider-am 4.6 (V8, V9), 4.7.
 */
#ifndef CLI_PACKAGE_PACKAGE_H
#define CLI_PACKAGE_PACKAGE_H

#include <jansson.h>
#include <stdbool.h>

#include "base/buf.h"
#include "bobbin/error.h"

/** Bytes of metainfo, packed or not. */
#define PACKAGE_METAINFO_MAX ((size_t)4 << 20)
/** Entries of a package, components of its metainfo. */
#define PACKAGE_ENTRIES_MAX    100000
#define PACKAGE_COMPONENTS_MAX 1000
/** Option of the application configuration that says what a component runs when its package does not. */
#define PACKAGE_COMMAND "launch_command"

/**
 * Read a package.
 *
 * @param path      zip file                                                          [borrowed]
 * @param app_conf  application configuration: a component with launch_command there needs no command in the package; NULL: none [borrowed]
 * @param out       the document above                                                [out, new reference]
 * @param warnings  a line for each part that has no effect here                      [in,out]
 * @return 0; ERR_IO: it cannot be read; ERR_TOOBIG: more than the limits; ERR_PARSE, ERR_JSON: it is malformed; ERR_INVALID: a
 *         member has no value that it may have; ERR_UNSUPPORTED: it needs Slider's agent. *why names the part and the remedy; *out
 *         is unchanged.
 */
int package_read(const char *path, const json_t *app_conf, json_t **out, struct buf *warnings,
                 struct err_info *why);

#endif
