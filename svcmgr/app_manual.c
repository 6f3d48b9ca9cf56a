/* What the manual page of svcmgr has beside its options and metrics. All of it is rows of tables. */
#include "run/manual.h"
#include "spec/properties.h"
#include "svcmgr/app.h"
#include "svcmgr/options.h"

struct entry {
    const char *key, *name, *prose;
};

#define FAMILY_ENTRY(beginning, name, prose) {beginning, name, prose},
#define OTHER_ENTRY(key, why)                {key, "", why},
static const struct entry families[] = {SVCMGR_FAMILIES(FAMILY_ENTRY)},
                          others[] = {SVCMGR_NOT_APPLICABLE(OTHER_ENTRY)};

static void add_key(struct buf *out, const char *key, const char *name)
{
    buf_add_str(out, ".TP\n.BI ");
    manual_text(out, key);
    buf_addf(out, " %s\n", name);
}

static void add_entries(struct buf *out, const struct entry *entries, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        add_key(out, entries[i].key, entries[i].name);
        manual_text(out, entries[i].prose);
        buf_add_char(out, '\n');
    }
}

static const char *default_of(const struct spec_prop_row *row)
{
    if (row->def[0])
        return row->def;
    return row->type == SPEC_PROP_TEXT ? "unset" : "svcmgr's option of this key";
}

static void add_property(struct buf *out, const struct spec_prop_row *row)
{
    add_key(out, row->key, "");
    if (row->use == SPEC_PROP_NO_MEANING) {
        buf_add_str(out, "Not applicable: ");
    } else {
        buf_add_str(out, "(default: ");
        manual_text(out, default_of(row));
        buf_add_str(out, ")\n");
    }
    manual_text(out, row->prose);
    buf_add_char(out, '\n');
}

void app_manual(struct buf *out)
{
    buf_add_str(out, ".SH FAMILIES OF KEYS\n");
    add_entries(out, families, ARRAY_LEN(families));
    buf_add_str(
        out,
        ".SH PROPERTIES OF SERVICES\nThese keys stand in configuration.properties of a service or component, "
        "whose definition is sent to the services API.\n");
    for (size_t i = 0; i < N_SPEC_PROPS; i++)
        if (spec_props[i].use != SPEC_PROP_REFUSED)
            add_property(out, &spec_props[i]);
    buf_add_str(out, ".SH KEYS OF HADOOP THAT DO NOT APPLY\nThese keys are accepted in the configuration and "
                     "mean nothing.\n");
    add_entries(out, others, ARRAY_LEN(others));
}
