/*
 * The store of an original launcher: any bytes as the payload of each of its documents. What is taken has the form that its header promises,
 * its texts fit into a header of HTTP, its descriptor is JSON; a refusal says something.
 */
#include "fuzz.h"

#include <string.h>

#include "base/str.h"
#include "json/json.h"
#include "launcher/stored.h"

#define NAME "f"

static void check_refusal(int err, const struct err_info *why)
{
    FUZZ_HOLDS((err == ERR_PARSE || err == ERR_TOOBIG) && why->text[0] && !strpbrk(why->text, "\r\n"));
}

static void check_request(const struct stored_request *r)
{
    json_auto json_t *descriptor = NULL;

    FUZZ_HOLDS(strcmp(r->name, NAME) == 0);
    FUZZ_HOLDS(stored_is_name(r->user) && stored_is_name(r->client));
    FUZZ_HOLDS(!r->parent || stored_is_name(r->parent));
    FUZZ_HOLDS(r->n_roles >= 1 && r->n_tasks >= 0);
    FUZZ_HOLDS(strlen(r->descriptor) <= STORED_DESCRIPTOR_MAX);
    FUZZ_HOLDS(json_read(r->descriptor, strlen(r->descriptor), &descriptor, NULL) == 0);
    FUZZ_HOLDS(json_is_object(descriptor));
    for (size_t i = 0; i < r->n_roles; i++)
        FUZZ_HOLDS(stored_is_name(r->roles[i]));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct stored_bytes bytes = {(const char *)data, size};
    struct stored_request request;
    struct stored_documents documents;
    struct stored_state state;
    struct err_info why = {0};
    double progress;
    size_t n = 0;
    int err = stored_request_read(NAME, bytes, &request, &why);

    if (err)
        check_refusal(err, &why);
    else
        check_request(&request);
    stored_request_fini(&request);
    why = (struct err_info){0};
    if ((err = stored_state_read(bytes, &state, &why)))
        check_refusal(err, &why);
    else
        FUZZ_HOLDS(stored_is_name(state.state));
    why = (struct err_info){0};
    if ((err = stored_progress_read(bytes, &progress, &why)))
        check_refusal(err, &why);
    else
        FUZZ_HOLDS(progress >= 0 && progress <= 1);
    why = (struct err_info){0};
    if ((err = stored_tasks_read(bytes, &n, &why)))
        check_refusal(err, &why);
    why = (struct err_info){0};
    if ((err = stored_documents_read(bytes, &documents, &why)))
        check_refusal(err, &why);
    stored_documents_fini(&documents);
    return 0;
}
