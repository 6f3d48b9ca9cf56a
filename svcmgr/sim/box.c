#include "sim/box.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/draw.h"

/* ---- what is drawn ---- */

bool sim_box_share(const struct sim *s, const struct sim_box *b, unsigned what, int64_t share_ppm)
{
    return sim_draw_share(s->seed, (struct sim_die){b->pub.id, b->pub.attempt, what}, share_ppm);
}

int64_t sim_box_span(const struct sim *s, const struct sim_box *b, unsigned what, struct sim_span span)
{
    return sim_draw_span(s->seed, (struct sim_die){b->pub.id, b->pub.attempt, what}, span);
}

/* ---- time ---- */

void sim_advance(struct sim *s, int64_t now_ms)
{
    if (now_ms > s->now_ms)
        s->now_ms = now_ms;
}

void sim_set_due(struct sim *s, struct sim_due *d, int64_t delay_ms)
{
    heap_set(&s->agenda, &d->node, s->now_ms + delay_ms, s->n_set++);
}

void sim_clear_due(struct sim *s, struct sim_due *d)
{
    heap_remove(&s->agenda, &d->node);
}

/* ---- containers ---- */

struct sim_box *sim_box_find(const struct sim *s, const char *id)
{
    return map_get(&s->boxes, id);
}

/** Of 10.0.0.0/8, round and round. */
static char *next_ip(struct sim *s)
{
    uint32_t n = ++s->n_ips;

    return mem_fmt("10.%u.%u.%u", n >> 16 & 255, n >> 8 & 255, n & 255);
}

/** A container of the run before has this address: no other one gets it. */
static void keep_ip(struct sim *s, const char *ip)
{
    uint32_t a, b, c;

    if (sscanf(ip, "10.%" SCNu32 ".%" SCNu32 ".%" SCNu32, &a, &b, &c) != 3)
        return;
    uint32_t n = (a & 255) << 16 | (b & 255) << 8 | (c & 255);
    if (n > s->n_ips)
        s->n_ips = n;
}

/** Number of a resource type; SIM_TYPES_MAX: no node has it. */
static size_t type_of(const struct sim_script *script, const char *type)
{
    for (size_t i = 0; i < script->n_types; i++) {
        if (strcmp(script->types[i], type) == 0)
            return i;
    }
    return SIM_TYPES_MAX;
}

/** What is wanted beside memory and cores. A type that no node has keeps it from every node. */
static void take_needs(struct sim *s, struct sim_box *b, const struct sim_ask *ask)
{
    const struct spec_needs *needs = ask->needs;

    b->pub.needs = spec_needs_copy(needs);
    for (size_t i = 0; needs && i < needs->n_amounts; i++) {
        size_t type = type_of(s->script, needs->amounts[i].type);
        if (type < SIM_TYPES_MAX)
            b->pub.room.amounts[type] = needs->amounts[i].n;
        else
            b->pub.missing = b->pub.needs->amounts[i].type;
    }
    if (!needs || needs->n_constraints == 0)
        return;
    b->groups = sim_tag_groups(needs, s->script);
    b->tag = sim_tag_join(&s->tags, ask->application, ask->component);
    b->pub.tag = b->tag;
}

struct sim_box *sim_box_new(struct sim *s, const struct sim_ask *ask)
{
    struct sim_box *b = mem_new(struct sim_box);

    b->pub = (struct sim_container){.id = mem_str(ask->id),
                                    .host = mem_str(ask->host),
                                    .application = mem_str(ask->application),
                                    .label = mem_str(ask->label),
                                    .room = ask->room};
    b->pub.ip = ask->ip ? mem_str(ask->ip) : next_ip(s);
    if (ask->ip)
        keep_ip(s, ask->ip);
    b->life = (struct sim_due){.kind = SIM_DUE_LIFE, .owner = b};
    b->readiness = (struct sim_due){.kind = SIM_DUE_READINESS, .owner = b};
    b->repeat = (struct sim_due){.kind = SIM_DUE_REPEAT, .owner = b};
    b->lack = SIM_LACKS_NOTHING;
    take_needs(s, b, ask);
    map_set(&s->boxes, b->pub.id, b);
    return b;
}

void sim_box_free(struct sim_box *b)
{
    free((char *)b->pub.id);
    free((char *)b->pub.ip);
    free((char *)b->pub.label);
    free((char *)b->pub.application);
    free((char *)b->pub.host);
    spec_needs_free((struct spec_needs *)b->pub.needs);
    free(b->groups);
    free(b->lacking);
    free(b->instance);
    free(b);
}
