#include "faces/paths.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/obj.h"

#define ASKED_MAGIC OBJ_MAGIC('A', 'S', 'K', 'W')

/** What validation may ask. */
struct asked_world {
    struct obj obj;
    const struct engine *engine;
    struct paths *paths;
};

static bool ask_path(void *arg, const char *path)
{
    struct paths *p = obj_cast(arg, struct asked_world, ASKED_MAGIC)->paths;

    for (size_t i = 0; i < p->n; i++)
        if (!strcmp(p->items[i], path))
            return !p->absent || !p->absent[i];
    if (p->absent)
        return false;
    p->items = mem_resize(p->items, p->n + 1, sizeof *p->items);
    p->items[p->n++] = mem_str(path);
    return true;
}

static const struct spec_service *ask_service(void *arg, const char *user, const char *name)
{
    const struct asked_world *w = obj_cast(arg, struct asked_world, ASKED_MAGIC);
    const struct eng_service *s = engine_find(w->engine, KIND_SERVICE, user, name);
    return s ? s->spec : NULL;
}

int paths_complete(struct spec_service *s, const char *user, const struct face *face, struct paths *p,
                   struct err_info *why)
{
    struct asked_world asked = {{ASKED_MAGIC}, face->ops->engine(face->app), p};
    struct spec_world world = *face->ops->world(face->app);
    world.path_exists = ask_path;
    world.find_service = ask_service;
    world.arg = &asked;
    world.user = user;
    world.may_be_empty = p->may_be_empty;
    world.is_other_api = p->is_other_api;
    int rc = spec_complete(s, user, &world, why);
    if (!rc && s->state != SPEC_STOPPED)
        rc = spec_check_launch(s, &world, why);
    return rc;
}

/** Within one configuration. @param base  JSON pointer of what has it */
static char *place_in(const struct spec_config *configuration, const char *base, const char *path)
{
    for (size_t i = 0; i < configuration->n_files; i++) {
        const char *source = configuration->files[i]->src_file;
        if (source && !strcmp(source, path))
            return mem_fmt("%s/configuration/files/%zu/src_file", base, i);
    }
    return NULL;
}

char *paths_place(const struct spec_service *s, const char *path)
{
    for (size_t i = 0; i < s->n_components; i++) {
        const struct spec_component *c = s->components[i];
        mem_auto char *base = mem_fmt("/components/%zu", i);
        if (c->artifact && c->artifact->id && !strcmp(c->artifact->id, path))
            return mem_fmt("%s/artifact/id", base);
        char *place = place_in(c->configuration, base, path);
        if (place)
            return place;
    }
    return place_in(s->configuration, "", path);
}

void paths_fini(struct paths *p)
{
    for (size_t i = 0; i < p->n; i++)
        free(p->items[i]);
    free(p->items);
    *p = (struct paths){0};
}
