/** Named ports of a component: see spec.h. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "json/json.h"
#include "spec/check.h"
#include "spec/spec.h"

#define PLACEHOLDER    "PORT."
#define PORT_NAME_MAX  15 /* RFC 6335 5.1 */
#define PORT_ANY_VALID 1  /* stands for a number that is not known yet */

static bool is_letter_or_digit(char c)
{
    return islower((unsigned char)c) || isdigit((unsigned char)c);
}

/** A name of a service, as RFC 6335 has it, that begins with a letter: it becomes a label of an SRV name and part of a variable's. */
static bool is_port_name(const char *name)
{
    size_t len = strlen(name);
    if (len == 0 || len > PORT_NAME_MAX || !islower((unsigned char)name[0]) ||
        !is_letter_or_digit(name[len - 1]))
        return false;
    for (size_t i = 0; i < len; i++) {
        if (!is_letter_or_digit(name[i]) && (name[i] != '-' || name[i + 1] == '-'))
            return false;
    }
    return true;
}

/** What is wrong with one port, "member: sentence". NULL: nothing. free() */
static char *fault_of(const struct spec_component *c, size_t index)
{
    const struct spec_port *p = c->ports[index];
    if (!p->name || !is_port_name(p->name))
        return mem_fmt(
            "name: \"%s\" is no name of a port; write 1 to %d lower case letters, digits and single "
            "hyphens, a letter first, as \"http\"",
            p->name ? p->name : "", PORT_NAME_MAX);
    for (size_t i = 0; i < index; i++) {
        if (strcmp(c->ports[i]->name, p->name) == 0)
            return mem_fmt("name: %s is there twice; give the ports of a component different names", p->name);
        if (p->port > 0 && c->ports[i]->port == p->port)
            return mem_fmt("port: %s has the port %lld, too; give one of them another one, or 0",
                           c->ports[i]->name, (long long)p->port);
    }
    if (p->port < 0 || p->port > UINT16_MAX)
        return mem_fmt("port: it is not 0 to %d; 0 stands for a free one", UINT16_MAX);
    return NULL;
}

int spec_check_ports(const struct spec_service *s, const struct spec_component *c, struct err_info *why)
{
    size_t index = 0;
    while (s->components[index] != c)
        index++;
    if (c->n_ports > SPEC_PORTS_MAX)
        return SPEC_REFUSE(why, "/components/%zu/ports: at most %d ports can be named", index,
                           SPEC_PORTS_MAX);
    for (size_t i = 0; i < c->n_ports; i++) {
        mem_auto char *fault = fault_of(c, i);
        if (fault)
            return SPEC_REFUSE(why, "/components/%zu/ports/%zu/%s", index, i, fault);
    }
    return 0;
}

json_t *spec_port_values(const struct spec_component *c, const json_t *numbers)
{
    json_t *values = json_object();
    for (size_t i = 0; i < c->n_ports; i++) {
        const struct spec_port *p = c->ports[i];
        json_int_t given = json_integer_value(json_object_get(numbers, p->name));
        mem_auto char *key = mem_fmt(PLACEHOLDER "%s", p->name);
        mem_auto char *number = mem_fmt("%lld", (long long)(p->port > 0 ? p->port : given));
        json_object_set_new(values, key, json_string(number));
    }
    return values;
}

char *spec_any_ports(const struct spec_component *c, const char *text)
{
    json_auto json_t *numbers = json_object();
    for (size_t i = 0; i < c->n_ports; i++)
        json_object_set_new(numbers, c->ports[i]->name, json_integer(PORT_ANY_VALID));
    json_auto json_t *values = spec_port_values(c, numbers);
    return spec_expand(text, values);
}

int spec_check_port_placeholders(const struct spec_component *c, const char *text, struct err_info *why)
{
    mem_auto char *expanded = spec_any_ports(c, text);
    const char *left = strstr(expanded, "${" PLACEHOLDER);
    if (!left)
        return 0;
    return SPEC_REFUSE(why,
                       "Component %s: %.*s in its readiness_check is none of its ports; declare it in ports",
                       c->name, (int)strcspn(left, "}") + 1, left);
}
