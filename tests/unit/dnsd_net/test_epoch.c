/* Readers and one writer: what a reader holds is never released. Most useful under the address and thread sanitizers. */
#include "dns_kit.h"

#include <pthread.h>
#include <stdatomic.h>

#include "net/epoch.h"
#include "zone/find.h"

enum { N_READERS = 3, N_COMMITS = 3000, N_NAMES = 40 };

struct reader {
    pthread_t thread;
    struct epoch_cell *cell;
    struct zoneset *set;
    _Atomic bool *is_stopping;
    uint64_t n_reads;
    const char *wrong;
};

/** Each version holds exactly one of old.dev.test and new.dev.test, and its SOA. */
static const char *look(const struct zone_version *v)
{
    static const uint8_t names[2][14] = {"\3old\3dev\4test", "\3new\3dev\4test"};
    struct name_key key;
    struct zone_hit hit;
    int n = 0;
    for (int i = 0; i < 2; i++) {
        name_key_read(names[i], sizeof names[i], &key);
        name_key_hash(&key, zone_version_seed(v));
        zone_find(v, &key, false, &hit);
        n += hit.match == ZONE_EXACT;
    }
    struct wire_set soa;
    const struct zone_node *apex = zone_find_apex(v, hit.zone);
    if (!apex || !zone_node_set(apex, DNS_SOA, &soa))
        return "no SOA";
    return n == 1 ? NULL : "both or neither";
}

static void *read_all_the_time(void *arg)
{
    struct reader *r = arg;
    uint64_t last = 0;
    while (!atomic_load(r->is_stopping) && !r->wrong) {
        const struct zone_version *v = epoch_enter(r->cell, r->set);
        r->wrong = look(v);
        if (zone_version_number(v) < last)
            r->wrong = "went back";
        last = zone_version_number(v);
        r->n_reads++;
        epoch_leave(r->cell);
    }
    return NULL;
}

static void commit_swap(struct zoneset *set, int round)
{
    char name[32];
    struct zone_tx *tx = zone_tx_begin(set);
    kit_remove(tx, round % 2 ? "old.dev.test" : "new.dev.test", DNS_A, "10.0.0.1");
    kit_add(tx, round % 2 ? "new.dev.test" : "old.dev.test", DNS_A, 1, "10.0.0.1");
    snprintf(name, sizeof name, "n%d.dev.test", round % N_NAMES);
    if (round / N_NAMES % 2)
        kit_remove(tx, name, DNS_A, "10.0.0.1");
    else
        kit_add(tx, name, DNS_A, 1, "10.0.0.1");
    zone_tx_commit(tx, ZONE_READY, NULL);
}

static void readers_never_meet_released_memory(void **state)
{
    (void)state;
    struct zoneset *set = zoneset_new(NULL);
    assert_int_equal(zoneset_add_zone(set, kit_name("dev.test"), ZONE_REGISTRY, 1), 0);
    struct zone_tx *tx = zone_tx_begin(set);
    kit_add(tx, "dev.test", DNS_SOA, 60, "ns.dev.test");
    kit_add(tx, "new.dev.test", DNS_A, 1, "10.0.0.1");
    zone_tx_commit(tx, ZONE_READY, NULL);
    struct epoch *epoch = epoch_new(N_READERS);
    _Atomic bool is_stopping = false;
    struct reader readers[N_READERS] = {0};
    for (unsigned i = 0; i < N_READERS; i++) {
        readers[i].cell = epoch_cell(epoch, i);
        readers[i].set = set;
        readers[i].is_stopping = &is_stopping;
        assert_int_equal(pthread_create(&readers[i].thread, NULL, read_all_the_time, &readers[i]), 0);
    }
    size_t n_reclaimed = 0;
    for (int i = 0; i < N_COMMITS; i++) {
        commit_swap(set, i);
        n_reclaimed += zoneset_reclaim(set, epoch_oldest(epoch));
    }
    atomic_store(&is_stopping, true);
    for (unsigned i = 0; i < N_READERS; i++) {
        pthread_join(readers[i].thread, NULL);
        if (readers[i].wrong)
            fail_msg("reader %u: %s", i, readers[i].wrong);
    }
    assert_true(n_reclaimed > 0);
    zoneset_reclaim(set, epoch_oldest(epoch));
    struct zoneset_memory memory;
    zoneset_memory(set, &memory);
    assert_int_equal(memory.waiting_bytes, 0);
    epoch_free(epoch);
    zoneset_free(set);
}

static void the_oldest_reader_decides(void **state)
{
    (void)state;
    struct zoneset *set = zoneset_new(NULL);
    struct epoch *epoch = epoch_new(2);
    assert_int_equal(epoch_oldest(epoch), UINT64_MAX);
    const struct zone_version *first = epoch_enter(epoch_cell(epoch, 0), set);
    zone_tx_commit(zone_tx_begin(set), ZONE_READY, NULL);
    const struct zone_version *second = epoch_enter(epoch_cell(epoch, 1), set);
    assert_true(first != second);
    assert_int_equal(epoch_oldest(epoch), zone_version_number(first));
    assert_int_equal(zoneset_reclaim(set, epoch_oldest(epoch)), 0);
    epoch_leave(epoch_cell(epoch, 0));
    assert_int_equal(epoch_oldest(epoch), zone_version_number(second));
    assert_true(zoneset_reclaim(set, epoch_oldest(epoch)) > 0);
    epoch_leave(epoch_cell(epoch, 1));
    epoch_free(epoch);
    zoneset_free(set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_oldest_reader_decides),
        cmocka_unit_test(readers_never_meet_released_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
