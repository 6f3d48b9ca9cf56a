/**
 * Named ports of instances whose number svcmgr chooses. A number belongs to the address of its instance: instances with addresses of their
 * own may have the same one, those of a cluster with one address for all (no network of addresses) have different ones. The search begins
 * where address and name hash to, so that a number comes back with its address. A task has ports by label, each perhaps of several numbers:
 * "label/0", "label/1" … are their keys in eng_instance.ports.
 */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "engine/instance.h"
#include "engine/operation.h"
#include "engine/step.h"
#include "spec/label.h"

/* Below Linux's own range of ports for clients, 32768 to 60999. */
#define PORT_FIRST 20000
#define N_PORTS    12768

#define RECORD_PORTS_MAX 64 /* of a task, in its record */

static bool is_shared(const struct engine *e, uint32_t i)
{
    return e->shared_ports && e->shared_ports[i / 8] >> (i % 8) & 1;
}

/** Mark a number as used or free among instances that have one address; where each has its own there is nothing to mark. */
static void mark_shared(struct engine *e, int64_t port, bool is_used)
{
    uint32_t i = (uint32_t)(port - PORT_FIRST);
    if (e->addresses.n > 0 || port < PORT_FIRST || port >= PORT_FIRST + N_PORTS)
        return;
    if (!e->shared_ports)
        e->shared_ports = mem_array(N_PORTS / 8 + 1, 1);
    uint8_t bit = (uint8_t)(1u << (i % 8));
    e->shared_ports[i / 8] =
        is_used ? (uint8_t)(e->shared_ports[i / 8] | bit) : (uint8_t)(e->shared_ports[i / 8] & ~bit);
}

static bool has_port(const struct eng_instance *inst, const struct spec_component *spec, int64_t port)
{
    const char *name;
    json_t *value;
    json_object_foreach(inst->ports, name, value)
    {
        if (json_integer_value(value) == port)
            return true;
    }
    for (size_t i = 0; i < spec->n_ports; i++) {
        if (spec->ports[i]->port == port)
            return true;
    }
    return false;
}

/** A number for one port of the instance. @return 0: none is free */
static int64_t choose(const struct engine *e, const struct eng_instance *inst,
                      const struct spec_component *spec, const char *name)
{
    const struct eng_service *s = inst->component->service;
    mem_auto char *place =
        mem_fmt("%s/%s/%s/%s/%s", s->user, s->name, inst->name, inst->ip ? inst->ip : "", name);
    uint32_t first = addresses_place(place) % N_PORTS;
    for (uint32_t k = 0; k < N_PORTS; k++) {
        uint32_t i = (first + k) % N_PORTS;
        if (!is_shared(e, i) && !has_port(inst, spec, PORT_FIRST + i))
            return PORT_FIRST + i;
    }
    return 0;
}

/* ---- of tasks ---- */

static bool bit_of(const uint8_t *bits, uint32_t i)
{
    return bits[i / 8] >> (i % 8) & 1;
}

/** Numbers that a task has itself, of those that are chosen from. */
static void mark_fixed(const struct spec_task *task, uint8_t *bits)
{
    for (size_t i = 0; i < task->n_ports; i++) {
        const struct spec_task_ports *p = task->ports[i];
        for (int64_t port = p->start; p->start > 0 && port < p->start + p->count; port++) {
            if (port >= PORT_FIRST && port < PORT_FIRST + N_PORTS)
                bits[(port - PORT_FIRST) / 8] |= (uint8_t)(1u << (port - PORT_FIRST) % 8);
        }
    }
}

/** Where the search begins: for instances that shall have the same numbers at one place. */
static uint32_t first_of_task(const struct eng_instance *inst, const struct spec_task *task)
{
    const struct eng_service *s = inst->component->service;
    bool is_own = !task->same_ports;
    mem_auto char *place =
        mem_fmt("%s/%s/%s/%s", s->user, s->name, is_own ? inst->name : inst->component->name,
                is_own && inst->ip ? inst->ip : "");
    return addresses_place(place) % N_PORTS;
}

/** Numbers for the ports of a container of a task: other ones than before when its definition has changed. */
static bool take_for_task(struct engine *e, struct eng_instance *inst, const struct spec_task *task)
{
    uint8_t fixed[N_PORTS / 8 + 1] = {0};
    uint32_t first = first_of_task(inst, task), k = 0;
    ports_give_back(e, inst);
    mark_fixed(task, fixed);
    for (size_t i = 0; i < task->n_ports; i++) {
        const struct spec_task_ports *p = task->ports[i];
        for (int64_t n = 0; p->start == 0 && n < p->count; n++) {
            while (k < N_PORTS &&
                   (is_shared(e, (first + k) % N_PORTS) || bit_of(fixed, (first + k) % N_PORTS)))
                k++;
            if (k == N_PORTS)
                return false;
            int64_t port = PORT_FIRST + (first + k++) % N_PORTS;
            mem_auto char *key = mem_fmt("%s/%lld", p->label, (long long)n);
            inst->ports = inst->ports ? inst->ports : json_object();
            json_object_set_new(inst->ports, key, json_integer(port));
            mark_shared(e, port, true);
        }
    }
    return true;
}

static int compare_ports(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/** The numbers that were chosen, ascending. @return new, free() */
static int64_t *chosen_ports(const struct eng_instance *inst, size_t *n)
{
    int64_t *list = mem_array(json_object_size(inst->ports) + 1, sizeof *list);
    const char *key;
    json_t *value;
    *n = 0;
    json_object_foreach(inst->ports, key, value) list[(*n)++] = json_integer_value(value);
    qsort(list, *n, sizeof *list, compare_ports);
    return list;
}

char *eng_task_ports_text(const struct eng_instance *inst)
{
    const struct spec_task *task = instance_spec(inst)->task;
    struct buf out = BUF_EMPTY;
    size_t n_chosen = 0, next = 0;
    mem_auto int64_t *chosen = chosen_ports(inst, &n_chosen);
    for (size_t i = 0; task && i < task->n_ports; i++) {
        const struct spec_task_ports *p = task->ports[i];
        bool is_there = p->start > 0 || next < n_chosen;
        if (is_there)
            buf_addf(&out, "%s:", p->label);
        for (int64_t n = 0; n < p->count && (p->start > 0 || next < n_chosen); n++) {
            int64_t port = p->start > 0 ? p->start + n : chosen[next++];
            buf_addf(&out, "%s%lld", n ? "," : "", (long long)port);
        }
        if (is_there)
            buf_add_char(&out, ';');
    }
    return out.len ? buf_take(&out) : mem_str("");
}

/* ---- of all ---- */

bool ports_take(struct engine *e, struct eng_instance *inst)
{
    const struct spec_component *spec = instance_spec(inst);
    if (spec->task)
        return take_for_task(e, inst, spec->task);
    for (size_t i = 0; i < spec->n_ports; i++) {
        const struct spec_port *p = spec->ports[i];
        if (p->port > 0 || json_object_get(inst->ports, p->name))
            continue;
        int64_t port = choose(e, inst, spec, p->name);
        if (!port)
            return false;
        if (!inst->ports)
            inst->ports = json_object();
        json_object_set_new(inst->ports, p->name, json_integer(port));
        mark_shared(e, port, true);
    }
    return true;
}

void ports_mark(struct engine *e, const struct eng_instance *inst, bool is_used)
{
    const char *name;
    json_t *value;
    json_object_foreach(inst->ports, name, value) mark_shared(e, json_integer_value(value), is_used);
}

void ports_give_back(struct engine *e, struct eng_instance *inst)
{
    ports_mark(e, inst, false);
    json_decref(inst->ports);
    inst->ports = NULL;
}

int64_t eng_instance_port(const struct eng_instance *inst, const struct spec_port *port)
{
    return port->port > 0 ? port->port : json_integer_value(json_object_get(inst->ports, port->name));
}

/** Those of a task, by the labels of its labels: what stands in its record, at most RECORD_PORTS_MAX. */
static struct eng_port *ports_of_task(const struct eng_instance *inst, const struct spec_task *task,
                                      size_t *n)
{
    struct eng_port *list = mem_array(RECORD_PORTS_MAX, sizeof *list);
    size_t n_chosen = 0, next = 0;
    mem_auto int64_t *chosen = chosen_ports(inst, &n_chosen);
    *n = 0;
    for (size_t i = 0; i < task->n_ports; i++) {
        const struct spec_task_ports *p = task->ports[i];
        for (int64_t k = 0; k < p->count && *n < RECORD_PORTS_MAX && (p->start > 0 || next < n_chosen); k++) {
            list[*n].name = spec_label(p->label, SPEC_LABEL_COMPONENT);
            list[(*n)++].port = p->start > 0 ? p->start + k : chosen[next++];
        }
    }
    return list;
}

struct eng_port *ports_of(const struct eng_instance *inst, size_t *n)
{
    const struct spec_component *spec = instance_spec(inst);
    if (spec->task)
        return ports_of_task(inst, spec->task, n);
    struct eng_port *list = spec->n_ports ? mem_array(spec->n_ports, sizeof *list) : NULL;
    for (*n = 0; *n < spec->n_ports; (*n)++) {
        const struct spec_port *p = spec->ports[*n];
        list[*n] = (struct eng_port){.name = mem_str(p->name), .port = eng_instance_port(inst, p)};
    }
    return list;
}
