/** Accounts and digests: the security rows of the registry's conformance cases. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/obj.h"
#include "bobbin/registry.h"
#include "registry/acl.h"

/* What became of the text: "scheme:id scheme:id", or the error's name. */
static char *read_accounts(const char *text, const char *realm)
{
    acl_auto struct acl_list list = {{NULL, 0}};
    struct buf out = BUF_EMPTY;
    struct err_info why;
    int err = acl_add_accounts(&list, text, realm, &why);

    if (err) {
        buf_add_str(&out, err_name(err));
        return buf_take(&out);
    }
    buf_add_str(&out, "");
    for (size_t i = 0; i < list.acl.n_entries; i++) {
        assert_int_equal(list.acl.entries[i].perms, 31);
        buf_addf(&out, "%s%s:%s", i ? " " : "", list.acl.entries[i].scheme, list.acl.entries[i].id);
    }
    return buf_take(&out);
}

static void test_accounts(void **state)
{
    static const struct {
        const char *name, *text, *realm, *wanted;
    } rows[] = {
        {"SE2", "sasl:yarn@example.com, sasl:mapred@example.com", "",
         "sasl:yarn@example.com sasl:mapred@example.com"},
        {"SE4", "sasl:yarn@, sasl:mapred@", "example.com", "sasl:yarn@example.com sasl:mapred@example.com"},
        {"SE6", "sasl:yarn@, sasl:mapred@", "", "ERR_INVALID"},
        {"SE7", "sasl:yarn@, digest:f0afbeeb00baa", "example.com",
         "sasl:yarn@example.com digest:f0afbeeb00baa"},
        {"SE8", "sasl:yarn@, sasl:mapred@APACHE, ,,digest:f0afbeeb00baa", "example.com",
         "sasl:yarn@example.com sasl:mapred@APACHE digest:f0afbeeb00baa"},
        {"SE9", "sasl:yarn@, sasl:mapred@, sasl:hdfs@, sasl:hadoop@", "R",
         "sasl:yarn@R sasl:mapred@R sasl:hdfs@R sasl:hadoop@R"},
        {"another scheme, completed by the second step", "x:y@", "R", "x:y@R"},
        {"SE15", "yarn", "", "ERR_INVALID"},
        {"SE15 digest", "digest:bob:abc=", "", "ERR_INVALID"},
        {"no realm", "sasl:yarn", NULL, "sasl:yarn"},
        {"no id", "sasl:", NULL, "ERR_INVALID"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        mem_auto char *found = read_accounts(rows[i].text, rows[i].realm);
        if (strcmp(found, rows[i].wanted) != 0)
            fail_msg("%s: %s, wanted %s", rows[i].name, found, rows[i].wanted);
    }
}

static void test_split(void **state)
{
    static const struct {
        const char *name, *text, *realm, *wanted;
    } rows[] = {
        {"SE1", "sasl:yarn@example.com, sasl:mapred@example.com", "",
         "sasl:yarn@example.com,sasl:mapred@example.com"},
        {"SE3", "sasl:yarn@, sasl:mapred@", "example.com", "sasl:yarn@example.com,sasl:mapred@example.com"},
        {"SE5", "sasl:yarn@, sasl:mapred@", "", "sasl:yarn@,sasl:mapred@"},
        {"SE7", "sasl:yarn@, digest:f0afbeeb00baa", "example.com",
         "sasl:yarn@example.com,digest:f0afbeeb00baa"},
        {"SE8", "sasl:yarn@, sasl:mapred@APACHE, ,,digest:f0afbeeb00baa", "example.com",
         "sasl:yarn@example.com,sasl:mapred@APACHE,digest:f0afbeeb00baa"},
        {"another scheme keeps its @", "x:y@", "example.com", "x:y@"},
        {"nothing", NULL, "example.com", ""},
        {"blanks and commas", " , ,", NULL, ""},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        mem_auto char *found = acl_split_accounts(rows[i].text, rows[i].realm);
        if (strcmp(found, rows[i].wanted) != 0)
            fail_msg("%s: %s, wanted %s", rows[i].name, found, rows[i].wanted);
    }
}

static void test_digests(void **state)
{
    static const char *const rows[][2] = {
        {"id:pass", "id:mu05JlfYgbMHovly5LnbXUuQUVo="},
        {"bob:secret", "bob:fyVmFCwVbTJYrznoSu1koqYEYF0="},
        {"u2:p2", "u2:o9NxcCGDPOlcV7JVhmKHOf5ctVE="},
        {"id:pass:", "id:2fLVpKFN4zE4ZfBMBZEF8j/K0S4="},
        {"bob", NULL},
        {"bob:", NULL},
        {":p", NULL},
        {"id::", NULL},
        {"bob:a:b", NULL},
        {"", NULL},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        mem_auto char *id = NULL;
        struct err_info why = {0};
        int err = reg_digest_id(rows[i][0], &id, &why);
        if (rows[i][1]) {
            assert_int_equal(err, 0);
            assert_string_equal(id, rows[i][1]);
        } else {
            assert_int_equal(err, ERR_IO);
            assert_string_equal(why.text, "Invalid id:password");
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_split), cmocka_unit_test(test_accounts),
                                       cmocka_unit_test(test_digests)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
