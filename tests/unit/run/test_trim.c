/** Memory that is given back: what is in files leaves the process and comes back as it was, what is not stays. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "run/trim.h"

#define CONSTANT_LEN (1 << 20)
#define TABLE_LEN    (1 << 17)

/** Of the program's file, in a segment that nobody writes. */
static const uint8_t constant[CONSTANT_LEN] = {[0] = 1, [CONSTANT_LEN / 2] = 2, [CONSTANT_LEN - 1] = 3};
/** 1 MiB of addresses, which the loader writes before it makes them read-only. */
static const uint8_t *const table[TABLE_LEN] = {[0 ... TABLE_LEN - 1] = constant};
static uint8_t variable[CONSTANT_LEN] = {[0] = 1};
/** Of an address, too, but not read-only. */
static const uint8_t *volatile variable_address = constant + CONSTANT_LEN / 2;

static unsigned sum(const volatile uint8_t *bytes)
{
    unsigned total = 0;

    for (size_t i = 0; i < CONSTANT_LEN; i++)
        total += bytes[i];
    return total;
}

static unsigned sum_table(void)
{
    const uint8_t *const volatile *entries = table;
    unsigned total = 0;

    for (size_t i = 0; i < TABLE_LEN; i++)
        total += *entries[i];
    return total;
}

/** Bytes of files that are in the memory of this process. */
static size_t bytes_of_files(void)
{
    unsigned long size = 0, resident = 0, of_files = 0;
    FILE *f = fopen("/proc/self/statm", "re");

    assert_non_null(f);
    assert_int_equal(fscanf(f, "%lu %lu %lu", &size, &resident, &of_files), 3);
    fclose(f);
    return of_files * (size_t)sysconf(_SC_PAGESIZE);
}

static void test_code_and_constants_go_and_come_back(void **state)
{
    (void)state;
    assert_int_equal(sum(constant), 6);
    size_t before = bytes_of_files();
    trim_memory();
    assert_true(bytes_of_files() + CONSTANT_LEN / 2 < before);
    assert_int_equal(sum(constant), 6);
}

static void test_what_the_loader_relocated_goes_and_comes_back(void **state)
{
    (void)state;
    assert_int_equal(sum_table(), TABLE_LEN);
    size_t before = bytes_of_files();
    trim_memory();
    assert_true(bytes_of_files() + sizeof table / 2 < before);
    assert_int_equal(sum_table(), TABLE_LEN);
    assert_int_equal(*variable_address, 2);
}

static void test_what_was_written_stays(void **state)
{
    (void)state;
    char *text = strdup("on the heap");
    memset(variable, 1, sizeof variable);
    variable_address = constant + CONSTANT_LEN - 1;
    trim_memory();
    assert_int_equal(sum(variable), CONSTANT_LEN);
    assert_int_equal(*variable_address, 3);
    assert_string_equal(text, "on the heap");
    free(text);
}

/* ---- without a file ---- */

/** In a process of its own, which has not started yet: this program with `how`. @return its exit status. */
static int run_again(const char *how)
{
    pid_t pid = fork();
    int status = -1;

    assert_true(pid >= 0);
    if (pid == 0) {
        execl("/proc/self/exe", "test_trim", how, (char *)NULL);
        _exit(127);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

static int check_all(void)
{
    for (int i = 0; i < 2; i++) {
        if (sum(constant) != 6 || sum_table() != TABLE_LEN || sum(variable) != 1 || *variable_address != 2)
            return 1;
        trim_memory();
    }
    return 0;
}

static int start_without_directory(void)
{
    trim_start("/nonexistent");
    return check_all();
}

static int start_without_room(void)
{
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){sizeof table / 2, sizeof table / 2});
    trim_start("/tmp");
    return check_all();
}

static void test_without_a_file_all_is_as_it_was(void **state)
{
    (void)state;
    assert_int_equal(run_again("without-directory"), 0);
    assert_int_equal(run_again("without-room"), 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_code_and_constants_go_and_come_back),
        cmocka_unit_test(test_what_the_loader_relocated_goes_and_comes_back),
        cmocka_unit_test(test_what_was_written_stays),
        cmocka_unit_test(test_without_a_file_all_is_as_it_was),
    };

    if (argc > 1 && !strcmp(argv[1], "without-directory"))
        return start_without_directory();
    if (argc > 1 && !strcmp(argv[1], "without-room"))
        return start_without_room();
    trim_start("/tmp");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
