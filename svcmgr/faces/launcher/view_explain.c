/** Names and waits of frameworks: see view.h. */
#include "launcher/view.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/obj.h"
#include "base/str.h"
#include "launcher/view_parts.h"
#include "spec/label.h"

/* ---- names ---- */

/** A member with a name in DNS. @param below  of the framework; NULL: its own */
static void write_name(struct jw *w, const char *member, const struct engine *e, const struct eng_service *s,
                       const char *below)
{
    mem_auto char *name = engine_dns_name_below(e, s, below);
    jw_kstr(w, member, name);
}

void launcher_write_explained_framework(struct jw *w, const struct launcher_look *look,
                                        const struct eng_service *s)
{
    jw_kstr(w, "frameworkName", eng_service_title(s));
    jw_kstr(w, "frameworkState", launcher_state_word(launcher_state_of(s, look->now_ms)));
    write_name(w, "frameworkDnsName", look->e, s, NULL);
    jw_literal_key(w, "frameworkRetryPolicyState");
    launcher_write_retries(w, s->next_spec ? NULL : s->retries);
}

/** Where the ports of a role's tasks are found: SRV. */
static void write_ports(struct jw *w, const struct launcher_look *look, const struct eng_component *c)
{
    const struct spec_task *task = c->spec->task;
    jw_literal_key(w, "portDnsNames");
    jw_object(w);
    for (size_t i = 0; task && i < task->n_ports; i++) {
        mem_auto char *label = spec_label(task->ports[i]->label, SPEC_LABEL_COMPONENT);
        mem_auto char *below = mem_fmt("_%s._tcp.%s", label, c->name);
        write_name(w, task->ports[i]->label, look->e, c->service, below);
    }
    jw_object_end(w);
}

void launcher_write_explained_role(struct jw *w, const struct launcher_look *look,
                                   const struct eng_component *c)
{
    write_name(w, "taskRoleDnsName", look->e, c->service, c->name);
    write_ports(w, look, c);
    jw_literal_key(w, "tasks");
}

void launcher_write_explained_task(struct jw *w, const struct launcher_role_look *of,
                                   const struct eng_component *c, size_t index)
{
    const struct eng_instance unmade = {.state = INST_PENDING};
    const struct eng_instance *made = index < c->n_by_index ? c->by_index[index] : NULL;
    const struct eng_instance *inst = made && !made->removing ? made : &unmade;
    mem_auto char *below = mem_fmt("%s-%zu", c->name, index);
    jw_object(w);
    jw_kint(w, "taskIndex", (int64_t)index);
    jw_kstr(w, "taskState", launcher_task_state_word(launcher_task_state_of(inst, of->state)));
    write_name(w, "taskDnsName", of->e, c->service, below);
    jw_literal_key(w, "taskRetryPolicyState");
    launcher_write_retries(w, inst->retries);
    jw_object_end(w);
}

/* ---- waits ---- */

/** What would end a wait where it is not what would end that of a service: a framework that has completed starts again as another version. */
static const struct {
    enum eng_wait why;
    const char *remedy;
} remedies[] = {
    {WAIT_ENDED, "put another version of the framework; if it failed, correct the cause first"},
    {WAIT_FAILED, "correct what ended the process, then put another version of the framework"},
    {WAIT_REFUSED,
     "correct the names or rights that the registry refuses, then put another version of the framework"},
};

static void copy_members(json_t *to, const json_t *from)
{
    static const char *const members[] = {"reason", "wait", "remedy"};
    const char *reason = json_string_value(json_object_get(from, "reason"));
    for (size_t i = 0; i < ARRAY_LEN(members); i++)
        json_object_set(to, members[i], json_object_get(from, members[i]));
    for (size_t i = 0; reason && i < ARRAY_LEN(remedies); i++) {
        if (strcmp(eng_wait_word(remedies[i].why), reason) == 0)
            json_object_set_new(to, "remedy", json_string(remedies[i].remedy));
    }
}

/** Indexes of instances by their names: "worker-3" is 3. [new] */
static json_t *indexes_of(const json_t *names)
{
    json_t *out = json_array();
    size_t i;
    const json_t *name;
    json_array_foreach(names, i, name)
    {
        const char *dash = strrchr(json_string_value(name), '-');
        int64_t index;
        if (dash && str_to_i64(dash + 1, 0, INT32_MAX, &index) == 0)
            json_array_append_new(out, json_integer(index));
    }
    return out;
}

static json_t *line_of(const struct eng_service *s, const json_t *line, enum launcher_state state)
{
    const char *name = json_string_value(json_object_get(line, "component"));
    const char *instance = json_string_value(json_object_get(line, "instance"));
    const struct eng_component *c = name ? eng_service_component(s, name) : NULL;
    const struct eng_instance *inst = instance ? eng_service_instance(s, instance) : NULL;
    json_t *out = json_object();
    if (c) {
        json_object_set_new(out, "taskRoleName", json_string(eng_component_title(c)));
        json_object_set(out, "count", json_object_get(line, "count"));
        json_object_set_new(out, "taskIndexes", indexes_of(json_object_get(line, "instances")));
    }
    const char *word =
        inst ? launcher_task_state_word(launcher_task_state_of(inst, state)) : launcher_state_word(state);
    json_object_set_new(out, "state", json_string(word));
    copy_members(out, line);
    return out;
}

json_t *launcher_view_explain(const struct launcher_look *look, const struct eng_service *s,
                              const json_t *list)
{
    enum launcher_state state = launcher_state_of(s, look->now_ms);
    json_t *out = json_array();
    size_t i;
    json_t *line;
    json_array_foreach(list, i, line)
    {
        if (json_object_get(line, "taskRoleName"))
            json_array_append(out, line);
        else
            json_array_append_new(out, line_of(s, line, state));
    }
    return out;
}
