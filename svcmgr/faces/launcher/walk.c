#include "launcher/walk.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/obj.h"
#include "json/json.h"
#include "launcher/pretty.h"

#define WALK_MAGIC OBJ_MAGIC('L', 'W', 'L', 'K')

/** Tasks and summaries in one piece: some 200 µs. */
#define SLICE_TASKS     64
#define SLICE_SUMMARIES 64

struct launcher_walk {
    struct obj obj;
    struct launcher_walk_def def;
    char *name;
    int64_t incarnation; /* of the framework when the walk began */
    size_t role;         /* STATUS, INFO: that is written */
    bool is_in_role;     /* its tasks are being written */
    size_t next;         /* of its tasks; SUMMARIES: of the names */
    bool has_begun, is_done;
    struct buf compact; /* what a piece has before it is pretty */
    struct jw w;        /* on compact */
    struct launcher_pretty pretty;
};

struct launcher_walk *launcher_walk_new(const struct launcher_walk_def *def)
{
    struct launcher_walk *walk = mem_new(struct launcher_walk);
    obj_init(&walk->obj, WALK_MAGIC);
    walk->def = *def;
    walk->name = mem_str(def->name);
    walk->def.name = walk->name;
    walk->w = jw_on(&walk->compact);
    return walk;
}

void launcher_walk_free(struct launcher_walk *walk)
{
    if (!walk)
        return;
    for (size_t i = 0; i < walk->def.n_names; i++)
        free(walk->def.take_names[i]);
    free(walk->def.take_names);
    json_decref(walk->def.take_part);
    free(walk->name);
    buf_fini(&walk->compact);
    obj_fini(&walk->obj);
    free(walk);
}

/* ---- one framework ---- */

/** The part that the caller has made, as the next value. */
static void write_part(struct launcher_walk *walk)
{
    buf_auto struct buf text = BUF_EMPTY;
    json_write(walk->def.take_part, &text);
    jw_raw(&walk->w, text.bytes, text.len);
}

static void write_explain_head(struct launcher_walk *walk, const struct launcher_look *look,
                               const struct eng_service *s)
{
    struct jw *w = &walk->w;
    launcher_write_explained_framework(w, look, s);
    jw_literal_key(w, "explain");
    write_part(walk);
    jw_literal_key(w, "taskRoles");
}

static void write_status_head(struct launcher_walk *walk, const struct launcher_look *look,
                              const struct eng_service *s)
{
    struct jw *w = &walk->w;
    if (walk->def.form == LAUNCHER_FORM_INFO) {
        jw_literal_key(w, "summarizedFrameworkInfo");
        launcher_write_summary(w, look, s);
        jw_literal_key(w, "aggregatedFrameworkRequest");
        write_part(walk);
        jw_literal_key(w, "aggregatedFrameworkStatus");
        jw_object(w);
    }
    jw_literal_key(w, "frameworkStatus");
    launcher_write_status(w, look, s);
    jw_literal_key(w, "aggregatedTaskRoleStatuses");
}

/** All up to the roles. */
static void write_head(struct launcher_walk *walk, const struct launcher_look *look,
                       const struct eng_service *s)
{
    jw_object(&walk->w);
    if (walk->def.form == LAUNCHER_FORM_EXPLAIN)
        write_explain_head(walk, look, s);
    else
        write_status_head(walk, look, s);
    jw_object(&walk->w);
    walk->incarnation = s->incarnation;
    walk->has_begun = true;
    bool has_roles = walk->def.form == LAUNCHER_FORM_EXPLAIN
                         ? !s->next_spec
                         : launcher_has_tasks(launcher_state_of(s, look->now_ms));
    if (!has_roles)
        walk->role = SIZE_MAX;
}

static void begin_statuses(struct jw *w, const struct eng_component *c)
{
    jw_literal_key(w, "taskRoleStatus");
    launcher_write_role(w, c);
    jw_literal_key(w, "taskStatuses");
    jw_object(w);
    jw_kstr(w, "taskRoleName", eng_component_title(c));
    jw_literal_key(w, "taskStatusArray");
}

static void begin_role(struct launcher_walk *walk, const struct launcher_look *look,
                       const struct eng_component *c)
{
    struct jw *w = &walk->w;
    jw_key(w, eng_component_title(c));
    jw_object(w);
    if (walk->def.form == LAUNCHER_FORM_EXPLAIN)
        launcher_write_explained_role(w, look, c);
    else
        begin_statuses(w, c);
    jw_array(w);
    walk->is_in_role = true;
    walk->next = 0;
}

static void end_role(struct launcher_walk *walk, const struct eng_service *s)
{
    struct jw *w = &walk->w;
    jw_array_end(w);
    if (walk->def.form != LAUNCHER_FORM_EXPLAIN) {
        jw_kint(w, "frameworkVersion", launcher_version_of(s));
        jw_object_end(w);
    }
    jw_object_end(w);
    walk->is_in_role = false;
    walk->role++;
}

/** Some tasks of a role. @return how many */
static size_t write_tasks(struct launcher_walk *walk, const struct launcher_look *look,
                          const struct eng_component *c, size_t most)
{
    struct launcher_role_look of = launcher_role_look_of(look, c);
    size_t n = 0, n_tasks = (size_t)of.n_tasks;
    for (; walk->next < n_tasks && n < most; walk->next++, n++) {
        const struct eng_instance *inst = walk->next < c->n_by_index ? c->by_index[walk->next] : NULL;
        if (walk->def.form == LAUNCHER_FORM_EXPLAIN)
            launcher_write_explained_task(&walk->w, &of, c, walk->next);
        else if (inst && !inst->removing)
            launcher_write_task(&walk->w, &of, inst);
        else
            launcher_write_unmade_task(&walk->w, &of, (int64_t)walk->next);
    }
    if (walk->next >= n_tasks)
        end_role(walk, c->service);
    return n;
}

static void write_end(struct launcher_walk *walk)
{
    while (walk->w.depth > 0)
        jw_object_end(&walk->w);
    walk->is_done = true;
}

static void write_framework(struct launcher_walk *walk, const struct launcher_look *look)
{
    const struct eng_service *s = engine_find_framework(look->e, walk->name);
    if (!s || (walk->has_begun && s->incarnation != walk->incarnation)) {
        walk->is_done = true; /* broken off */
        return;
    }
    if (!walk->has_begun)
        write_head(walk, look, s);
    for (size_t left = SLICE_TASKS; left > 0 && walk->role < s->n_components;) {
        const struct eng_component *c = s->components[walk->role];
        if (!walk->is_in_role)
            begin_role(walk, look, c);
        left -= write_tasks(walk, look, c, left);
    }
    if (walk->role >= s->n_components)
        write_end(walk);
}

/* ---- many frameworks ---- */

static void write_summaries(struct launcher_walk *walk, const struct launcher_look *look)
{
    struct jw *w = &walk->w;
    if (!walk->has_begun) {
        jw_object(w);
        jw_literal_key(w, "summarizedFrameworkInfos");
        jw_array(w);
        walk->has_begun = true;
    }
    for (size_t n = 0; n < SLICE_SUMMARIES && walk->next < walk->def.n_names; n++) {
        const struct eng_service *s = engine_find_framework(look->e, walk->def.take_names[walk->next++]);
        if (s)
            launcher_write_summary(w, look, s);
    }
    if (walk->next == walk->def.n_names) {
        jw_array_end(w);
        write_end(walk);
    }
}

bool launcher_walk_next(struct launcher_walk *walk, struct buf *out)
{
    struct launcher_look look = walk->def.look(walk->def.arg);
    if (walk->is_done)
        return false;
    if (walk->def.form == LAUNCHER_FORM_SUMMARIES)
        write_summaries(walk, &look);
    else
        write_framework(walk, &look);
    launcher_pretty_add(&walk->pretty, walk->compact.bytes, walk->compact.len, out);
    buf_clear(&walk->compact);
    return !walk->is_done;
}
