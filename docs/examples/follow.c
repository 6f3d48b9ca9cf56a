/**
 * Following: what is below a path now, then each change, without a loop of one's own.
 *
 *     example-follow [--registry URL] PATH COUNT
 *
 * Prints "there PATH" for what is there, "current", then "put PATH" or "gone PATH" for each change; ends after COUNT of these.
 */
#include "common.h"

struct follower {
    struct reg_blocking *registry;
    bool is_current;
    long n_left;
};

static void count(struct follower *f)
{
    fflush(stdout);
    if (f->is_current && --f->n_left <= 0)
        reg_blocking_stop(f->registry);
}

static void on_reset(void *arg)
{
    struct follower *f = arg;

    f->is_current = false;
}

static void on_put(void *arg, const char *path, const struct reg_record *record, const char *revision)
{
    struct follower *f = arg;

    (void)revision;
    printf("%s %s%s\n", f->is_current ? "put" : "there", path, record ? "" : " (no record)");
    count(f);
}

static void on_deleted(void *arg, const char *path, const char *revision)
{
    (void)revision;
    printf("gone %s\n", path);
    count(arg);
}

static void on_synced(void *arg, const char *revision)
{
    struct follower *f = arg;

    (void)revision;
    f->is_current = true;
    printf("current\n");
    fflush(stdout);
}

static void on_state(void *arg, const struct err_info *why)
{
    (void)arg;
    if (why)
        fprintf(stderr, "%s: %s (trying again)\n", why->where, why->text);
}

static int run(struct reg_blocking *registry, char **operands, struct err_info *why)
{
    const struct reg_watch_ops ops = {
        .reset = on_reset, .put = on_put, .deleted = on_deleted, .synced = on_synced, .state = on_state};
    const struct reg_follow what = {.path = operands[0]};
    struct follower f = {.registry = registry, .n_left = strtol(operands[1], NULL, 10)};

    return reg_blocking_watch(registry, &what, &ops, &f, why);
}

int main(int argc, char **argv)
{
    const struct example example = {.usage = "PATH COUNT", .n_operands = 2, .run = run};

    return example_main(&example, argc, argv);
}
