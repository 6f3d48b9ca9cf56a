/** SHA-256: the vectors of FIPS 180-4, and lengths around a block. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/obj.h"
#include "base/sha256.h"

static void check(const char *text, size_t len, const char *hex)
{
    uint8_t digest[SHA256_LEN];
    char out[2 * SHA256_LEN + 1];
    sha256(text, len, digest);
    for (size_t i = 0; i < SHA256_LEN; i++)
        snprintf(out + 2 * i, 3, "%02x", digest[i]);
    assert_string_equal(out, hex);
}

static void the_vectors_of_the_standard_hold(void **state)
{
    (void)state;
    const char *two_blocks = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    check(NULL, 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    check("abc", 3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    check(two_blocks, strlen(two_blocks), "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

static void lengths_around_a_block_are_padded(void **state)
{
    (void)state;
    static const struct {
        size_t len;
        const char *hex;
    } rows[] = {
        {54, "a3f01b6939256127582ac8ae9fb47a382a244680806a3f613a118851c1ca1d47"},
        {55, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318"},
        {56, "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a"},
        {57, "f13b2d724659eb3bf47f2dd6af1accc87b81f09f59f2b75e5c0bed6589dfe8c6"},
        {63, "7d3e74a05d7db15bce4ad9ec0658ea98e3f06eeecf16b4c6fff2da457ddc2f34"},
        {64, "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb"},
        {65, "635361c48bb9eab14198e76ea8ab7f1a41685d6ad62aa9146d301d4f17eb0ae0"},
        {119, "31eba51c313a5c08226adf18d4a359cfdfd8d2e816b13f4af952f7ea6584dcfb"},
        {120, "2f3d335432c70b580af0e8e1b3674a7c020d683aa5f73aaaedfdc55af904c21c"},
        {128, "6836cf13bac400e9105071cd6af47084dfacad4e5e302c94bfed24e013afb73e"},
        {300, "9835fa6bf4e20a9b9ea812506302e98982721a6cf8d2cae67af57129bf21ae90"},
    };
    char text[300];
    memset(text, 'a', sizeof text);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        check(text, rows[i].len, rows[i].hex);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_vectors_of_the_standard_hold),
        cmocka_unit_test(lengths_around_a_block_are_padded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
