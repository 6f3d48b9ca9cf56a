/*
 * Slider's packages: any bytes as metainfo.xml and as metainfo.json. What is taken is the document that svcmgr takes, each component with what
 * it runs; a refusal is one line, and names the metainfo.
 */
#include "fuzz.h"

#include <string.h>

#include "base/mem.h"
#include "json/json.h"
#include "package/parts.h"

#define WHERE "p.zip: metainfo"

static void check_refusal(int err, const struct err_info *why)
{
    FUZZ_HOLDS(err == ERR_PARSE || err == ERR_JSON || err == ERR_TOOBIG || err == ERR_INVALID ||
               err == ERR_UNSUPPORTED);
    FUZZ_HOLDS(why->code == err && why->text[0] && !strpbrk(why->text, "\r\n") &&
               !strpbrk(why->where, "\r\n"));
    FUZZ_HOLDS(strncmp(why->where, WHERE, strlen(WHERE)) == 0);
}

static void check_package(const json_t *package)
{
    const json_t *components = json_object_get(package, "components"),
                 *files = json_object_get(package, "configFiles");
    const char *name;
    json_t *value;

    FUZZ_HOLDS(json_is_string(json_object_get(package, "name")));
    FUZZ_HOLDS(json_is_object(components) && json_object_size(components) <= PACKAGE_COMPONENTS_MAX);
    json_object_foreach((json_t *)(uintptr_t)components, name, value)
        FUZZ_HOLDS(name[0] && json_is_object(value));
    FUZZ_HOLDS(json_is_object(files));
    json_object_foreach((json_t *)(uintptr_t)files, name, value)
    {
        const char *file = json_string_value(json_object_get(value, "fileName"));
        FUZZ_HOLDS(name[0] && file && file[0] && json_is_string(json_object_get(value, "type")));
    }
}

/** With and without commands of the application configuration. */
static void read_as(const struct buf *text, bool is_xml, const json_t *app_conf)
{
    json_auto json_t *package = json_object();
    buf_auto struct buf warnings = BUF_EMPTY;
    struct err_info why = {0};
    const struct package_reading r = {WHERE, app_conf, &warnings, &why};
    int err = package_metainfo_read(&r, text, is_xml, package);

    if (err)
        check_refusal(err, &why);
    else
        check_package(package);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    buf_auto struct buf text = BUF_EMPTY;
    json_auto json_t *app_conf = json_pack("{s:{s:s}}", "global", PACKAGE_COMMAND, "run");

    if (size > PACKAGE_METAINFO_MAX)
        return 0;
    buf_add(&text, (const char *)data, size);
    read_as(&text, true, NULL);
    read_as(&text, true, app_conf);
    read_as(&text, false, NULL);
    read_as(&text, false, app_conf);
    return 0;
}
