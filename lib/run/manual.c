#include "run/manual.h"
#include "run/args.h"
#include "bobbin/error.h"

#include <string.h>

void manual_text(struct buf *out, const char *text)
{
    if (*text == '.' || *text == '\'')
        buf_add_str(out, "\\&");
    for (; *text; text++) {
        if (*text == '\\')
            buf_add_str(out, "\\e");
        else if (*text == '-')
            buf_add_str(out, "\\-");
        else
            buf_add_char(out, *text);
    }
}

static const char *type_text(const struct opt_def *d)
{
    switch (d->type) {
    case OPT_TEXT: return "text";
    case OPT_BOOL: return "true or false";
    case OPT_INT: return "integer";
    case OPT_TIME:
        return strcmp(d->unit, "ms") == 0 ? "time, a bare number is in ms" : "time, a bare number is in s";
    case OPT_SIZE: return "bytes, also with k, M, G";
    case OPT_ADDR: return "address:port";
    case OPT_ENUM: return d->unit;
    }
    return "";
}

static void option_entry(const struct opt_def *d, struct buf *out)
{
    buf_add_str(out, ".TP\n.B ");
    manual_text(out, d->key);
    buf_addf(out, "\n(%s; default: ", type_text(d));
    manual_text(out, d->def ? d->def : "unset");
    buf_add_str(out, d->reload == OPT_RELOADABLE ? "; read again on SIGHUP)\n" : ")\n");
    manual_text(out, d->prose);
    buf_add_char(out, '\n');
}

void manual_keys(const struct opt_def *defs, size_t n, struct buf *out)
{
    for (size_t i = 0; i < n; i++)
        option_entry(&defs[i], out);
}

static void metric_entry(const struct metric_def *m, struct buf *out)
{
    buf_add_str(out, ".TP\n.B ");
    manual_text(out, m->name);
    buf_add_char(out, '\n');
    manual_text(out, m->help);
    buf_add_char(out, '\n');
}

void manual_exit_codes(struct buf *out)
{
    buf_add_str(out, ".SH EXIT STATUS\n.TP\n.B 0\nSuccess.\n");
#define EXIT_ENTRY(token, code, type, http, exit_code, exception, text)                                      \
    if ((exit_code) != 0)                                                                                    \
        buf_addf(out, ".TP\n.B %d\n%s\n", (exit_code), (text));
    BOBBIN_ERRORS(EXIT_ENTRY)
#undef EXIT_ENTRY
}

void manual_page(const struct daemon_def *def, struct buf *out)
{
    buf_auto struct buf help = BUF_EMPTY;
    args_help(def->name, def->summary, &help);
    buf_addf(out, ".TH %s 8 \"\" \"bobbin %s\"\n.SH NAME\n%s \\- ", def->name, BOBBIN_VERSION, def->name);
    manual_text(out, def->summary);
    buf_add_str(out, "\n.SH SYNOPSIS\n.nf\n");
    manual_text(out, buf_cstr(&help));
    buf_add_str(out, ".fi\n.SH CONFIGURATION\nKeys are read from core\\-site.xml, hdfs\\-site.xml and "
                     "yarn\\-site.xml of the configuration "
                     "directory, then from \\-D.\n");
    manual_keys(def->options, def->n_options, out);
    if (def->manual)
        def->manual(out);
    buf_add_str(out, ".SH METRICS\nAt /metrics, in the text form of Prometheus or, when Accept prefers it, "
                     "of OpenMetrics.\n");
    for (size_t i = 0; i < def->n_metrics; i++)
        metric_entry(&def->metrics[i], out);
    manual_exit_codes(out);
}

static void xml_text(struct buf *out, const char *text)
{
    for (; *text; text++) {
        switch (*text) {
        case '<': buf_add_str(out, "&lt;"); break;
        case '>': buf_add_str(out, "&gt;"); break;
        case '&': buf_add_str(out, "&amp;"); break;
        default: buf_add_char(out, *text);
        }
    }
}

void manual_xml(const struct daemon_def *def, struct buf *out)
{
    buf_addf(out,
             "<?xml version=\"1.0\"?>\n<!-- Keys of %s with their defaults. Copy what you change. "
             "-->\n<configuration>\n",
             def->name);
    for (size_t i = 0; i < def->n_options; i++) {
        const struct opt_def *d = &def->options[i];
        buf_addf(out, "  <property>\n    <name>%s</name>\n", d->key);
        if (d->def) {
            buf_add_str(out, "    <value>");
            xml_text(out, d->def);
            buf_add_str(out, "</value>\n");
        }
        buf_add_str(out, "    <description>");
        xml_text(out, d->prose);
        buf_add_str(out, "</description>\n  </property>\n");
    }
    buf_add_str(out, "</configuration>\n");
}
