/** A real ZooKeeper for `bobbin dev --store zookeeper`, from Debian's package: see dev.h. */
#include "dev.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/mem.h"
#include "kit/options.h"
#include "kit/progress.h"

#define JARS         "/usr/share/java"
#define MAIN_CLASS   "org.apache.zookeeper.server.quorum.QuorumPeerMain"
#define START_MS     60000
#define LOOK_MS      50
#define END_LIMIT_MS 10000
#define TICK_MS      500

/** A free loopback port. @return 0 and *port; ERR_IO. */
static int find_port(uint16_t *port, struct err_info *why)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool is_bound = fd >= 0 && !bind(fd, (struct sockaddr *)&address, len) &&
                    !getsockname(fd, (struct sockaddr *)&address, &len);
    int error = errno;

    if (fd >= 0)
        close(fd);
    if (!is_bound)
        return err_set(why, ERR_IO, "127.0.0.1", "no free port: %s", strerror(error));
    *port = ntohs(address.sin_port);
    return 0;
}

static int check_jars(struct err_info *why)
{
    static const char *const jars[] = {JARS "/zookeeper.jar", JARS "/slf4j-simple.jar"};

    for (size_t i = 0; i < ARRAY_LEN(jars); i++) {
        if (access(jars[i], R_OK))
            return err_set(why, ERR_CONFIG, jars[i], "is missing (apt-get install zookeeper libslf4j-java)");
    }
    return 0;
}

static int write_config(const struct dev *d, uint16_t port, char **file, struct err_info *why)
{
    mem_auto char *dir = dev_path(d, "zookeeper");

    *file = dev_path(d, "zookeeper/zoo.cfg");
    if (mkdir(dir, 0755) && errno != EEXIST)
        return err_set(why, ERR_IO, dir, "cannot be created: %s", strerror(errno));
    FILE *f = fopen(*file, "we");
    if (!f)
        return err_set(why, ERR_IO, *file, "cannot be written: %s", strerror(errno));
    fprintf(f,
            "dataDir=%s\ntickTime=%d\nclientPort=%u\nclientPortAddress=127.0.0.1\n"
            "minSessionTimeout=200\nmaxSessionTimeout=60000\nmaxClientCnxns=0\n",
            dir, TICK_MS, port);
    bool is_broken = ferror(f);
    if (fclose(f) || is_broken)
        return err_set(why, ERR_IO, *file, "cannot be written: %s", strerror(errno));
    return 0;
}

static int start_server(struct dev *d, char *config, struct err_info *why)
{
    char class_path[] = JARS "/zookeeper.jar:" JARS "/slf4j-simple.jar";
    char *const argv[] = {"java",
                          "-Xmx256m",
                          "-XX:+UseSerialGC",
                          "-XX:TieredStopAtLevel=1",
                          "-XX:-UsePerfData",
                          "-Dzookeeper.admin.enableServer=false",
                          "-Dzookeeper.4lw.commands.whitelist=srvr",
                          "-Dzookeeper.extendedTypesEnabled=true",
                          "-Dzookeeper.jmx.log4j.disable=true",
                          "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
                          "-Djava.net.preferIPv4Stack=true",
                          "-cp",
                          class_path,
                          MAIN_CLASS,
                          config,
                          NULL};
    mem_auto char *log = dev_path(d, "log/zookeeper.log");
    const struct child_def def = {.name = "zookeeper", .argv = argv, .log = log};
    int err = child_start(&def, &d->zookeeper, why);

    if (!err)
        return 0;
    return err_set(why, err, "java", "cannot be started (apt-get install default-jre-headless)");
}

/** Does it answer `srvr` with a mode? On loopback a connection is made or refused at once. */
static bool serves(uint16_t port)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const struct timeval limit = {.tv_sec = 2};
    char answer[4096];
    size_t len = 0;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool is_asked = fd >= 0 && !setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) &&
                    !connect(fd, (struct sockaddr *)&address, sizeof address) && write(fd, "srvr", 4) == 4;
    ssize_t n = is_asked ? 1 : 0;

    while (n > 0 && len < sizeof answer - 1) {
        n = read(fd, answer + len, sizeof answer - 1 - len);
        len += n > 0 ? (size_t)n : 0;
    }
    answer[len] = '\0';
    if (fd >= 0)
        close(fd);
    return strstr(answer, "Mode: ") != NULL;
}

static int wait_serving(struct dev *d, uint16_t port, struct err_info *why)
{
    int64_t end_ms = run_now_ms() + START_MS;
    struct progress progress;
    bool is_serving = false;
    int err = 0;

    progress_begin(&progress, false);
    progress_show(&progress, "zookeeper: starting");
    while (!err && !is_serving) {
        err = dev_runs(&d->zookeeper, why);
        is_serving = !err && serves(port);
        if (!err && !is_serving && run_now_ms() > end_ms)
            err = err_set(why, ERR_TIMEOUT, "zookeeper", "does not serve within %d s", START_MS / 1000);
        if (!err && !is_serving && wait_ms(&d->wait, LOOK_MS))
            err = err_set(why, ERR_CANCELLED, "zookeeper", "interrupted");
    }
    mem_auto char *text = err ? NULL : mem_fmt("zookeeper: serves at 127.0.0.1:%u", port);
    progress_end(&progress, text);
    return err;
}

int dev_zookeeper_start(struct dev *d, struct err_info *why)
{
    mem_auto char *config = NULL;
    uint16_t port = 0;

    if (!d->wants_zookeeper)
        return 0;
    if (opt_is_set(d->cli->options, KEY_STORE))
        return err_set(why, ERR_USAGE, "--store",
                       "hadoop.registry.store is set as well; leave one of them out");
    int err = check_jars(why);
    if (!err)
        err = find_port(&port, why);
    if (!err)
        err = write_config(d, port, &config, why);
    if (!err)
        err = start_server(d, config, why);
    if (!err)
        err = wait_serving(d, port, why);
    if (err)
        return err;
    free(d->store);
    d->store = mem_fmt("zk://127.0.0.1:%u/registry", port);
    return 0;
}

void dev_zookeeper_stop(struct dev *d)
{
    child_end(&d->zookeeper, END_LIMIT_MS);
    child_fini(&d->zookeeper);
}
