/**
 * An application master gives a container a record of its own: it makes the container's node and lets the holder of
 * id:password write it. The pair is made up for this container and handed to it in its environment, where other users
 * of the machine cannot read it; container.c is what runs there.
 *
 *     CONTAINER_ACCESSOR=id:password example-container-am [--registry URL] PATH CONTAINER_ID
 */
#include "common.h"

/** Nodes made from now on may be written by the pair. *secure: the registry goes by it. */
static int let_holder_write(struct reg_blocking *registry, const char *pair, bool *secure,
                            struct err_info *why)
{
    const char *colon = pair ? strchr(pair, ':') : NULL;

    if (!colon)
        return err_set(why, ERR_INVALID, "CONTAINER_ACCESSOR", "id:password is expected");
    char *id = strndup(pair, (size_t)(colon - pair));
    int err = reg_blocking_add_write_accessor(registry, id, colon + 1, secure, why);
    free(id);
    return err;
}

static int run(struct reg_blocking *registry, char **operands, struct err_info *why)
{
    const char *path = operands[0], *container = operands[1];
    bool secure = false;
    int err = let_holder_write(registry, getenv("CONTAINER_ACCESSOR"), &secure, why);
    struct reg_record *record = reg_record_new();

    reg_record_describe(record, "starting");
    reg_record_set(record, "yarn:id", container, NULL);
    reg_record_set(record, "yarn:persistence", "container", NULL);
    if (!err)
        err = reg_blocking_bind(registry, path, record, REG_CREATE_PARENTS, NULL, why);
    if (!err)
        printf("made %s for %s\n", path,
               secure ? "the holder of the pair" : "everybody: the registry is not secure");
    /* What is made for the next container must not be writable by this one. */
    reg_blocking_clear_write_accessors(registry);
    reg_record_free(record);
    return err;
}

int main(int argc, char **argv)
{
    const struct example example = {.usage = "PATH CONTAINER_ID", .n_operands = 2, .run = run};

    return example_main(&example, argc, argv);
}
