/**
 * engine_checker: random lives of svcmgr's engine in virtual time, and what must hold in each.
 *
 *     engine_checker                          a million steps of random lives, seeds from 1 on
 *     engine_checker --steps N --seed S       so many, from this seed on
 *     engine_checker --seconds T              seeds for so long
 *     engine_checker --trace FILE [--log]     one trace again; with every step and effect
 *     engine_checker … --counts               how often each effect and outcome was seen; fails when an effect never was
 *     engine_checker … --digest               a number of all effects of random lives in their order: the same from every process
 *
 * First, but for a digest, the power fails after each transaction of a create, a flex up and down, a stop, a start and a destroy. What fails is cut
 * down to a trace from which nothing can be taken, and printed. Exit code 1.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/obj.h"
#include "world.h"

#define OPS_OF_A_RUN   150
#define CHECK_EVERY    10 /* operations; each in the life of few, and in a trace that is cut down */
#define TWICE_EVERY    16 /* runs: the same again gives the same */
#define STEPS_DEFAULT  1000000
#define PROGRESS_STEPS 5000000

/* Small and quick; everything at once, and some answers twice; large and slow. */
#define QUICK "nodes 6 memory=65536 vcores=400; delay allocate=0-20ms start=1-30ms stop=0-30ms ready=0-20ms"
#define DOUBLE                                                                                               \
    "nodes 3 memory=65536 vcores=400; delay allocate=0ms start=0ms stop=0ms ready=0ms; answers repeated=10%"
#define SLOW "nodes 40 memory=65536 vcores=64; delay allocate=0-2s start=0-500ms stop=0-3s ready=0-2s"
static const char *const clusters[] = {QUICK, DOUBLE, SLOW};

static struct world_counts counts;
static uint64_t all_digests = SUM_START; /* of all runs in their order */

struct run {
    uint64_t seed, n_steps, n_writes, digest;
    size_t check_every; /* operations: memory and store are compared */
    char violation[WORLD_TEXT_MAX];
    FILE *log;
};

/** Run a trace in the world of a seed. */
static void run_trace(struct run *r, const struct trace *t)
{
    struct world w;
    world_init(&w, clusters[r->seed % ARRAY_LEN(clusters)], r->seed);
    w.log = r->log;
    w.counts = &counts;
    for (size_t i = 0; i < t->n && !w.violation[0]; i++) {
        world_do(&w, &t->ops[i]);
        if (i % r->check_every == 0 && !w.violation[0])
            world_check_documents(&w);
    }
    if (!w.violation[0])
        world_check_rest(&w);
    r->n_steps = w.n_steps;
    r->n_writes = w.n_writes;
    r->digest = w.digest;
    all_digests = sum_bytes(all_digests, &w.digest, sizeof w.digest);
    memcpy(r->violation, w.violation, sizeof r->violation);
    world_fini(&w);
}

static bool still_fails(void *arg, const struct trace *t)
{
    struct run *r = arg;
    run_trace(r, t);
    return r->violation[0] != '\0';
}

/** Cut a failing trace down and print it. */
static void report(uint64_t seed, struct trace *t)
{
    struct run r = {.seed = seed, .check_every = 1};
    trace_reduce(t, still_fails, &r);
    run_trace(&r, t);
    printf("seed %" PRIu64 ": %s\n# seed %" PRIu64 "\n", seed, r.violation, seed);
    trace_print(t, stdout);
}

/* ---- the power fails after each transaction ---- */

static const struct op life[] = {
    {OP_CREATE, 0, 0, 0, 0},  {OP_FLEX, 5000, 0, 0, 5},  {OP_FLEX, 5000, 0, 0, 1},
    {OP_STOP, 5000, 0, 0, 0}, {OP_START, 5000, 0, 0, 0}, {OP_DESTROY, 5000, 0, 0, 0},
};

#define N_LIFE  (sizeof life / sizeof *life)
#define EFFECTS 6

/** A service whose life is lived again and again. */
struct subject {
    uint32_t shape;
    uint64_t seed;
};

/** The first n operations of the life; with `crash`, it stands before the last of them. @return transactions, or UINT64_MAX: one fails */
static uint64_t live(const struct subject *who, size_t n, const struct op *crash, uint64_t *n_steps)
{
    struct op ops[N_LIFE + 2];
    struct trace t = {.ops = ops, .n = n};
    struct run r = {.seed = who->seed, .check_every = 1};
    memcpy(ops, life, n * sizeof *ops);
    ops[0].b = who->shape;
    if (crash) {
        ops[t.n++] = ops[n - 1];
        ops[n - 1] = *crash;
        ops[n - 1].wait_ms = ops[n].wait_ms;
        ops[n].wait_ms = 0;
    }
    ops[t.n++] = (struct op){OP_WAIT, 20000, 0, 0, 0};
    run_trace(&r, &t);
    *n_steps += r.n_steps;
    if (!r.violation[0])
        return r.n_writes;
    printf("power failure in the life of shape %u: %s\n# seed %" PRIu64 "\n", who->shape, r.violation,
           who->seed);
    trace_print(&t, stdout);
    return UINT64_MAX;
}

/** The power fails after each transaction of the n-th operation, with none, some and more of the effects that follow it. */
static bool check_operation(const struct subject *who, size_t n, uint64_t *n_steps)
{
    uint64_t before = n > 1 ? live(who, n - 1, NULL, n_steps) : 0;
    uint64_t after = live(who, n, NULL, n_steps);
    if (after == UINT64_MAX)
        return false;
    for (uint32_t k = 1; before + k <= after + 1; k++) {
        for (uint32_t effects = 0; effects < EFFECTS; effects += 3) {
            struct op crash = {OP_CRASH, 0, k, effects, 10};
            if (live(who, n, &crash, n_steps) == UINT64_MAX)
                return false;
        }
    }
    return true;
}

static bool check_power(uint64_t *n_steps)
{
    for (uint32_t i = 0; i < 2 * N_SHAPES; i++) {
        uint32_t shape = i / 2;
        struct subject who = {shape, i % 2 ? WORLD_NAMING_SEED(shape) : shape};
        for (size_t n = 1; n <= N_LIFE; n++) {
            if (!check_operation(&who, n, n_steps))
                return false;
        }
    }
    return true;
}

/* ---- random lives ---- */

static bool check_seed(uint64_t seed, uint64_t *n_steps)
{
    struct trace t;
    struct run r = {.seed = seed, .check_every = CHECK_EVERY}, again = r;
    bool is_good = false;
    trace_make(&t, seed, OPS_OF_A_RUN);
    run_trace(&r, &t);
    *n_steps += r.n_steps;
    if (r.violation[0]) {
        report(seed, &t);
    } else if (seed % TWICE_EVERY == 0) {
        run_trace(&again, &t);
        is_good = again.digest == r.digest;
        if (!is_good)
            printf("seed %" PRIu64 ": the same trace gives other effects when it is run again\n", seed);
    } else {
        is_good = true;
    }
    trace_fini(&t);
    return is_good;
}

/** What no life has come to is not proven. @return false: an effect was never seen. */
static bool print_counts(void)
{
    size_t n_missing = 0;
    for (int k = EFF_PERSIST; k <= EFF_NOTE; k++) {
        n_missing += !counts.effects[k];
        printf("%-20s %12" PRIu64 "\n", eng_effect_word((enum eng_effect_kind)k), counts.effects[k]);
    }
    for (int k = OUT_LAUNCHED; k < OUT_CANCELLED; k++)
        printf("%-20s %12" PRIu64 "\n", eng_outcome_word((enum eng_outcome)k), counts.outcomes[k]);
    return n_missing == 0;
}

static int run_file(const char *path, FILE *log)
{
    struct trace t;
    struct run r = {.log = log, .check_every = 1};
    FILE *f = fopen(path, "r");
    int line = f ? 0 : -1;
    if (f && fscanf(f, "# seed %" SCNu64, &r.seed) != 1)
        line = 1;
    if (!line)
        line = trace_read(&t, f);
    if (f)
        fclose(f);
    if (line) {
        fprintf(stderr,
                "%s: line %d is no operation, or the file cannot be read; the first is \"# seed N\"\n", path,
                line);
        return 2;
    }
    run_trace(&r, &t);
    trace_fini(&t);
    printf("%s: %s\n", path, r.violation[0] ? r.violation : "holds");
    return r.violation[0] != '\0';
}

int main(int argc, char **argv)
{
    static const struct option options[] = {
        {"seed", required_argument, NULL, 's'},    {"steps", required_argument, NULL, 'n'},
        {"seconds", required_argument, NULL, 't'}, {"trace", required_argument, NULL, 'f'},
        {"log", no_argument, NULL, 'l'},           {"counts", no_argument, NULL, 'c'},
        {"digest", no_argument, NULL, 'd'},        {NULL, 0, NULL, 0}};
    uint64_t seed = 1, most = STEPS_DEFAULT, n_power = 0, n_steps = 0, n_runs = 0, said = 0;
    const char *file = NULL;
    FILE *log = NULL;
    bool with_counts = false, with_digest = false;
    time_t end = 0;
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        switch (c) {
        case 's': seed = strtoull(optarg, NULL, 10); break;
        case 'n': most = strtoull(optarg, NULL, 10); break;
        case 't': end = time(NULL) + atol(optarg); break;
        case 'f': file = optarg; break;
        case 'l': log = stdout; break;
        case 'c': with_counts = true; break;
        case 'd': with_digest = true; break;
        default: return 2;
        }
    }
    if (file)
        return run_file(file, log);
    bool is_good = with_digest || check_power(&n_power);
    for (; is_good && (end ? time(NULL) < end : n_steps < most); seed++, n_runs++) {
        is_good = check_seed(seed, &n_steps);
        if (n_steps > said + PROGRESS_STEPS)
            printf("%" PRIu64 " steps, seed %" PRIu64 "\n", said = n_steps, seed);
    }
    printf("%" PRIu64 " steps with power failures, %" PRIu64 " steps in %" PRIu64 " random lives: %s\n",
           n_power, n_steps, n_runs, is_good ? "everything held" : "something did not hold");
    if (with_digest)
        printf("digest %016" PRIx64 "\n", all_digests);
    if (is_good && with_counts && !print_counts()) {
        printf("an effect was never seen\n");
        is_good = false;
    }
    return is_good ? 0 : 1;
}
