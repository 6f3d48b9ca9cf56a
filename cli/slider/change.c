/** `bobbin slider create`, `start`, `stop`, `flex` and `destroy` */
#include "slider.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "json/json.h"
#include "kit/commands.h"
#include "kit/input.h"
#include "kit/out.h"
#include "kit/services.h"
#include "package/package.h"

/** One request that changes an application. @param wait  that follows; NULL: none */
static int change(struct cli *cli, const struct slider_request *r, const char *word,
                  int (*wait)(struct slider_client *s, const char *name, struct err_info *why),
                  struct err_info *why)
{
    struct slider_client s;

    slider_open(cli, &s);
    int err = slider_call(&s, r, NULL, why);
    if (!err && wait)
        err = wait(&s, r->name, why);
    if (!err)
        slider_print_change(cli, word, r->name);
    slider_close(&s);
    return err;
}

/* ---- create ---- */

/** A document of an option. */
static int add_document(struct cli *cli, enum cli_option option, const char *key, json_t *body,
                        struct err_info *why)
{
    const char *file = cli_value(cli, option);
    json_t *doc = NULL;
    int err = file ? input_read_json(file, &doc, why) : 0;

    if (doc)
        json_object_set_new(body, key, doc);
    return err;
}

static int add_package(struct cli *cli, json_t *body, struct err_info *why)
{
    const char *file = cli_value(cli, CLI_PACKAGE);
    buf_auto struct buf warnings = BUF_EMPTY;
    json_t *package = NULL;
    int err = file ? package_read(file, json_object_get(body, "appConf"), &package, &warnings, why) : 0;

    if (package)
        json_object_set_new(body, "package", package);
    for (const char *line = buf_cstr(&warnings); *line; line += strcspn(line, "\n") + 1) {
        mem_auto char *text = mem_fmt("bobbin: %.*s", (int)strcspn(line, "\n"), line);
        out_lines_to(stderr, text);
    }
    return err;
}

/** An application must be there, or must not. */
static int check_there(struct cli *cli, bool is_wanted, struct err_info *why)
{
    const char *name = cli->operands[0];
    struct slider_client s;

    slider_open(cli, &s);
    int err = slider_get(&s, name, NULL, NULL, why);
    slider_close(&s);
    if (err && (err != ERR_NOTFOUND || is_wanted))
        return err;
    if (!err && !is_wanted)
        return err_set(why, ERR_EXISTS, name,
                       "there is an application of this name (bobbin slider update replaces its documents)");
    return 0;
}

static int put(struct cli *cli, bool is_there, const char *word, struct err_info *why)
{
    json_auto json_t *body = json_object();
    const struct slider_request r = {.method = "PUT", .name = cli->operands[0], .body = body};

    if (!cli_has(cli, CLI_RESOURCES) || !cli_has(cli, CLI_TEMPLATE))
        return err_set(why, ERR_USAGE, cli->command->verb,
                       "--resources and --template are needed: what runs, and the application configuration");
    int err = add_document(cli, CLI_RESOURCES, "resources", body, why);
    err = err ? err : add_document(cli, CLI_TEMPLATE, "appConf", body, why);
    err = err ? err : add_document(cli, CLI_INTERNAL, "internal", body, why);
    err = err ? err : add_package(cli, body, why);
    err = err ? err : check_there(cli, is_there, why);
    return err ? err : change(cli, &r, word, cli_has(cli, CLI_WAIT) ? slider_wait_live : NULL, why);
}

int slider_create(struct cli *cli, struct err_info *why)
{
    return put(cli, false, "created", why);
}

int slider_update(struct cli *cli, struct err_info *why)
{
    return put(cli, true, "updated", why);
}

/* ---- start, stop, destroy ---- */

int slider_start(struct cli *cli, struct err_info *why)
{
    const struct slider_request r = {.method = "POST", .name = cli->operands[0], .rest = "start"};

    return change(cli, &r, "started", cli_has(cli, CLI_WAIT) ? slider_wait_live : NULL, why);
}

int slider_stop(struct cli *cli, struct err_info *why)
{
    const struct slider_request r = {.method = "POST", .name = cli->operands[0], .rest = "stop"};

    return change(cli, &r, "stopped", cli_has(cli, CLI_NO_WAIT) ? NULL : slider_wait_stopped, why);
}

int slider_destroy(struct cli *cli, struct err_info *why)
{
    const struct slider_request r = {.method = "DELETE", .name = cli->operands[0]};

    return change(cli, &r, "destroyed", NULL, why);
}

/* ---- flex ---- */

/** COMPONENT and NUMBER, +NUMBER or -NUMBER as a field of a form. */
static int add_count(const struct cli_given *given, struct buf *form, struct err_info *why)
{
    const char *text = given->values[1];
    bool has_sign = *text == '+' || *text == '-';
    int64_t n;

    if (str_to_i64(text + has_sign, 0, INT32_MAX, &n))
        return err_set(why, ERR_USAGE, text, "write --component NAME NUMBER, +NUMBER or -NUMBER");
    mem_auto char *name = services_quote(given->values[0]);
    mem_auto char *count = services_quote(text);
    buf_addf(form, "%scomponent.%s=%s", form->len ? "&" : "", name, count);
    return 0;
}

int slider_flex(struct cli *cli, struct err_info *why)
{
    buf_auto struct buf form = BUF_EMPTY;
    json_auto json_t *body = json_object();
    struct slider_request r = {.method = "POST", .name = cli->operands[0], .rest = "application/action/flex"};
    int err = add_document(cli, CLI_RESOURCES, "resources", body, why);

    for (size_t i = 0; i < cli->n_given && !err; i++)
        if (cli->given[i].option == CLI_COMPONENT)
            err = add_count(&cli->given[i], &form, why);
    if (err)
        return err;
    bool has_document = json_object_size(body) > 0;
    if (has_document == (form.len > 0))
        return err_set(why, ERR_USAGE, "flex",
                       "either --component NAME NUMBER, or --resources with the whole document");
    if (has_document) {
        r.method = "PUT";
        r.rest = "application/model/desired/resources";
        r.body = json_object_get(body, "resources");
    } else {
        r.form = buf_cstr(&form);
    }
    return change(cli, &r, "flexed", cli_has(cli, CLI_WAIT) ? slider_wait_live : NULL, why);
}
