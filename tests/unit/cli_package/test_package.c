/**
 * Packages of Slider: what metainfo says of components, what needs Slider's agent, and hostile zip files.
 */
#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/buf.h"
#include "base/mem.h"
#include "json/json.h"
#include "package/package.h"

#define COMPONENT(more) "{\"application\":{\"name\":\"A\",\"components\":[{\"name\":\"W\"," more "}]}}"
#define APPLICATION(more)                                                                                    \
    "{\"application\":{\"components\":[{\"name\":\"W\",\"commands\":[{\"exec\":\"x\"}]}]," more "}}"
#define XML(components)                                                                                      \
    "<metainfo><schemaVersion>2.0</schemaVersion><application><name>A</name><components>" components         \
    "</components></application></metainfo>"

static char path[64];

static int set_up(void **state)
{
    (void)state;
    snprintf(path, sizeof path, "/tmp/package-test-XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    return unlink(path);
}

/** An entry of a zip. */
struct one {
    const char *name, *text;
    size_t len; /* of text; 0: up to its NUL */
};

static void add(struct archive *a, const struct one *o)
{
    struct archive_entry *e = archive_entry_new();
    size_t len = o->len ? o->len : strlen(o->text);

    archive_entry_set_pathname(e, o->name);
    archive_entry_set_perm(e, 0644);
    archive_entry_set_filetype(e, AE_IFREG);
    archive_entry_set_size(e, (la_int64_t)len);
    assert_int_equal(archive_write_header(a, e), ARCHIVE_OK);
    assert_int_equal(archive_write_data(a, o->text, len), (la_ssize_t)len);
    archive_entry_free(e);
}

/** Write a zip of entries up to one without a name. */
static void write_zip(const struct one *entries)
{
    struct archive *a = archive_write_new();

    assert_int_equal(archive_write_set_format_zip(a), ARCHIVE_OK);
    assert_int_equal(archive_write_open_filename(a, path), ARCHIVE_OK);
    for (; entries->name; entries++)
        add(a, entries);
    assert_int_equal(archive_write_free(a), ARCHIVE_OK);
}

/** Read the package with an application configuration, or NULL. *out: the document on one line, free() */
static int read_with(const char *app_conf, char **out, struct buf *warnings, struct err_info *why)
{
    json_auto json_t *conf = app_conf ? json_loads(app_conf, 0, NULL) : NULL;
    json_auto json_t *doc = NULL;
    int rc = package_read(path, conf, &doc, warnings, why);

    *out = doc ? json_dumps(doc, JSON_COMPACT) : NULL;
    return rc;
}

/** Of one metainfo. */
static int read_one(const char *name, const char *text, const char *app_conf, char **out,
                    struct buf *warnings, struct err_info *why)
{
    const struct one entries[] = {{.name = name, .text = text}, {.name = NULL}};

    write_zip(entries);
    return read_with(app_conf, out, warnings, why);
}

static void expect(const char *name, const char *text, const char *wanted)
{
    mem_auto char *out = NULL;
    buf_auto struct buf warnings = BUF_EMPTY;
    struct err_info why = {0};
    int rc = read_one(name, text, NULL, &out, &warnings, &why);

    if (rc)
        fail_msg("%s: %d at %s: %s", text, rc, why.where, why.text);
    assert_string_equal(out, wanted);
    assert_string_equal(buf_cstr(&warnings), "");
}

static void json_says_what_components_run(void **state)
{
    (void)state;
    expect(
        "metainfo.json",
        "{\"schemaVersion\":\"2.1\",\"application\":{\"name\":\"MEMCACHED\",\"version\":\"1.0\","
        "\"components\":[{\"name\":\"SERVER\",\"category\":\"MASTER\",\"minInstanceCount\":\"1\","
        "\"maxInstanceCount\":4,\"commands\":[{\"exec\":\"memcached -m 64\",\"name\":\"START\",\"type\":"
        "\"SHELL\"}]},{\"name\":\"SHELL\",\"category\":\"CLIENT\",\"commandScript\":{\"script\":\"x.py\"}}],"
        "\"configFiles\":[{\"type\":\"properties\",\"fileName\":\"m.properties\",\"dictionaryName\":\"m\"}]}"
        "}",
        "{\"name\":\"MEMCACHED\",\"version\":\"1.0\",\"components\":{\"SERVER\":{\"category\":\"MASTER\","
        "\"min\":1,\"max\":4,\"exec\":\"memcached -m 64\"},\"SHELL\":{\"category\":\"CLIENT\"}},"
        "\"configFiles\":{\"m\":{\"type\":\"PROPERTIES\",\"fileName\":\"m.properties\"}}}");
}

static void xml_says_the_same(void **state)
{
    (void)state;
    expect(
        "./metainfo.xml",
        "<?xml version=\"1.0\"?>\n<!-- of us --><metainfo><schemaVersion>2.0</schemaVersion><application>"
        "<name>A</name><version>2</version><components><component><name> W </name>"
        "<category>SLAVE</category><minInstanceCount>0</minInstanceCount>"
        "<maxInstanceCount></maxInstanceCount><commands><command><exec>a &amp;&amp; b</exec></command>"
        "</commands></component></components><configFiles><configFile><type>xml</type>"
        "<fileName>w-site.xml</fileName><dictionaryName>w-site</dictionaryName></configFile></configFiles>"
        "</application></metainfo>",
        "{\"name\":\"A\",\"version\":\"2\",\"components\":{\"W\":{\"category\":\"SLAVE\",\"min\":0,"
        "\"exec\":\"a && b\"}},\"configFiles\":{\"w-site\":{\"type\":\"XML\",\"fileName\":\"w-site.xml\"}}}");
}

static void what_needs_the_agent_is_refused_by_name(void **state)
{
    (void)state;
    static const struct {
        const char *name, *text, *where, *remedy;
    } rows[] = {
        {"metainfo.json", COMPONENT("\"commandScript\":{\"script\":\"scripts/w.py\"}"),
         "components/W/commandScript", "launch_command"},
        {"metainfo.xml",
         XML("<component><name>W</name><commandScript><script>scripts/w.py</script></commandScript>"
             "</component>"),
         "components/W/commandScript", "scripts/w.py"},
        {"metainfo.json", COMPONENT("\"commands\":[{\"exec\":\"x\",\"type\":\"PYTHON\"}]"),
         "components/W/commands", "PYTHON"},
        {"metainfo.json", COMPONENT("\"commands\":[{\"exec\":\"x\",\"name\":\"INSTALL\"}]"),
         "components/W/commands", "exec of START"},
        {"metainfo.json", COMPONENT("\"dockerContainers\":[{\"name\":\"c\",\"image\":\"i\"}]"),
         "components/W/dockerContainers", "bobbin app launch"},
        {"metainfo.json", APPLICATION("\"packages\":[{\"type\":\"tarball\",\"name\":\"files/w.tgz\"}]"),
         "application/packages/files/w.tgz", "definition/"},
        {"metainfo.json",
         APPLICATION(
             "\"osSpecifics\":[{\"osType\":\"any\",\"packages\":[{\"type\":\"zip\",\"name\":\"w.zip\"}]}]"),
         "application/osSpecifics/packages/w.zip", "definition/"},
        {"metainfo.json",
         APPLICATION("\"configFiles\":[{\"type\":\"ini\",\"fileName\":\"f\",\"dictionaryName\":\"d\"}]"),
         "configFiles/f", "properties"},
        {"metainfo.json", "{\"schemaVersion\":\"1.0\",\"application\":{\"components\":[{\"name\":\"W\"}]}}",
         "schemaVersion", "2.0"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        mem_auto char *out = NULL;
        buf_auto struct buf warnings = BUF_EMPTY;
        struct err_info why = {0};
        mem_auto char *where =
            mem_fmt("%s: metainfo.%s: %s", path, strchr(rows[i].name, '.') + 1, rows[i].where);
        int rc = read_one(rows[i].name, rows[i].text, NULL, &out, &warnings, &why);
        if (rc != ERR_UNSUPPORTED || strcmp(why.where, where) != 0 || !strstr(why.text, rows[i].remedy))
            fail_msg("%s: %d at %s: %s", rows[i].text, rc, why.where, why.text);
        assert_null(out);
    }
}

static void a_command_of_the_configuration_replaces_the_script(void **state)
{
    (void)state;
    const char *text = COMPONENT("\"commandScript\":{\"script\":\"scripts/w.py\"}");
    static const char *const confs[] = {"{\"components\":{\"W\":{\"launch_command\":\"sleep 9\"}}}",
                                        "{\"global\":{\"launch_command\":\"sleep 9\"}}"};
    for (size_t i = 0; i < 2; i++) {
        mem_auto char *out = NULL;
        buf_auto struct buf warnings = BUF_EMPTY;
        struct err_info why;
        assert_int_equal(read_one("metainfo.json", text, confs[i], &out, &warnings, &why), 0);
        assert_string_equal(out, "{\"name\":\"A\",\"components\":{\"W\":{}},\"configFiles\":{}}");
    }
}

static void what_has_no_effect_is_named(void **state)
{
    (void)state;
    mem_auto char *out = NULL;
    buf_auto struct buf warnings = BUF_EMPTY;
    struct err_info why;
    const char *text =
        "{\"application\":{\"commandOrders\":[{\"command\":\"W-START\"}],\"exportGroups\":[{\"name\":\"e\"}],"
        "\"components\":[{\"name\":\"W\",\"autoStartOnFailure\":\"false\",\"compExports\":\"x\",\"commands\":"
        "[{\"exec\":\"x\"},{\"name\":\"STOP\",\"exec\":\"y\"}]}]}}";
    assert_int_equal(read_one("metainfo.json", text, NULL, &out, &warnings, &why), 0);
    static const char *const places[] = {"components/W/commands: STOP", "components/W: exports",
                                         "components/W: autoStartOnFailure",
                                         "application/commandOrders: ", "application/exportGroups: "};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        assert_non_null(strstr(buf_cstr(&warnings), places[i]));
}

static void containers_get_the_files_of_a_package(void **state)
{
    (void)state;
    static const struct one entries[] = {{.name = "appConfig-default.json", .text = "{}"},
                                         {.name = "package/run.sh", .text = "true"},
                                         {.name = "metainfo.json", .text = APPLICATION("\"name\":\"A\"")},
                                         {.name = NULL}};
    static const char *const defs[] = {"hdfs://nn/apps/a.zip", "/apps/a.zip", ".slider/package/A/a.zip"};
    write_zip(entries);
    for (size_t i = 0; i < 3; i++) {
        mem_auto char *out = NULL;
        mem_auto char *conf = mem_fmt("{\"global\":{\"application.def\":\"%s\"}}", defs[i]);
        mem_auto char *wanted = mem_fmt("\"files\":[{\"type\":\"ARCHIVE\",\"src_file\":\"%s\",\"dest_file\":"
                                        "\"definition\"}]",
                                        i < 2 ? defs[i] : path);
        buf_auto struct buf warnings = BUF_EMPTY;
        struct err_info why;
        assert_int_equal(read_with(conf, &out, &warnings, &why), 0);
        assert_non_null(strstr(out, wanted));
    }
}

static void json_comes_before_xml(void **state)
{
    (void)state;
    static const struct one entries[] = {{.name = "metainfo.xml", .text = "not looked at"},
                                         {.name = "metainfo.json", .text = APPLICATION("\"name\":\"J\"")},
                                         {.name = NULL}};
    static const struct one reversed[] = {{.name = "metainfo.json", .text = APPLICATION("\"name\":\"J\"")},
                                          {.name = "metainfo.xml", .text = "not looked at"},
                                          {.name = NULL}};
    for (int i = 0; i < 2; i++) {
        mem_auto char *out = NULL;
        buf_auto struct buf warnings = BUF_EMPTY;
        struct err_info why;
        write_zip(i ? reversed : entries);
        assert_int_equal(read_with(NULL, &out, &warnings, &why), 0);
        assert_non_null(strstr(out, "\"name\":\"J\""));
        assert_null(strstr(out, "files"));
    }
}

static void malformed_metainfo_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *name, *text;
        int code;
    } rows[] = {
        {"metainfo.json", "{", ERR_JSON},
        {"metainfo.json", "[]", ERR_INVALID},
        {"metainfo.json", "{\"application\":[]}", ERR_INVALID},
        {"metainfo.json", "{\"application\":{}}", ERR_INVALID},
        {"metainfo.json", "{\"application\":{\"components\":{}}}", ERR_INVALID},
        {"metainfo.json", "{\"application\":{\"components\":[7]}}", ERR_INVALID},
        {"metainfo.json", "{\"application\":{\"components\":[{}]}}", ERR_INVALID},
        {"metainfo.json", "{\"application\":{\"components\":[{\"name\":\"W\"},{\"name\":\"W\"}]}}",
         ERR_INVALID},
        {"metainfo.json", COMPONENT("\"minInstanceCount\":\"many\""), ERR_INVALID},
        {"metainfo.json", COMPONENT("\"maxInstanceCount\":-1"), ERR_INVALID},
        {"metainfo.json", COMPONENT("\"commands\":\"x\""), ERR_INVALID},
        {"metainfo.json", COMPONENT("\"commands\":[{}]"), ERR_INVALID},
        {"metainfo.json", COMPONENT("\"commands\":[{\"exec\":\"x\"},{\"exec\":\"y\"}]"), ERR_INVALID},
        {"metainfo.json", APPLICATION("\"configFiles\":[{\"type\":\"xml\"}]"), ERR_INVALID},
        {"metainfo.json",
         APPLICATION(
             "\"configFiles\":[{\"type\":\"a\\nb\",\"fileName\":\"c\\nd\",\"dictionaryName\":\"e\"}]"),
         ERR_UNSUPPORTED},
        {"metainfo.xml", "<metainfo><a>\x9b\x8c</a></metainfo>", ERR_PARSE},
        {"metainfo.xml", "<metainfo><application>", ERR_PARSE},
        {"metainfo.xml", "<metainfo/>", ERR_PARSE},
        {"metainfo.xml", "<configuration><a/></configuration>", ERR_PARSE},
        {"metainfo.xml", "<!DOCTYPE metainfo [<!ENTITY e \"x\">]><metainfo><a>&e;</a></metainfo>", ERR_PARSE},
        {"metainfo.xml", "<!DOCTYPE m SYSTEM \"file:///etc/passwd\"><metainfo><a/></metainfo>", ERR_PARSE},
        {"metainfo.xml",
         "<metainfo><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a>x</a></a></a></a></a></a></a></a>"
         "</a></a></a></a></a></a></a></a></a></a></metainfo>",
         ERR_PARSE},
        {"package/metainfo.json", APPLICATION("\"name\":\"A\""), ERR_PARSE},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        mem_auto char *out = NULL;
        buf_auto struct buf warnings = BUF_EMPTY;
        struct err_info why = {0};
        int rc = read_one(rows[i].name, rows[i].text, NULL, &out, &warnings, &why);
        bool is_one_line = !strpbrk(why.text, "\r\n") && !strpbrk(why.where, "\r\n");
        if (rc != rows[i].code || !strstr(why.where, path) || !why.text[0] || !is_one_line)
            fail_msg("%s: %d at %s: %s", rows[i].text, rc, why.where, why.text);
        assert_null(out);
    }
}

static void a_bomb_is_not_unpacked(void **state)
{
    (void)state;
    size_t len = PACKAGE_METAINFO_MAX * 4;
    mem_auto char *zeros = mem_alloc(len);
    memset(zeros, ' ', len);
    const struct one metainfo[] = {{"metainfo.json", zeros, len}, {.name = NULL}};
    /* What is beside metainfo is passed over, whatever it would become. */
    const struct one beside[] = {
        {"package/bomb", zeros, len}, {"metainfo.json", APPLICATION("\"name\":\"A\""), 0}, {.name = NULL}};
    mem_auto char *out = NULL, *other = NULL;
    buf_auto struct buf warnings = BUF_EMPTY;
    struct err_info why;
    write_zip(metainfo);
    assert_int_equal(read_with(NULL, &out, &warnings, &why), ERR_TOOBIG);
    write_zip(beside);
    assert_int_equal(read_with(NULL, &other, &warnings, &why), 0);
}

static void two_metainfos_are_refused(void **state)
{
    (void)state;
    static const struct one entries[] = {{.name = "metainfo.json", .text = APPLICATION("\"name\":\"A\"")},
                                         {.name = "./metainfo.json", .text = APPLICATION("\"name\":\"B\"")},
                                         {.name = NULL}};
    mem_auto char *out = NULL;
    buf_auto struct buf warnings = BUF_EMPTY;
    struct err_info why;
    write_zip(entries);
    assert_int_equal(read_with(NULL, &out, &warnings, &why), ERR_PARSE);
    assert_non_null(strstr(why.text, "twice"));
}

static void write_bytes(const char *bytes, size_t len)
{
    int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, len), (ssize_t)len);
    close(fd);
}

static int read_whole(char *out, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = read(fd, out, size);

    close(fd);
    assert_true(n > 0);
    return (int)n;
}

/** A zip that ends early, or of which a byte is another, is refused or read; nothing else happens. */
static void a_broken_zip_does_no_harm(void **state)
{
    (void)state;
    static const struct one entries[] = {{.name = "metainfo.json", .text = APPLICATION("\"name\":\"A\"")},
                                         {.name = NULL}};
    char whole[4096], bytes[4096];
    write_zip(entries);
    int len = read_whole(whole, sizeof whole);
    for (int i = 0; i < len; i++) {
        mem_auto char *cut = NULL, *turned = NULL;
        buf_auto struct buf warnings = BUF_EMPTY;
        struct err_info why;
        write_bytes(whole, (size_t)i);
        assert_int_not_equal(read_with(NULL, &cut, &warnings, &why), 0);
        memcpy(bytes, whole, (size_t)len);
        bytes[i] = (char)(bytes[i] ^ 0x41);
        write_bytes(bytes, (size_t)len);
        int rc = read_with(NULL, &turned, &warnings, &why);
        assert_true(rc == 0 || (turned == NULL && why.text[0]));
    }
}

static void what_is_no_zip_is_refused(void **state)
{
    (void)state;
    mem_auto char *out = NULL;
    buf_auto struct buf warnings = BUF_EMPTY;
    struct err_info why;
    json_auto json_t *doc = NULL;
    write_bytes("#!/bin/sh\n", 10);
    assert_int_equal(read_with(NULL, &out, &warnings, &why), ERR_PARSE);
    assert_int_equal(package_read("/tmp", NULL, &doc, &warnings, &why), ERR_IO);
    assert_int_equal(package_read("/nowhere/a.zip", NULL, &doc, &warnings, &why), ERR_IO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_says_what_components_run),
        cmocka_unit_test(xml_says_the_same),
        cmocka_unit_test(what_needs_the_agent_is_refused_by_name),
        cmocka_unit_test(a_command_of_the_configuration_replaces_the_script),
        cmocka_unit_test(what_has_no_effect_is_named),
        cmocka_unit_test(containers_get_the_files_of_a_package),
        cmocka_unit_test(json_comes_before_xml),
        cmocka_unit_test(malformed_metainfo_is_refused),
        cmocka_unit_test(a_bomb_is_not_unpacked),
        cmocka_unit_test(two_metainfos_are_refused),
        cmocka_unit_test(a_broken_zip_does_no_harm),
        cmocka_unit_test(what_is_no_zip_is_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
