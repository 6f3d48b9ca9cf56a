/**
 * The example as DNS and the web show it: names and pages of its containers. See dev.h.
 * Source: RegistryDNS names (instance, component, container, reverse).
 */
#include "dev.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "bobbin/path.h"

static void print_urls(const struct dev *d)
{
    printf("\nregistry   %s/ws/v1/registry/\n", d->registry_url);
    printf("services   %s/app/v1/services?user.name=%s\n", d->services_url, d->user);
    printf("dns        %s port %s (UDP and TCP), domain %s\n", d->dns_address, d->dns_port, d->domain);
    printf("dns state  %s/readyz %s/metrics\n", d->dns_url, d->dns_url);
    printf("files      %s%s\n", d->dir, d->is_temporary ? " (removed at the end)" : "");
    fflush(stdout);
}

/** The port at which a component's readiness is checked, or "" when it has none. */
static const char *web_port(const json_t *component)
{
    return services_text(json_object_get(json_object_get(component, "readiness_check"), "properties"),
                         "port");
}

/** Names of one container: instance (A, TXT), container id (A), reverse. */
static int ask_container(struct dev *d, const json_t *container, struct err_info *why)
{
    const char *ip = services_text(container, "ip");
    mem_auto char *instance = mem_fmt("%s.%s.%s.%s", services_text(container, "component_instance_name"),
                                      d->service_name, d->user, d->domain);
    mem_auto char *encoded = reg_encode_yarn_id(services_text(container, "id"));
    mem_auto char *by_id = mem_fmt("%s.%s", encoded, d->domain);
    const char *const questions[][3] = {{instance, "A"}, {instance, "TXT"}, {by_id, "A"}, {"-x", ip}};
    int err = 0;

    for (size_t i = 0; i < ARRAY_LEN(questions) && !err; i++)
        err = dev_dig(d, questions[i], why);
    return err;
}

static int ask_page(struct dev *d, const json_t *component, const json_t *container, struct err_info *why)
{
    mem_auto char *host = mem_fmt("%s.%s.%s.%s", services_text(container, "component_instance_name"),
                                  d->service_name, d->user, d->domain);

    return dev_curl(d, host, web_port(component), why);
}

/** The component's name has the address of every container. */
static int ask_component_name(struct dev *d, const json_t *component, struct err_info *why)
{
    mem_auto char *name =
        mem_fmt("%s.%s.%s.%s", services_text(component, "name"), d->service_name, d->user, d->domain);

    return dev_dig(d, (const char *const[]){name, "A", NULL}, why);
}

static int ask_component(struct dev *d, const json_t *component, struct err_info *why)
{
    size_t i;
    json_t *container;
    const json_t *containers = json_object_get(component, "containers");
    int err = ask_component_name(d, component, why);

    json_array_foreach(containers, i, container)
    {
        if (!err)
            err = ask_container(d, container, why);
        if (!err && web_port(component)[0])
            err = ask_page(d, component, container, why);
    }
    return err;
}

int dev_answers_start(struct dev *d, struct err_info *why)
{
    size_t i;
    json_t *component;
    int err = 0;

    print_urls(d);
    json_array_foreach(json_object_get(d->service, "components"), i, component)
    {
        if (!err)
            err = ask_component(d, component, why);
    }
    return err;
}
