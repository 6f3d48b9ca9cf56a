/**
 * Whose services share a registry directory: users "Alice" and "alice", "a_b" and "a-b" have one home (spec_registry_user), and a
 * service that begins or ends there clears its path, whoever's records are below it.
 *
 *     homes: "alice" ──► users: "alice" ──► 2 services
 *                               "Alice" ──► 1 service      only in a state that an earlier version has stored
 */
#include <stdlib.h>
#include <string.h>

#include "engine/documents.h"
#include "engine/service.h"
#include "engine/step.h"

/** Change a user's count by delta; a user with none is not in the map. */
static void count_on(struct engine *e, const char *user, intptr_t delta)
{
    mem_auto char *home = spec_registry_user(user);
    struct map *users = map_get(&e->homes, home);
    if (!users) {
        users = mem_new(struct map);
        map_set(&e->homes, home, users);
    }
    intptr_t n = (intptr_t)map_get(users, user) + delta;
    BUG_IF(n < 0);
    if (n > 0)
        map_set(users, user, (void *)n);
    else
        map_remove(users, user);
    if (users->n_items > 0)
        return;
    map_remove(&e->homes, home);
    map_fini(users, NULL);
    free(users);
}

void homes_add(struct engine *e, const struct eng_service *s)
{
    count_on(e, s->user, 1);
}

void homes_remove(struct engine *e, const struct eng_service *s)
{
    count_on(e, s->user, -1);
}

static void free_users(void *value)
{
    map_fini(value, NULL);
    free(value);
}

void homes_fini(struct engine *e)
{
    map_fini(&e->homes, free_users);
}

static const struct map *users_at_home_of(const struct engine *e, const char *user)
{
    mem_auto char *home = spec_registry_user(user);
    return map_get(&e->homes, home);
}

void homes_copy(struct engine *to, const struct engine *from, const char *user)
{
    static const struct map no_users;
    const struct map *users = users_at_home_of(from, user);
    for (MAP_EACH (users ? users : &no_users, it))
        count_on(to, it->key, (intptr_t)it->value);
}

const char *homes_other(const struct engine *e, const char *user)
{
    static const struct map no_users;
    const struct map *users = users_at_home_of(e, user);
    const char *first = NULL;
    for (MAP_EACH (users ? users : &no_users, it)) {
        if (strcmp(it->key, user) != 0 && (!first || strcmp(it->key, first) < 0))
            first = it->key;
    }
    return first;
}

static bool has_path_of(const struct eng_service *s, const struct eng_service *other)
{
    return s != other && strcmp(s->registry_class, other->registry_class) == 0 && eng_service_is_live(s);
}

struct eng_service *homes_rival(const struct engine *e, const struct eng_service *s)
{
    static const struct map no_users;
    const struct map *users = users_at_home_of(e, s->user);
    for (MAP_EACH (users ? users : &no_users, it)) {
        mem_auto char *key = service_key(s->kind, it->key, s->name);
        struct eng_service *rival = map_get(&e->services, key);
        if (rival && has_path_of(rival, s))
            return rival;
    }
    return NULL;
}
