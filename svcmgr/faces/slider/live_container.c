/** ContainerInformation: see live.h. */
#include <string.h>

#include "base/mem.h"
#include "slider/conf.h"
#include "slider/live.h"
#include "slider/live_parts.h"

#define RELEASE_EXIT (-100) /* aborted */
#define RELEASE_TEXT "Container released by application"

/** What a document says of a container. Texts are NULL where nothing is to be said. */
struct entry {
    const char *id, *component, *version;
    bool is_released;
    int state;
    bool has_exit;
    int64_t exit_code;
    const char *diagnostics;
    int64_t created_ms, started_ms, ended_ms;
    const char *host, *host_url, *log_url, *output;
    enum eng_placing placing;
};

static void write_lines(struct jw *w, const char *text)
{
    jw_array(w);
    while (*text) {
        size_t len = strcspn(text, "\n");
        if (len)
            jw_strn(w, text, len);
        text += len + (text[len] == '\n');
    }
    jw_array_end(w);
}

static void write_entry(struct jw *w, const struct entry *c)
{
    jw_object(w);
    jw_kstr(w, "containerId", c->id);
    jw_kstr(w, "component", c->component);
    slider_write_text(w, "appVersion", c->version);
    if (c->is_released)
        jw_kbool(w, "released", true);
    jw_kint(w, "state", c->state);
    if (c->has_exit)
        jw_kint(w, "exitCode", c->exit_code);
    slider_write_text(w, "diagnostics", c->diagnostics);
    jw_kint(w, "createTime", c->created_ms);
    jw_kint(w, "startTime", c->started_ms);
    jw_kint(w, "completionTime", c->ended_ms);
    slider_write_text(w, "host", c->host);
    slider_write_text(w, "hostURL", c->host_url);
    if (c->placing != PLACING_UNKNOWN)
        jw_kstr(w, "placement", eng_placing_word(c->placing));
    if (c->output) {
        jw_literal_key(w, "output");
        write_lines(w, c->output);
    }
    slider_write_text(w, "logLink", c->log_url);
    jw_object_end(w);
}

/** Whether the versions of its containers are those of its application: a Slider application may have none. */
static bool is_versioned(const struct eng_service *s)
{
    const json_t *app_conf = json_object_get(s->request, "appConf");
    const char *version = slider_conf_option(app_conf, NULL, "site.global.app_version");
    return !app_conf || (version && *version);
}

static int state_of(const struct eng_instance *inst)
{
    switch (inst->state) {
    case INST_RUNNING:
    case INST_READY:
    case INST_DRAINING:
    case INST_RECOVERING: return SLIDER_LIVE;
    case INST_RELEASING: return inst->running_ms > 0 ? SLIDER_LIVE : SLIDER_SUBMITTED;
    default: return SLIDER_SUBMITTED;
    }
}

void slider_write_container(struct jw *w, const struct slider_look *look, const struct eng_instance *inst,
                            bool is_released)
{
    const struct eng_service *s = inst->component->service;
    mem_auto char *log_url = slider_log_url(look, s, inst->container_id, inst->node_http);
    mem_auto char *host_url = inst->node_http ? mem_fmt("http://%s", inst->node_http) : NULL;
    bool is_going = inst->state == INST_RELEASING || inst->state == INST_DRAINING;
    write_entry(w, &(struct entry){.id = inst->container_id,
                                   .component = eng_component_title(inst->component),
                                   .version = is_versioned(s) ? inst->version : NULL,
                                   .is_released = is_released || is_going,
                                   .state = state_of(inst),
                                   .created_ms = inst->allocated_ms,
                                   .started_ms = inst->launched_ms,
                                   .host = inst->bare_host,
                                   .host_url = host_url,
                                   .placing = inst->placing,
                                   .log_url = log_url});
}

void slider_write_master(struct jw *w, const struct slider_look *look, const struct eng_service *s)
{
    const struct eng_master *m = s->master;
    const char *url = m && m->url ? m->url : look->own_url, *http = m ? m->node_http : NULL;
    mem_auto char *id = slider_master_container(s);
    mem_auto char *host = http ? mem_strn(http, strcspn(http, ":")) : mem_str(look->own_host);
    write_entry(w, &(struct entry){.id = id,
                                   .component = SLIDER_MASTER,
                                   .state = SLIDER_LIVE,
                                   .created_ms = s->launch_ms,
                                   .started_ms = s->started_ms ? s->started_ms : s->launch_ms,
                                   .host = host,
                                   .host_url = url});
}

/** Name of a component that may have gone. */
static const char *title_of(const struct eng_service *s, const char *component)
{
    const struct eng_component *c = eng_service_component(s, component);
    return c ? eng_component_title(c) : component;
}

void slider_write_past(struct jw *w, const struct slider_look *look, const struct eng_service *s,
                       const struct eng_past *p)
{
    mem_auto char *log_url = slider_log_url(look, s, p->container_id, p->node_http);
    mem_auto char *host_url = p->node_http ? mem_fmt("http://%s", p->node_http) : NULL;
    mem_auto char *text = p->exit ? eng_exit_text(p->exit) : mem_str(RELEASE_TEXT);
    write_entry(w, &(struct entry){.id = p->container_id,
                                   .component = title_of(s, p->component),
                                   .version = is_versioned(s) ? p->version : NULL,
                                   .is_released = p->is_released,
                                   .state = SLIDER_STOPPED,
                                   .has_exit = true,
                                   .exit_code = p->exit ? slider_exit_code(p->exit) : RELEASE_EXIT,
                                   .diagnostics = text,
                                   .created_ms = p->allocated_ms,
                                   .started_ms = p->launched_ms,
                                   .ended_ms = p->ended_ms,
                                   .host = p->host,
                                   .host_url = host_url,
                                   .placing = p->placing,
                                   .output = p->exit ? p->exit->last_stderr : NULL,
                                   .log_url = log_url});
}
