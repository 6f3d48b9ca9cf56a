/**
 * What happened to a service, oldest first: requests, changes of its state, ends of processes that failed, upgrades, avoided nodes.
 *
 *     <service's key>/history/<0 … HISTORY_CHUNKS-1>    {"format", "first", "entries": [{"time", "object", "what", "why"}, …]}
 *
 * Entries are numbered from 0. Entry n is in chunk n / CHUNK_ENTRIES, which has the document of its number modulo HISTORY_CHUNKS: a new
 * chunk replaces the oldest one. So an entry costs the writing of one chunk, however long the history, and the documents are
 * bounded.
 *
 * Thread: the engine's.   Source: design 5.
 */
#ifndef ENGINE_HISTORY_H
#define ENGINE_HISTORY_H

#include <stddef.h>
#include <stdint.h>

struct eng_service;

#define HISTORY_CHUNKS 4
#define CHUNK_ENTRIES  16
/** Most bytes of the reason of an entry, with its NUL. */
#define HISTORY_WHY_MAX 256

struct eng_history_entry {
    int64_t time_ms; /* time of day */
    char *object;    /* name of the service, of a component or an instance of it, or "node <host>" */
    char *what;      /* a word or two: "STABLE", "exited", "flexed" */
    char *why;       /* a sentence; NULL: nothing to say */
};

/**
 * The entry that comes i-th, oldest first.
 *
 * @return borrowed until the next step; or NULL: there are not so many.
 */
const struct eng_history_entry *eng_service_history(const struct eng_service *s, size_t i);
/** Number of the oldest entry that is kept. @param next  number of the next one that happens: the same when there is none [out] */
int64_t eng_service_history_numbers(const struct eng_service *s, int64_t *next);

#endif
