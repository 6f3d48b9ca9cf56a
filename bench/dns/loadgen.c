/*
 * Asks questions over UDP: S sockets, each with up to W questions open. A question without answer for LOST_US is lost
 * and makes room. With a rate, questions are spread evenly; without, each answer makes room for the next question.
 */
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "arguments.h"
#include "questions.h"

#include "base/mem.h"
#include "wire/rdata.h"

enum { LOST_US = 1000000, BATCH = 32, HISTOGRAM_US = 100000, MAX_SOCKETS = 256, MAX_WINDOW = 4096 };

/** One socket; a question's id is its place in `sent_us`. */
struct lane {
    int fd;
    unsigned n_open, next_id;
    double sent_us[65536]; /* 0: not open */
};

struct load {
    struct questions questions;
    size_t next_question;
    struct sockaddr_storage server;
    socklen_t server_len;
    unsigned n_lanes, window;
    double seconds, rate;
    struct lane *lanes;
    uint64_t n_sent, n_answered, n_lost, rcodes[16];
    uint64_t histogram[HISTOGRAM_US + 1];
    double now_us, start_us;
};

static double clock_us(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec * 1e6 + (double)ts.tv_nsec / 1e3;
}

/** How many questions this lane may send now. */
static unsigned allowance(const struct load *l, const struct lane *lane)
{
    unsigned n = lane->n_open < l->window ? l->window - lane->n_open : 0;
    if (l->rate > 0) {
        double due = (l->now_us - l->start_us) / 1e6 * l->rate - (double)l->n_sent;
        if (due < (double)n)
            n = due > 0 ? (unsigned)due : 0;
    }
    return n < BATCH ? n : BATCH;
}

static void lane_send(struct load *l, struct lane *lane)
{
    struct mmsghdr msgs[BATCH];
    struct iovec iovs[BATCH][2];
    uint8_t ids[BATCH][2];
    unsigned n = allowance(l, lane);
    for (unsigned i = 0; i < n; i++) {
        size_t q = (l->next_question + i) % l->questions.n;
        wire_put16(ids[i], (lane->next_id + i) & 0xffff);
        iovs[i][0] = (struct iovec){ids[i], 2};
        iovs[i][1] = (struct iovec){l->questions.items[q] + 2, (size_t)l->questions.lens[q] - 2};
        msgs[i].msg_hdr = (struct msghdr){.msg_iov = iovs[i], .msg_iovlen = 2};
    }
    int sent = n ? sendmmsg(lane->fd, msgs, n, MSG_DONTWAIT) : 0;
    for (int i = 0; i < sent; i++)
        lane->sent_us[(lane->next_id + (unsigned)i) & 0xffff] = l->now_us;
    if (sent <= 0)
        return;
    lane->next_id = (lane->next_id + (unsigned)sent) & 0xffff;
    lane->n_open += (unsigned)sent;
    l->next_question += (unsigned)sent;
    l->n_sent += (unsigned)sent;
}

static void count_answer(struct load *l, struct lane *lane, const uint8_t *msg)
{
    unsigned id = wire_get16(msg);
    if (lane->sent_us[id] == 0 || !(msg[2] & 0x80))
        return;
    double took_us = l->now_us - lane->sent_us[id];
    lane->sent_us[id] = 0;
    lane->n_open--;
    l->n_answered++;
    l->rcodes[msg[3] & 15]++;
    l->histogram[took_us < HISTOGRAM_US ? (size_t)took_us : HISTOGRAM_US]++;
}

/** @return answers taken. */
static int lane_receive(struct load *l, struct lane *lane)
{
    static uint8_t bytes[BATCH][4096];
    struct mmsghdr msgs[BATCH];
    struct iovec iovs[BATCH];
    for (unsigned i = 0; i < BATCH; i++) {
        iovs[i] = (struct iovec){bytes[i], sizeof bytes[i]};
        msgs[i].msg_hdr = (struct msghdr){.msg_iov = &iovs[i], .msg_iovlen = 1};
    }
    int n = recvmmsg(lane->fd, msgs, BATCH, MSG_DONTWAIT, NULL);
    l->now_us = clock_us();
    for (int i = 0; i < n; i++)
        if (msgs[i].msg_len >= 12)
            count_answer(l, lane, bytes[i]);
    return n;
}

static void lane_give_up(struct load *l, struct lane *lane, double before_us)
{
    for (unsigned id = 0; lane->n_open && id < 65536; id++) {
        if (lane->sent_us[id] == 0 || lane->sent_us[id] > before_us)
            continue;
        lane->sent_us[id] = 0;
        lane->n_open--;
        l->n_lost++;
    }
}

static void wait_for_answers(const struct load *l)
{
    struct pollfd fds[MAX_SOCKETS];
    for (unsigned i = 0; i < l->n_lanes; i++)
        fds[i] = (struct pollfd){l->lanes[i].fd, POLLIN, 0};
    poll(fds, l->n_lanes, l->rate > 0 ? 1 : 10);
}

static void run(struct load *l)
{
    l->start_us = l->now_us = clock_us();
    double end_us = l->start_us + l->seconds * 1e6, swept_us = l->now_us;
    while (l->now_us < end_us) {
        int n_answers = 0;
        for (unsigned i = 0; i < l->n_lanes; i++) {
            lane_send(l, &l->lanes[i]);
            int n = lane_receive(l, &l->lanes[i]);
            n_answers += n > 0 ? n : 0;
        }
        if (!n_answers)
            wait_for_answers(l);
        l->now_us = clock_us();
        if (l->now_us - swept_us < LOST_US / 2)
            continue;
        swept_us = l->now_us;
        for (unsigned i = 0; i < l->n_lanes; i++)
            lane_give_up(l, &l->lanes[i], l->now_us - LOST_US);
    }
    double asked_us = l->now_us - l->start_us;
    for (unsigned i = 0; i < l->n_lanes; i++) {
        while (l->lanes[i].n_open && l->now_us < end_us + LOST_US && lane_receive(l, &l->lanes[i]) != 0)
            wait_for_answers(l);
        lane_give_up(l, &l->lanes[i], l->now_us);
    }
    l->seconds = asked_us / 1e6;
}

static size_t percentile_us(const struct load *l, double share)
{
    uint64_t seen = 0;
    for (size_t us = 0; us <= HISTOGRAM_US; us++) {
        seen += l->histogram[us];
        if ((double)seen >= share * (double)l->n_answered)
            return us;
    }
    return HISTOGRAM_US;
}

static void report(const struct load *l)
{
    printf("sent=%llu answered=%llu lost=%llu seconds=%.2f rate_qps=%.0f p50_us=%zu p90_us=%zu p99_us=%zu "
           "p999_us=%zu "
           "noerror=%llu servfail=%llu nxdomain=%llu refused=%llu\n",
           (unsigned long long)l->n_sent, (unsigned long long)l->n_answered, (unsigned long long)l->n_lost,
           l->seconds, (double)l->n_answered / l->seconds, percentile_us(l, 0.5), percentile_us(l, 0.9),
           percentile_us(l, 0.99), percentile_us(l, 0.999), (unsigned long long)l->rcodes[0],
           (unsigned long long)l->rcodes[2], (unsigned long long)l->rcodes[3],
           (unsigned long long)l->rcodes[5]);
}

static int open_lanes(struct load *l)
{
    l->lanes = mem_array(l->n_lanes, sizeof *l->lanes);
    for (unsigned i = 0; i < l->n_lanes; i++) {
        int size = 4 << 20;
        l->lanes[i].fd = socket(l->server.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        setsockopt(l->lanes[i].fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
        if (l->lanes[i].fd < 0 || connect(l->lanes[i].fd, (struct sockaddr *)&l->server, l->server_len))
            return -1;
    }
    return 0;
}

static int read_arguments(struct load *l, int argc, char **argv)
{
    struct arguments a = {.numbers = {10, 64, 5, 0}}; /* sockets, window, seconds, rate */
    static const int64_t highest[] = {MAX_SOCKETS, MAX_WINDOW, 86400, 100000000};
    if (arguments_read(argc, argv, highest, &a))
        return -1;
    l->server = a.server;
    l->server_len = a.server_len;
    l->n_lanes = (unsigned)a.numbers[0];
    l->window = (unsigned)a.numbers[1];
    l->seconds = (double)a.numbers[2];
    l->rate = (double)a.numbers[3];
    return 0;
}

int main(int argc, char **argv)
{
    mem_auto struct load *l = mem_new(struct load);
    if (read_arguments(l, argc, argv)) {
        fprintf(stderr,
                "usage: %s ADDRESS PORT FILE [SOCKETS 10 [WINDOW 64 [SECONDS 5 [RATE: as fast as answers "
                "come]]]]\n"
                "FILE holds \"name TYPE [+edns]\" lines; output is one line of name=value\n",
                argv[0]);
        return 2;
    }
    if (questions_read(argv[3], &l->questions) || open_lanes(l)) {
        perror(argv[3]);
        return 4;
    }
    run(l);
    report(l);
    for (unsigned i = 0; i < l->n_lanes; i++)
        close(l->lanes[i].fd);
    free(l->lanes);
    questions_fini(&l->questions);
    return 0;
}
