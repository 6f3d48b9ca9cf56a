/** The components of a package, and what of them needs Slider's agent: see parts.h. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/str.h"
#include "package/parts.h"

#define CLIENT "CLIENT" /* category of components that nobody runs */

const char *package_text(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text ? text : "";
}

int package_list(const struct package_reading *r, const json_t *object, const char *place, const char *key,
                 const json_t **out)
{
    const json_t *value = json_object_get(object, key);
    const char *text = json_string_value(value);
    size_t i;
    const json_t *item;
    mem_auto char *here = mem_fmt("%s/%s", place, key);

    *out = NULL;
    if (!value || json_is_null(value) || (text && !*text)) /* An empty element of XML is a text. */
        return 0;
    if (!json_is_array(value))
        return package_refuse(r, ERR_INVALID, here, "must be a list");
    json_array_foreach(value, i, item)
    {
        if (!json_is_object(item))
            return package_refuse(r, ERR_INVALID, here, "must be a list of objects");
    }
    *out = json_array_size(value) ? value : NULL;
    return 0;
}

void package_warn(const struct package_reading *r, const char *place, const char *text)
{
    buf_addf(r->warnings, "%s: %s: %s\n", r->where, place, text);
}

void package_one_line(char *text)
{
    for (; *text; text++)
        *text = (unsigned char)*text < 0x20 || *text == 0x7f ? ' ' : *text;
}

int package_refuse(const struct package_reading *r, int code, const char *place, const char *format, ...)
{
    mem_auto char *here = mem_fmt("%s: %s", r->where, place);
    char text[sizeof r->why->text];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    package_one_line(here);
    package_one_line(text);
    return err_set(r->why, code, here, "%s", text);
}

/** Whether the application configuration says what a component runs. */
static bool has_command(const struct package_reading *r, const char *name)
{
    const json_t *options = json_object_get(json_object_get(r->app_conf, "components"), name);

    return package_text(options, PACKAGE_COMMAND)[0] ||
           package_text(json_object_get(r->app_conf, "global"), PACKAGE_COMMAND)[0];
}

/* ---- commands ---- */

static int take_command(const struct package_reading *r, const json_t *command, const char *place,
                        json_t *out)
{
    const char *exec = package_text(command, "exec"), *name = package_text(command, "name"),
               *type = package_text(command, "type");

    name = *name ? name : "START";
    if (*type && strcasecmp(type, "SHELL") != 0)
        return package_refuse(
            r, ERR_UNSUPPORTED, place,
            "a command of type %.40s needs Slider's agent, which does not exist here: write "
            "it as a command of the shell",
            type);
    if (strcasecmp(name, "STOP") == 0) {
        package_warn(r, place, "STOP is not run: processes are stopped by SIGTERM, and SIGKILL later");
        return 0;
    }
    if (strcasecmp(name, "START") != 0)
        return package_refuse(r, ERR_UNSUPPORTED, place,
                              "%.40s is a command of Slider's agent, which does not exist here: do it in the "
                              "exec of START",
                              name);
    if (!*exec)
        return package_refuse(r, ERR_INVALID, place, "exec is missing: what the component runs");
    if (json_object_get(out, "exec"))
        return package_refuse(r, ERR_INVALID, place, "more than one command is START");
    json_object_set_new(out, "exec", json_string(exec));
    return 0;
}

static int take_commands(const struct package_reading *r, const json_t *component, const char *place,
                         json_t *out)
{
    mem_auto char *here = mem_fmt("%s/commands", place);
    const json_t *list, *command;
    size_t i;
    int rc = package_list(r, component, place, "commands", &list);

    json_array_foreach(list, i, command)
    {
        rc = rc ? rc : take_command(r, command, here, out);
    }
    return rc;
}

/** What only Slider's agent runs: a script, a container of Docker. */
static int refuse_agent(const struct package_reading *r, const json_t *component, const char *name,
                        const char *place)
{
    const json_t *script = json_object_get(component, "commandScript"), *docker;
    mem_auto char *script_place = mem_fmt("%s/commandScript", place);
    mem_auto char *docker_place = mem_fmt("%s/dockerContainers", place);
    int rc = package_list(r, component, place, "dockerContainers", &docker);

    if (rc)
        return rc;
    if (docker)
        return package_refuse(
            r, ERR_UNSUPPORTED, docker_place,
            "containers of Docker are started by Slider's agent, which does not exist here: "
            "run the image as a service, with an artifact of type DOCKER (bobbin app "
            "launch)");
    if (json_is_object(script) && !has_command(r, name))
        return package_refuse(
            r, ERR_UNSUPPORTED, script_place,
            "%.100s is run by Slider's agent, which does not exist here: say what %.100s runs in "
            "commands/exec, or by its option " PACKAGE_COMMAND " in the application configuration",
            package_text(script, "script"), name);
    return 0;
}

/* ---- numbers ---- */

/** A number of instances, as a number or a text. */
static int take_bound(const struct package_reading *r, const json_t *component, const char *place,
                      const char *key, json_t *out)
{
    const json_t *value = json_object_get(component, key);
    mem_auto char *here = mem_fmt("%s/%s", place, key);
    int64_t n = json_is_integer(value) ? json_integer_value(value) : -1;
    const char *text = json_string_value(value);

    if (!value || json_is_null(value) || (text && !*text))
        return 0;
    if (text && str_to_i64(text, 0, INT32_MAX, &n))
        n = -1;
    if (n < 0 || n > INT32_MAX)
        return package_refuse(r, ERR_INVALID, here, "must be a number from 0 to %d", INT32_MAX);
    json_object_set_new(out, strcmp(key, "minInstanceCount") == 0 ? "min" : "max",
                        json_integer((json_int_t)n));
    return 0;
}

/* ---- components ---- */

static void warn_component(const struct package_reading *r, const json_t *component, const char *place)
{
    static const char *const exports[] = {"appExports", "compExports", "componentExports"};

    for (size_t i = 0; i < sizeof exports / sizeof *exports; i++) {
        if (package_text(component, exports[i])[0])
            package_warn(r, place, "exports are made by Slider's agent: the publisher has none of them");
    }
    if (strcasecmp(package_text(component, "autoStartOnFailure"), "false") == 0 ||
        json_is_false(json_object_get(component, "autoStartOnFailure")))
        package_warn(r, place, "autoStartOnFailure has no effect: what has ended is replaced");
}

static int take_component(const struct package_reading *r, const json_t *component, json_t *all)
{
    const char *name = package_text(component, "name"), *category = package_text(component, "category");
    json_t *out = json_object();
    mem_auto char *place = mem_fmt("components/%.100s", name);

    if (!*name || json_object_get(all, name)) {
        json_decref(out);
        return package_refuse(r, ERR_INVALID, place,
                              *name ? "there are two of this name" : "name is missing");
    }
    json_object_set_new(all, name, out);
    if (*category)
        json_object_set_new(out, "category", json_string(category));
    int rc = take_bound(r, component, place, "minInstanceCount", out);
    rc = rc ? rc : take_bound(r, component, place, "maxInstanceCount", out);
    if (rc || strcmp(category, CLIENT) == 0)
        return rc;
    rc = take_commands(r, component, place, out);
    if (!rc && !json_object_get(out, "exec"))
        rc = refuse_agent(r, component, name, place);
    if (!rc)
        warn_component(r, component, place);
    return rc;
}

int package_components(const struct package_reading *r, const json_t *application, json_t **out)
{
    json_t *all = json_object();
    const json_t *list, *component;
    size_t i;
    int rc = package_list(r, application, "application", "components", &list);

    if (!rc && !list)
        rc = package_refuse(r, ERR_INVALID, "application/components", "there are no components");
    else if (!rc && json_array_size(list) > PACKAGE_COMPONENTS_MAX)
        rc = package_refuse(r, ERR_TOOBIG, "application/components", "more than %d components",
                            PACKAGE_COMPONENTS_MAX);
    json_array_foreach(list, i, component)
    {
        rc = rc ? rc : take_component(r, component, all);
    }
    if (rc)
        json_decref(all);
    else
        *out = all;
    return rc;
}
