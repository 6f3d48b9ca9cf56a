/* What the host of a local cluster declares for placement: resource types, node attributes, its label. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "cluster/local_devices.h"
#include "spec/needs.h"
#include "svcmgr/app.h"
#include "svcmgr/options.h"

#define HOST_MAGIC OBJ_MAGIC('H', 'O', 'S', 'T')

struct host_reader {
    struct obj obj;
    struct spec_host *host;
    struct buf devices, parts; /* lines of types; the parts of all of them */
    const struct options *options;
    struct opt_report *report; /* NULL: it was read before, and is good */
};

static void refuse(const struct host_reader *r, const char *key, const char *text, const char *what)
{
    struct err_info why;

    err_set(&why, ERR_CONFIG, key, "\"%s\" is %s", text, what);
    if (r->report)
        opt_error(r->options, key, &why, r->report);
}

/** yarn.nodemanager.resource-type.yarn.io/gpu = 4 */
static void on_type(void *arg, const char *key, const char *text)
{
    const struct host_reader *r = obj_cast(arg, struct host_reader, HOST_MAGIC);
    const char *type = key + strlen(SVCMGR_TYPE_FAMILY);
    int64_t n = spec_amount_read(text);
    struct spec_needs *types = r->host->types;

    if (n < 0 || !type[0] || strcspn(type, "=,\n") != strlen(type)) {
        refuse(r, key, text, "no amount of a resource type, as 4 or 2Ki");
        return;
    }
    types = types ? types : mem_new(struct spec_needs);
    types->amounts = mem_resize(types->amounts, types->n_amounts + 1, sizeof types->amounts[0]);
    types->amounts[types->n_amounts++] = (struct spec_amount){mem_str(type), n, 0};
    r->host->types = types;
}

/** "os,STRING,linux" */
static bool add_attribute(json_t *attributes, char *text)
{
    char *rest = text, *name = strsep(&rest, ","), *type = strsep(&rest, ",");

    if (!rest || !name[0] || strcmp(type, "STRING") != 0)
        return false;
    return json_object_set_new(attributes, name, json_string(rest)) == 0;
}

static void read_attributes(const struct host_reader *r)
{
    const char *text = opt_text(r->options, OPT_ATTRIBUTES);
    mem_auto char *copy = mem_str(text);
    char *rest = copy, *one;

    if (!text || !text[0])
        return;
    r->host->attributes = json_object();
    while ((one = strsep(&rest, ":"))) {
        if (!add_attribute(r->host->attributes, one)) {
            refuse(r, "yarn.nodemanager.node-attributes.provider.configured-node-attributes", text,
                   "no list of NAME,STRING,VALUE with colons between them");
            return;
        }
    }
}

void app_host_read(const struct options *o, struct opt_report *report, struct spec_host *out)
{
    struct host_reader r = {.obj = {HOST_MAGIC}, .host = out, .options = o, .report = report};

    *out = (struct spec_host){.partition = mem_str(opt_text(o, OPT_LABEL))};
    opt_each_other(o, SVCMGR_TYPE_FAMILY, on_type, &r);
    read_attributes(&r);
}

static int64_t declared(const struct spec_host *host, const char *type)
{
    for (size_t i = 0; host->types && i < host->types->n_amounts; i++)
        if (!strcmp(host->types->amounts[i].type, type))
            return host->types->amounts[i].n;
    return 0;
}

/** yarn.service.local.devices.yarn.io/gpu = /dev/nvidia0,/dev/nvidia1 */
static void on_devices(void *arg, const char *key, const char *text)
{
    struct host_reader *r = obj_cast(arg, struct host_reader, HOST_MAGIC);
    const char *type = key + strlen(SVCMGR_DEVICES_FAMILY);
    size_t n = local_devices_count(text);

    if (!n) {
        refuse(r, key, text,
               "no list of different devices: absolute paths with commas between them, or with '+' where "
               "several "
               "belong together");
        return;
    }
    if ((int64_t)n != declared(r->host, type)) {
        refuse(r, key, text, "not as many devices as " SVCMGR_TYPE_FAMILY "… declares of this type");
        return;
    }
    buf_addf(&r->parts, "%s%s", r->parts.len ? "," : "", text);
    if (r->parts.len > LOCAL_DEVICES_MAX || !local_devices_count(buf_cstr(&r->parts))) {
        refuse(r, key, text, "too long, or has a device of another type");
        return;
    }
    buf_addf(&r->devices, "%s=%s\n", type, text);
}

char *app_host_devices(const struct options *o, struct opt_report *report, const struct spec_host *host)
{
    struct spec_host seen = *host; /* Nothing is added to it. */
    struct host_reader r = {.obj = {HOST_MAGIC}, .host = &seen, .options = o, .report = report};

    opt_each_other(o, SVCMGR_DEVICES_FAMILY, on_devices, &r);
    buf_fini(&r.parts);
    return r.devices.len ? buf_take(&r.devices) : mem_str("");
}

void app_host_fini(struct spec_host *host)
{
    spec_needs_free(host->types);
    json_decref(host->attributes);
    free(host->partition);
    *host = (struct spec_host){0};
}
