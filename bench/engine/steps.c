/*
 * What the engine needs for its steps, an instance and a phase: create until all are READY, a storm in which a fifth of the containers
 * is lost, flex down to one and up again, a restart, destroy. One line of JSON a phase.
 *
 *     bench_engine_steps SERVICES COMPONENTS INSTANCES     so many instances a component
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "world.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"

struct size {
    int64_t services, components, instances;
};

static int64_t n_instances(const struct size *size)
{
    return size->services * size->components * size->instances;
}

static size_t in_use(void)
{
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

static void report(const struct world *w, const struct size *size, const char *phase, int64_t n,
                   size_t memory)
{
    const struct phase *p = &w->phase;
    double each = (double)(n > 0 ? n : 1);
    printf("{\"phase\": \"%s\", \"instances\": %lld, \"changed\": %lld, \"steps\": %zu, \"engine_s\": %.3f, "
           "\"us_each\": %.2f, "
           "\"ns_step\": %.0f, \"longest_ms\": %.3f, \"stored_bytes_each\": %.0f, \"documents_each\": %.2f, "
           "\"memory_bytes_each\": %.0f}\n",
           phase, (long long)n_instances(size), (long long)n, p->n_steps, p->engine_us / 1e6,
           p->engine_us / each, p->n_steps ? p->engine_us * 1e3 / (double)p->n_steps : 0.0,
           p->longest_us / 1e3, (double)p->n_stored_bytes / each, (double)p->n_documents / each,
           (double)memory / each);
    fflush(stdout);
}

/* ---- requests ---- */

static struct spec_service *definition(int64_t number, const struct size *size)
{
    static const struct spec_world world = {.dialect = NULL, .local = true, .max_containers = 1000000};
    buf_auto struct buf text = BUF_EMPTY;
    struct spec_world w = world;
    struct spec_service *spec = NULL;
    struct err_info why = {0};
    w.dialect = dialect_find("seed");
    buf_addf(&text, "{\"name\":\"web-%lld\",\"version\":\"1\",\"components\":[", (long long)number);
    for (int64_t i = 0; i < size->components; i++)
        buf_addf(&text,
                 "%s{\"name\":\"worker-%lld\",\"number_of_containers\":%lld,\"launch_command\":\"serve "
                 "--port 8080\","
                 "\"resource\":{\"cpus\":1,\"memory\":\"256\"},\"configuration\":{\"properties\":"
                 "{\"yarn.service.container-failure-per-component.threshold\":\"1000000\"}}}",
                 i ? "," : "", (long long)i, (long long)size->instances);
    buf_add_str(&text, "]}");
    if (spec_read(text.bytes, text.len, &spec, NULL, &why) || spec_complete(spec, "alice", &w, &why)) {
        fprintf(stderr, "%s\n", why.text);
        exit(1);
    }
    return spec;
}

static void create_all(struct world *w, const struct size *size)
{
    for (int64_t i = 0; i < size->services; i++)
        world_event(w, (struct eng_event){.kind = EV_CREATE,
                                          .token = ++w->token,
                                          .user = "alice",
                                          .take_spec = definition(i, size)});
}

static void ask_all(struct world *w, const struct size *size, enum eng_event_kind kind)
{
    for (int64_t i = 0; i < size->services; i++) {
        mem_auto char *name = mem_fmt("web-%lld", (long long)i);
        world_event(w, (struct eng_event){.kind = kind, .token = ++w->token, .user = "alice", .name = name});
    }
}

static void flex_all(struct world *w, const struct size *size, int64_t count)
{
    for (int64_t i = 0; i < size->services; i++) {
        mem_auto char *name = mem_fmt("web-%lld", (long long)i);
        for (int64_t k = 0; k < size->components; k++) {
            mem_auto char *component = mem_fmt("worker-%lld", (long long)k);
            struct eng_flex f = {component, count, false};
            world_event(w, (struct eng_event){.kind = EV_FLEX,
                                              .token = ++w->token,
                                              .user = "alice",
                                              .name = name,
                                              .flex = &f,
                                              .n_flex = 1});
        }
    }
}

/** Every fifth container is lost. @return how many */
static int64_t storm(struct world *w)
{
    mem_auto const struct eng_service **services = engine_list(w->e, NULL);
    int64_t n = 0;
    for (size_t i = 0; services[i]; i++) {
        for (size_t k = 0; k < services[i]->n_components; k++) {
            const struct eng_component *c = services[i]->components[k];
            const struct eng_instance *inst = TAILQ_FIRST(&c->instances);
            for (; inst; inst = TAILQ_NEXT(inst, link)) {
                if (inst->index % 5 != 0 || !inst->container_id)
                    continue;
                mem_auto char *id = mem_str(inst->container_id);
                world_event(
                    w, (struct eng_event){.kind = EV_LOST, .container_id = id, .text = "the node was lost"});
                n++;
            }
        }
    }
    return n;
}

static int64_t n_ready(const struct world *w)
{
    mem_auto const struct eng_service **services = engine_list(w->e, NULL);
    int64_t n = 0;
    for (size_t i = 0; services[i]; i++)
        n += eng_service_n_running(services[i]);
    return n;
}

static void expect(const struct world *w, int64_t n, const char *when)
{
    for (int i = 0; i < 1000 && n_ready(w) != n && world_wait((struct world *)w); i++)
        ;
    if (n_ready(w) == n)
        return;
    fprintf(stderr, "%s: %lld of %lld run\n", when, (long long)n_ready(w), (long long)n);
    exit(1);
}

/* ---- phases ---- */

static void run(const struct size *size)
{
    struct world w;
    int64_t n = n_instances(size), n_components = size->services * size->components;
    world_init(&w, false);
    size_t before = in_use();
    world_begin(&w);
    create_all(&w, size);
    expect(&w, n, "create");
    report(&w, size, "create", n, in_use() - before);
    world_begin(&w);
    int64_t n_lost = storm(&w);
    expect(&w, n, "storm");
    report(&w, size, "storm", n_lost, 0);
    world_begin(&w);
    flex_all(&w, size, 1);
    expect(&w, n_components, "flex down");
    report(&w, size, "flex down", n - n_components, 0);
    world_begin(&w);
    flex_all(&w, size, size->instances);
    expect(&w, n, "flex up");
    report(&w, size, "flex up", n - n_components, 0);
    world_begin(&w);
    ask_all(&w, size, EV_DESTROY);
    expect(&w, 0, "destroy");
    report(&w, size, "destroy", n, 0);
    world_fini(&w);
}

static void run_restart(const struct size *size)
{
    struct world w;
    int64_t n = n_instances(size);
    world_init(&w, true);
    create_all(&w, size);
    expect(&w, n, "create");
    world_begin(&w);
    world_restart(&w);
    expect(&w, n, "restart");
    report(&w, size, "restart", n, 0);
    world_fini(&w);
}

int main(int argc, char **argv)
{
    struct size size;
    if (argc != 4 || str_to_i64(argv[1], 1, 1000000, &size.services) ||
        str_to_i64(argv[2], 1, 1000, &size.components) || str_to_i64(argv[3], 1, 1000000, &size.instances)) {
        fprintf(stderr, "use: %s SERVICES COMPONENTS INSTANCES\n", argv[0]);
        return 2;
    }
    run(&size);
    run_restart(&size);
    return 0;
}
