/** A package as a document: see package.h. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/str.h"
#include "json/json.h"
#include "package/parts.h"

/** Where the files of a package are in the working directory of a container. */
#define DEFINITION "definition"

/* ---- configuration files ---- */

/** Types of configuration files: Slider's, ours. */
static const struct {
    const char *theirs, *ours;
} types[] = {{"xml", "XML"},
             {"hadoop-xml", "HADOOP_XML"},
             {"properties", "PROPERTIES"},
             {"json", "JSON"},
             {"yaml", "YAML"},
             {"template", "TEMPLATE"},
             {"env", "ENV"}};

static const char *type_of(const char *theirs)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcasecmp(types[i].theirs, theirs) == 0)
            return types[i].ours;
    return NULL;
}

static int take_config_file(const struct package_reading *r, const json_t *file, json_t *all)
{
    const char *type = package_text(file, "type"), *name = package_text(file, "fileName"),
               *dictionary = package_text(file, "dictionaryName");
    mem_auto char *place = mem_fmt("configFiles/%.100s", *name ? name : dictionary);

    if (!*name || !*dictionary)
        return package_refuse(r, ERR_INVALID, place, "fileName and dictionaryName are needed");
    if (!type_of(type))
        return package_refuse(r, ERR_UNSUPPORTED, place,
                              "type \"%.40s\" is not known: write xml, hadoop-xml, properties, json, yaml, "
                              "template or env",
                              type);
    json_object_set_new(all, dictionary, json_pack("{s:s, s:s}", "type", type_of(type), "fileName", name));
    return 0;
}

static int take_config_files(const struct package_reading *r, const json_t *application, json_t *out)
{
    const json_t *list, *file;
    json_t *all = json_object();
    size_t i;
    int rc = package_list(r, application, "application", "configFiles", &list);

    json_object_set_new(out, "configFiles", all);
    json_array_foreach(list, i, file)
    {
        rc = rc ? rc : take_config_file(r, file, all);
    }
    return rc;
}

/* ---- files ---- */

/** What the agent unpacks. */
static int refuse_packed(const struct package_reading *r, const json_t *object, const char *place)
{
    const json_t *list, *package;
    size_t i;
    int rc = package_list(r, object, place, "packages", &list);

    json_array_foreach(list, i, package)
    {
        const char *type = package_text(package, "type"), *name = package_text(package, "name");
        mem_auto char *here = mem_fmt("%s/packages/%.100s", place, name);
        bool is_packed = strcasecmp(type, "tarball") == 0 || strcasecmp(type, "zip") == 0;
        if (!rc && is_packed)
            rc = package_refuse(
                r, ERR_UNSUPPORTED, here,
                "a %.40s in the package is unpacked by Slider's agent, which does not exist here: put "
                "what it has into the package, all of which is in " DEFINITION "/ of the working directory",
                type);
    }
    return rc;
}

static int refuse_all_packed(const struct package_reading *r, const json_t *application)
{
    const json_t *list, *system;
    size_t i;
    int rc = refuse_packed(r, application, "application");

    rc = rc ? rc : package_list(r, application, "application", "osSpecifics", &list);
    if (rc)
        return rc;
    json_array_foreach(list, i, system)
    {
        rc = rc ? rc : refuse_packed(r, system, "application/osSpecifics");
    }
    return rc;
}

/** Where containers find the package: application.def, or where it is here. */
static void take_files(const struct package_reading *r, const char *path, json_t *out)
{
    const char *def = package_text(json_object_get(r->app_conf, "global"), "application.def");
    mem_auto char *here = realpath(path, NULL);
    const char *from = *def == '/' || strstr(def, ":/") ? def : here;

    if (from)
        json_object_set_new(
            out, "files",
            json_pack("[{s:s, s:s, s:s}]", "type", "ARCHIVE", "src_file", from, "dest_file", DEFINITION));
}

/* ---- the whole ---- */

static int take_application(const struct package_reading *r, const json_t *metainfo, json_t *out)
{
    const json_t *application = json_object_get(metainfo, "application"), *orders, *exports;
    const char *schema = package_text(metainfo, "schemaVersion"),
               *version = package_text(application, "version");
    json_t *components;

    if (!json_is_object(application))
        return package_refuse(r, ERR_INVALID, "application", "is missing: it says what the package runs");
    if (*schema && !str_starts(schema, "2."))
        return package_refuse(r, ERR_UNSUPPORTED, "schemaVersion", "%.40s is not 2.0 or 2.1", schema);
    json_object_set_new(out, "name", json_string(package_text(application, "name")));
    if (*version)
        json_object_set_new(out, "version", json_string(version));
    int rc = package_components(r, application, &components);
    if (!rc)
        json_object_set_new(out, "components", components);
    rc = rc ? rc : refuse_all_packed(r, application);
    rc = rc ? rc : take_config_files(r, application, out);
    rc = rc ? rc : package_list(r, application, "application", "commandOrders", &orders);
    rc = rc ? rc : package_list(r, application, "application", "exportGroups", &exports);
    if (!rc && orders)
        package_warn(r, "application/commandOrders",
                     "components start by their priority, not by these orders");
    if (!rc && exports)
        package_warn(r, "application/exportGroups",
                     "exports are made by Slider's agent: the publisher has none of them");
    return rc;
}

int package_metainfo_read(const struct package_reading *r, const struct buf *text, bool is_xml, json_t *out)
{
    json_auto json_t *metainfo = NULL;
    int rc = is_xml ? package_xml_read(text, r->where, &metainfo, r->why)
                    : json_read(text->bytes, text->len, &metainfo, r->why);

    if (rc && !is_xml) {
        const struct err_info inner = *r->why;
        return package_refuse(r, rc, inner.where, "%s", inner.text);
    }
    return rc ? rc : take_application(r, metainfo, out);
}

int package_read(const char *path, const json_t *app_conf, json_t **out, struct buf *warnings,
                 struct err_info *why)
{
    struct package_zip zip;
    json_auto json_t *package = json_object();
    int rc = package_zip_read(path, &zip, why);
    mem_auto char *where = mem_fmt("%s: metainfo.%s", path, zip.is_xml ? "xml" : "json");
    const struct package_reading r = {where, app_conf, warnings, why};

    rc = rc ? rc : package_metainfo_read(&r, &zip.metainfo, zip.is_xml, package);
    buf_fini(&zip.metainfo);
    if (rc)
        return rc;
    if (zip.has_files)
        take_files(&r, path, package);
    *out = json_incref(package);
    return 0;
}
