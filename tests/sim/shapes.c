#include "world.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/obj.h"

#define N_FREE_SHAPES 11 /* without constraints; they come first */

/* Each has %s for the name of the service. Between them: every restart policy, dependencies of components and of services, probes,
 * constraints of placement, thresholds, drains, limits of retries, and a component that is larger than what one step may change. */
static const char *const shapes[N_SHAPES] = {
    "{'name':'%s','version':'1','components':[{'name':'a','number_of_containers':2,'ports':[{'name':'p'},{'"
    "name':'q','port':80}],'launch_command':'x',"
    "'resource':{'cpus':1,'memory':'64'}}]}",

    "{'name':'%s','version':'1','components':[{'name':'a','number_of_containers':1,'launch_command':'x',"
    "'resource':{'cpus':1,'memory':'64'}},{'name':'b','number_of_containers':3,'launch_command':'x','"
    "dependencies':['a'],"
    "'resource':{'cpus':1,'memory':'64'}}]}",

    "{'name':'%s','version':'1','components':[{'name':'a','number_of_containers':3,'restart_policy':'NEVER','"
    "launch_command':'x',"
    "'resource':{'cpus':1,'memory':'64'}}]}",

    "{'name':'%s','version':'1','components':[{'name':'a','number_of_containers':2,'restart_policy':'ON_"
    "FAILURE','launch_command':'x',"
    "'resource':{'cpus':1,'memory':'64'}},{'name':'b','number_of_containers':1,'launch_command':'x','"
    "dependencies':['a'],"
    "'resource':{'cpus':1,'memory':'64'}}]}",

    "{'name':'%s','version':'1','configuration':{'properties':{'yarn.service.container-failure-per-component."
    "threshold':'2'}},"
    "'components':[{'name':'a','number_of_containers':2,'launch_command':'x','resource':{'cpus':1,'memory':'"
    "64'}}]}",

    "{'name':'%s','version':'1','configuration':{'properties':{'yarn.service.container-failure.retry.max':'1'"
    "}},"
    "'components':[{'name':'a','number_of_containers':3,'launch_command':'x','resource':{'cpus':1,'memory':'"
    "64'}}]}",

    "{'name':'%s','version':'1','components':[{'name':'a','number_of_containers':2,'launch_command':'x',"
    "'readiness_check':{'type':'PORT','properties':{'port':'80'}},'resource':{'cpus':1,'memory':'64'}},"
    "{'name':'b','number_of_containers':1,'launch_command':'x','dependencies':['a'],'resource':{'cpus':1,'"
    "memory':'64'}}]}",

    "{'name':'%s','version':'1','configuration':{'properties':{'yarn.service.drain.seconds':'2',"
    "'yarn.service.upgrade.steady.seconds':'1','yarn.service.upgrade.ready-timeout.seconds':'3'}},"
    "'components':[{'name':'a','number_of_containers':3,'launch_command':'x',"
    "'readiness_check':{'type':'PORT','properties':{'port':'80'}},'resource':{'cpus':1,'memory':'64'}},"
    "{'name':'b','number_of_containers':2,'launch_command':'x','resource':{'cpus':1,'memory':'64'}}]}",

    "{'name':'%s','version':'1','lifetime':20,'configuration':{'properties':{'yarn.service.drain.seconds':'1'"
    "}},'components':[{'name':'a','number_of_containers':2,'launch_"
    "command':'x',"
    "'resource':{'cpus':1,'memory':'64'}}]}",

    "{'name':'%s','version':'1','dependencies':['s0'],'components':[{'name':'a','number_of_containers':1,'"
    "launch_command':'x',"
    "'resource':{'cpus':1,'memory':'64'}}]}",

    "{'name':'%s','version':'1','components':[{'name':'a','number_of_containers':70,'launch_command':'x',"
    "'resource':{'cpus':1,'memory':'64'}},{'name':'b','number_of_containers':0,'launch_command':'x',"
    "'resource':{'cpus':1,'memory':'64'}}]}",

    "{'name':'%s','version':'1','components':[{'name':'a','number_of_containers':3,'launch_command':'x',"
    "'resource':{'cpus':1,'memory':'64'},'placement_policy':{'constraints':[{'name':'apart',"
    "'type':'ANTI_AFFINITY','scope':'NODE','target_tags':['a']}]}}]}",

    "{'name':'%s','version':'1','components':[{'name':'a','number_of_containers':4,'launch_command':'x',"
    "'resource':{'cpus':1,'memory':'64'},'placement_policy':{'constraints':[{'name':'pairs',"
    "'type':'AFFINITY_WITH_CARDINALITY','scope':'NODE','max_cardinality':2,'target_tags':['a']},"
    "{'name':'rack','type':'AFFINITY','scope':'RACK','target_tags':['a']}]}}]}",
};

static bool any_path(void *arg, const char *path)
{
    (void)arg;
    (void)path;
    return true;
}

static const struct spec_service *no_service(void *arg, const char *user, const char *name)
{
    (void)arg;
    (void)user;
    (void)name;
    return NULL;
}

/** The shapes with constraints came later: numbers in older traces mean what they meant. */
static uint32_t shape_of(uint32_t number)
{
    if (number < N_SHAPES)
        return number;
    return number / N_FREE_SHAPES % 8 == 7 ? N_FREE_SHAPES + number % (N_SHAPES - N_FREE_SHAPES)
                                           : number % N_FREE_SHAPES;
}

struct spec_service *shape_new(const struct dialect *dialect, uint32_t shape, const char *name)
{
    struct spec_world world = {
        .dialect = dialect, .local = true, .path_exists = any_path, .find_service = no_service};
    mem_auto char *text = mem_fmt(shapes[shape_of(shape)], name);
    struct err_info why = {0};
    struct spec_service *s = NULL;
    for (char *p = text; *p; p++)
        *p = *p == '\'' ? '"' : *p;
    if (spec_read(text, strlen(text), &s, NULL, &why) || spec_complete(s, WORLD_USER, &world, &why))
        BUG_IF(true); /* a shape of ours is wrong */
    return s;
}
