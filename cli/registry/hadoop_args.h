/**
 * Words as Hadoop's registry command line reads them, that is Commons CLI's GnuParser: -name VALUE, --name, -name=VALUE, -nVALUE;
 * -- ends the options. Pure. Thread: any.   Source: Apache Commons CLI, GnuParser.
 */
#ifndef CLI_REGISTRY_HADOOP_ARGS_H
#define CLI_REGISTRY_HADOOP_ARGS_H

#include <stdbool.h>
#include <stddef.h>

enum { HADOOP_OPTIONS_MAX = 4 };

struct hadoop_option {
    const char *name;
    bool has_value;
};

struct hadoop_args {
    char **tokens; /* all words, taken apart; what is below points into them */
    size_t n_tokens;
    bool has[HADOOP_OPTIONS_MAX]; /* by index of the option */
    const char *values[HADOOP_OPTIONS_MAX];
    const char **operands; /* the command's own name is the first */
    size_t n_operands;
    const char *exception; /* simple name of what Commons CLI would throw; NULL: nothing */
    char *message;         /* of it */
};

/**
 * Take words apart. What they break is said in out->exception and out->message.
 *
 * @param options  at most HADOOP_OPTIONS_MAX, ended by a name NULL               [borrowed]
 * @param words    n of them, the command's name first                            [borrowed]
 * @param out      hadoop_args_fini                                               [out]
 */
void hadoop_args_read(const struct hadoop_option *options, const char *const *words, size_t n,
                      struct hadoop_args *out);
/** Release. */
void hadoop_args_fini(struct hadoop_args *args);

#endif
