/**
 * The cases that every backend must pass, one table. state: a kit (store_kit.h) whose store has no root yet.
 * Thread: one.   Source: ours; ZooKeeper's data model.
 */
#ifndef STORE_SUITE_H
#define STORE_SUITE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "store_kit.h"

#define STORE_SUITE(X)                                                                                       \
    X(root_is_made_by_create)                                                                                \
    X(create_needs_parent_and_free_name)                                                                     \
    X(create_fills_stat)                                                                                     \
    X(child_moves_parents_numbers_only)                                                                      \
    X(set_checks_version)                                                                                    \
    X(delete_checks_children_and_version)                                                                    \
    X(deleted_node_comes_back_new)                                                                           \
    X(write_if_means_one_state_of_one_node)                                                                  \
    X(write_if_spares_what_took_its_place)                                                                   \
    X(writes_if_beside_each_other_are_all_done)                                                              \
    X(multi_is_all_or_nothing)                                                                               \
    X(multi_sees_its_own_work)                                                                               \
    X(multi_reports_failed_op)                                                                               \
    X(failing_multi_leaves_nothing_among_others)                                                             \
    X(empty_multi_is_refused)                                                                                \
    X(aside_is_a_second_tree)                                                                                \
    X(writes_complete_in_order)                                                                              \
    X(failing_write_fails_alone)                                                                             \
    X(bad_paths_never_reach_the_store)                                                                       \
    X(long_name_is_kept)                                                                                     \
    X(missing_node_is_named)                                                                                 \
    X(many_reads_at_once_have_their_own_answers)                                                             \
    X(children_come_in_byte_order)                                                                           \
    X(many_children_are_listed)                                                                              \
    X(data_are_bytes)                                                                                        \
    X(large_data_are_kept_larger_refused)                                                                    \
    X(acl_is_kept)                                                                                           \
    X(default_acl_is_open)                                                                                   \
    X(close_answers_every_call)                                                                              \
    X(mirror_reads_what_is_there)                                                                            \
    X(mirror_of_nothing_is_ready)                                                                            \
    X(mirror_has_own_write_when_applied)                                                                     \
    X(mirror_notifies_of_changes_in_order)                                                                   \
    X(mirror_equals_store_after_random_work)                                                                 \
    X(mirror_started_amid_writes_misses_none)                                                                \
    X(close_amid_the_first_read)

#define STORE_SUITE_DECLARE(name) void name(void **state);
STORE_SUITE(STORE_SUITE_DECLARE)

#endif
