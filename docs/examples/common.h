/**
 * What the short examples share: how they reach the registry, and how they end.
 *
 *     example-NAME [--registry URL] OPERAND…
 */
#ifndef EXAMPLES_COMMON_H
#define EXAMPLES_COMMON_H

#include <bobbin/path.h>
#include <bobbin/record.h>
#include <bobbin/registry.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct example {
    const char *usage; /* operands, as "USER NAME" */
    int n_operands;
    /* of the environment: id:password of a write accessor to act as; NULL: none */
    const char *accessor_variable;
    /** The work. @return 0, or ERR_* with *why filled. */
    int (*run)(struct reg_blocking *registry, char **operands, struct err_info *why);
};

/** Main of an example. @return exit code. */
static inline int example_main(const struct example *example, int argc, char **argv)
{
    struct reg_options options = {0};
    struct reg_blocking *registry = NULL;
    struct err_info why = {0};
    int at = 1;

    if (example->accessor_variable)
        options.accessor = getenv(example->accessor_variable);
    if (argc > 2 && strcmp(argv[1], "--registry") == 0) {
        options.url = argv[2];
        at = 3;
    }
    if (argc - at != example->n_operands) {
        fprintf(stderr, "usage: %s [--registry URL] %s\n", argv[0], example->usage);
        return 2;
    }
    int err = reg_blocking_open(&options, &registry, &why);
    if (!err)
        err = example->run(registry, argv + at, &why);
    if (err)
        fprintf(stderr, "%s: %s: %s\n", argv[0], why.where, why.text);
    reg_blocking_close(registry);
    return err_exit_code(err);
}

#endif
