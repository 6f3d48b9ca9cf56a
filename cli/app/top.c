/** `bobbin app top`: CPU and memory of a service's instances, from two measurements and the time between them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app.h"
#include "base/mem.h"
#include "json/json.h"
#include "kit/commands.h"
#include "kit/out.h"

#define EVERY_MS 1000
#define CLEAR    "\033[H\033[2J"

static int64_t number(const json_t *object, const char *member)
{
    return json_integer_value(json_object_get(object, member));
}

/** The same container in another measurement; NULL: it was not there. [borrowed] */
static const json_t *find(const json_t *usage, const json_t *instance)
{
    size_t i;
    const json_t *other;

    json_array_foreach(json_object_get(usage, "instances"), i, other)
    {
        if (!strcmp(services_text(other, "container"), services_text(instance, "container")))
            return other;
    }
    return NULL;
}

/** "12.5", per cent of a core; "-": it has not run for two measurements. free() */
static char *cpu_cell(const json_t *before, const json_t *now, const json_t *instance)
{
    const json_t *earlier = find(before, instance);
    int64_t ms = number(now, "time") - number(before, "time");
    int64_t used = number(instance, "cpu_ms") - number(earlier, "cpu_ms");

    if (!json_object_get(earlier, "cpu_ms") || !json_object_get(instance, "cpu_ms") || ms <= 0)
        return mem_str("-");
    if (used < 0) /* another process runs in it */
        used = number(instance, "cpu_ms");
    return mem_fmt("%.1f", 100.0 * (double)used / (double)ms);
}

/** Megabytes; "-": it runs nothing. free() */
static char *memory_cell(const json_t *instance, const char *member)
{
    if (!json_object_get(instance, member))
        return mem_str("-");
    return mem_fmt("%.1f", (double)number(instance, member) / (1 << 20));
}

static void print_usage(const json_t *before, const json_t *now)
{
    struct out_table t;
    size_t i;
    const json_t *instance;

    out_table_begin(&t, (const char *const[]){"INSTANCE", "CPU%", "MEMORY-MB", "LIMIT-MB", "PROCESSES",
                                              "CONTAINER", NULL});
    json_array_foreach(json_object_get(now, "instances"), i, instance)
    {
        mem_auto char *cpu = cpu_cell(before, now, instance);
        mem_auto char *memory = memory_cell(instance, "memory");
        mem_auto char *limit = memory_cell(instance, "memory_limit");
        mem_auto char *processes = json_object_get(instance, "processes")
                                       ? mem_fmt("%" PRId64, number(instance, "processes"))
                                       : mem_str("-");
        out_table_add(&t, services_text(instance, "instance"));
        out_table_add(&t, cpu);
        out_table_add(&t, memory);
        out_table_add(&t, limit);
        out_table_add(&t, processes);
        out_table_add(&t, services_text(instance, "container"));
    }
    out_table_print(&t);
}

/** Nothing would change: once. */
static void print_unmeasured(const json_t *usage)
{
    print_usage(usage, usage);
    mem_auto char *note = mem_fmt("CPU and memory in use: %s", services_text(usage, "note"));
    out_lines_to(stdout, note);
}

/** Refreshed on a terminal, until it is interrupted; once elsewhere. */
static int watch(struct app_client *a, const char *path, json_t *before, struct err_info *why)
{
    bool is_terminal = isatty(STDOUT_FILENO);
    json_auto json_t *last = json_incref(before);
    int err = 0;

    do {
        json_t *now = NULL;
        err = wait_ms(&a->wait, EVERY_MS);
        if (!err)
            err = services_call(&a->services, "GET", path, NULL, &now, why);
        if (err)
            break;
        if (is_terminal)
            fputs(CLEAR, stdout);
        print_usage(last, now);
        fflush(stdout);
        json_decref(last);
        last = now;
    } while (is_terminal);
    return err == ERR_CANCELLED ? 0 : err;
}

int app_top(struct cli *cli, struct err_info *why)
{
    mem_auto char *name = services_quote(cli->operands[0]);
    mem_auto char *path = mem_fmt("/%s/usage", name);
    json_auto json_t *usage = NULL;
    struct app_client a;

    app_open(cli, &a);
    int err = services_call(&a.services, "GET", path, NULL, &usage, why);
    if (!err && cli->is_json)
        out_json(usage);
    else if (!err && json_object_get(usage, "note"))
        print_unmeasured(usage);
    else if (!err)
        err = watch(&a, path, usage, why);
    app_close(&a);
    return err;
}
