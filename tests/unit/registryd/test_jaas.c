/** JAAS files: what they say of a Kerberos login, and where they are wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/obj.h"
#include "access/jaas.h"

#define MODULE "com.sun.security.auth.module.Krb5LoginModule required "

static const char *or_dash(const char *text)
{
    return text ? text : "-";
}

/* "principal keytab cache" of the entry Client; or "code: text". */
static char *parse(const char *text)
{
    struct jaas_entry entry;
    struct err_info why = {0};
    int err = jaas_parse(text, "j", "Client", &entry, &why);
    char *found =
        err ? mem_fmt("%s: %s", err_name(err), why.text)
            : mem_fmt("%s %s %s", or_dash(entry.principal), or_dash(entry.keytab), or_dash(entry.cache));
    jaas_fini(&entry);
    return found;
}

static void entries_are_read(void **state)
{
    static const char *const rows[][2] = {
        {"Client { " MODULE "useKeyTab=true keyTab=\"/k t\" principal=\"a/h@R\"; };", "a/h@R /k t -"},
        {"Client{" MODULE "principal=a@R keyTab=/k useKeyTab=\"true\";};", "a@R /k -"},
        {"Client { " MODULE "useKeyTab=false keyTab=\"/k\" useTicketCache=true ticketCache=\"/c\"; };",
         "- - /c"},
        {"Client { " MODULE "debug=true; };", "- - -"},
        {"Server { " MODULE "principal=s@R; };\nClient { " MODULE "principal=c@R; };", "c@R - -"},
        {"/* Client { */ // Client {\n# Client {\nClient { other.Module optional x=y; " MODULE
         "principal=c@R; };",
         "c@R - -"},
        {"Client { " MODULE "principal=a@R; }; Client { " MODULE "principal=b@R; };", "a@R - -"},
        {"Client { " MODULE "principal=\"a\\\"b@R\"; };", "a\"b@R - -"},
        {"Client { " MODULE "principal=\"\" keyTab=\"\" useKeyTab=true; };", "- - -"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        mem_auto char *found = parse(rows[i][0]);
        if (strcmp(found, rows[i][1]) != 0)
            fail_msg("%s: %s, wanted %s", rows[i][0], found, rows[i][1]);
    }
}

static void what_is_wrong_is_reported_with_its_line(void **state)
{
    static const char *const rows[][2] = {
        {"", "no entry Client"},
        {"Server { " MODULE "x=y; };", "no entry Client"},
        {"Client { some.Module required x=y; };", "no Krb5LoginModule"},
        {"Client\n{ " MODULE "\nprincipal; };", "j:3: = is wanted instead of \";\""},
        {"Client { " MODULE "x=y };", "j:1: ; is wanted instead of \"}\""},
        {"Client { " MODULE "x=y; }", "; is wanted instead of \"\""},
        {"Client { " MODULE "x=;", "a value is wanted"},
        {"Client { Krb5LoginModule ;", "a flag"},
        {"Client { " MODULE "x=\"y\n\"; };", "j:1: a text that ends on its line"},
        {"Client " MODULE, "{ is wanted"},
        {"Client { /* for ever", "} is wanted"},
        {"{", "the name of an entry"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        mem_auto char *found = parse(rows[i][0]);
        if (strncmp(found, "ERR_CONFIG: ", 12) != 0 || !strstr(found, rows[i][1]))
            fail_msg("%s: %s, wanted %s", rows[i][0], found, rows[i][1]);
    }
}

static void a_missing_file_is_reported(void **state)
{
    struct jaas_entry entry;
    struct err_info why = {0};
    (void)state;
    assert_int_equal(jaas_read("/nowhere/jaas.conf", "Client", &entry, &why), ERR_CONFIG);
    assert_non_null(strstr(why.text, "/nowhere/jaas.conf"));
    assert_null(entry.principal);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries_are_read),
        cmocka_unit_test(what_is_wrong_is_reported_with_its_line),
        cmocka_unit_test(a_missing_file_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
