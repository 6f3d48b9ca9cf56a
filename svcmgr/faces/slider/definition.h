/**
 * What a Slider application runs: from its documents and its components to a definition of the engine and its rules.
 *
 *     { "resources": ConfTree, "appConf": ConfTree, "internal": ConfTree, "package": Package }
 *     Package: { "name", "version", "components": { name: { "exec", "min", "max", "category" } },
 *                "configFiles": { dictionary: { "type", "fileName" } }, "files": [ConfigFile…] }
 *
 * Options site.DICTIONARY.NAME become the configuration file that the package has under this name, else DICTIONARY.xml. `files` are
 * ConfigFiles of the services API that every container gets; what is wrong with them spec_read finds.
 * The command of a component is `exec` of its package, or the option launch_command of the application configuration. Commands,
 * environment and configuration files may name options as `{$conf:@//site/FILE/NAME}`, and Slider's words in `${…}`.
 * Names of applications and components, which are freer than labels, become labels (spec/label.h); the rules have them as titles.
 * Pure. Thread: any, one object one thread.   Source: slider-am 4.3, 4.4, 4.7, 12; Slider's application definitions.
 */
#ifndef FACES_SLIDER_DEFINITION_H
#define FACES_SLIDER_DEFINITION_H

#include <jansson.h>
#include <stdint.h>

#include "bobbin/error.h"
#include "engine/rules.h"
#include "slider/model.h"
#include "spec/spec.h"

/** Option of the application configuration: the command of a component without a package. */
#define SLIDER_COMMAND "launch_command"

/** The largest container that the cluster gives; 0: no limit is known. */
struct slider_limits {
    int64_t memory_mb, vcores;
};

/** All borrowed. */
struct slider_documents {
    const char *name;        /* of the application */
    const json_t *resources; /* resolved */
    const json_t *app_conf;  /* resolved */
    const json_t *internal;  /* NULL: none */
    const json_t *package;   /* NULL: none */
};

/**
 * Check that every component that is wanted can be run: that it has a command, and as many instances as its package allows (V8, V9).
 *
 * @return 0; ERR_INVALID: *why names the component and the remedy.
 */
int slider_definition_check(const struct slider_documents *docs, const struct slider_model *model,
                            struct err_info *why);
/**
 * Make the definition: a document as spec_read takes it.
 *
 * @param limits  what "max" and normalization cut sizes down to                       [borrowed]
 * @return new reference
 */
json_t *slider_definition_make(const struct slider_documents *docs, const struct slider_model *model,
                               const struct slider_limits *limits);
/**
 * Make the rules: priorities, placement memory.
 *
 * @param out  eng_rules_free                                                          [out]
 * @return 0; ERR_INVALID: an option is no number; *out is NULL.
 */
int slider_definition_rules(const struct slider_documents *docs, const struct slider_model *model,
                            struct eng_rules **out, struct err_info *why);
/** Put the values of options into a text: {$conf:@//site/FILE/NAME}. What is not known stays as it is. free() */
char *slider_expand(const char *text, const json_t *app_conf, const char *component);

#endif
