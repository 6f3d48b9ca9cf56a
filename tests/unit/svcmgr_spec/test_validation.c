/**
 * Driver of tests/contract/services_validation.json; tests/contract/test_services_validation.py asks the same rows over HTTP. A row:
 * service, and either the expected diagnostics (error, match = exact, prefix or contains) or what must come out (components,
 * lifetime). dns, secure, dialect (none: both), user, others (services that exist) and launch (the checks of a launch on a local
 * cluster with at most 4096 MB and 8 cores) set the scene.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "json/json.h"
#include "spec/spec.h"

struct scene {
    const json_t *others;
    struct spec_service *found; /* last one asked for */
};

static bool path_exists(void *arg, const char *path)
{
    (void)arg;
    return strcmp(path, "/missing") != 0;
}

static const struct spec_service *find_service(void *arg, const char *user, const char *name)
{
    struct scene *scene = arg;
    (void)user;
    json_t *doc = json_object_get(scene->others, name);
    if (!doc)
        return NULL;
    spec_free(scene->found);
    void *object = NULL;
    assert_int_equal(fld_read(&spec_service_type, doc, &object, NULL), 0);
    scene->found = object;
    return scene->found;
}

static int run(const json_t *row, const char *dialect, struct spec_service *s, struct scene *scene,
               struct err_info *why)
{
    const char *user = json_string_value(json_object_get(row, "user"));
    const struct spec_images images = {
        .program = "/bin/false", .privileged_users = "", .ro_mounts = "/srv/ro", .rw_mounts = "/srv/rw"};
    struct spec_world world = {.dialect = dialect_find(dialect),
                               .dns_enabled = json_is_true(json_object_get(row, "dns")),
                               .secure = json_is_true(json_object_get(row, "secure")),
                               .local = true,
                               .images = &images,
                               .max_memory_mb = 4096,
                               .max_vcores = 8,
                               .path_exists = path_exists,
                               .find_service = find_service,
                               .arg = scene};
    int rc = spec_complete(s, user ? user : "alice", &world, why);
    if (!rc && json_is_true(json_object_get(row, "launch")))
        rc = spec_check_launch(s, &world, why);
    return rc;
}

static bool says(const char *got, const char *wanted, const char *match)
{
    if (strcmp(match, "prefix") == 0)
        return strncmp(got, wanted, strlen(wanted)) == 0;
    if (strcmp(match, "contains") == 0)
        return strstr(got, wanted) != NULL;
    return strcmp(got, wanted) == 0;
}

static void check_result(const json_t *row, const char *id, const struct spec_service *s)
{
    const json_t *lifetime = json_object_get(row, "lifetime"),
                 *components = json_object_get(row, "components");
    if (lifetime && s->lifetime != json_integer_value(lifetime))
        fail_msg("%s: lifetime is %lld", id, (long long)s->lifetime);
    if (json_array_size(components) != s->n_components)
        fail_msg("%s: %zu components came out", id, s->n_components);
    for (size_t i = 0; i < s->n_components; i++)
        assert_string_equal(s->components[i]->name, json_string_value(json_array_get(components, i)));
}

static void check_row(const json_t *row, const char *dialect)
{
    const char *id = json_string_value(json_object_get(row, "row"));
    const char *error = json_string_value(json_object_get(row, "error"));
    struct scene scene = {.others = json_object_get(row, "others")};
    struct err_info why = {0};
    void *object = NULL;
    if (fld_read(&spec_service_type, json_object_get(row, "service"), &object, &why))
        fail_msg("%s: cannot be decoded: %s", id, why.text);
    struct spec_service *s = object;
    int rc = run(row, dialect, s, &scene, &why);
    if (error &&
        (rc != ERR_INVALID || !says(why.text, error, json_string_value(json_object_get(row, "match")))))
        fail_msg("%s: \"%s\" expected, but: %s", id, error, rc ? why.text : "it is valid");
    if (!error && rc)
        fail_msg("%s: should be valid, but: %s", id, why.text);
    if (!error)
        check_result(row, id, s);
    spec_free(s);
    spec_free(scene.found);
}

static void all_rows(void **state)
{
    (void)state;
    json_error_t error;
    json_t *rows = json_load_file(ROWS_FILE, 0, &error);
    if (!rows)
        fail_msg("%s:%d: %s", ROWS_FILE, error.line, error.text);
    assert_true(json_array_size(rows) > 50);
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        const char *dialect = json_string_value(json_object_get(row, "dialect"));
        check_row(row, dialect ? dialect : "seed");
        if (!dialect)
            check_row(row, "hadoop3");
    }
    json_decref(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_rows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
