/** Where `bobbin dev` works: directory, names, addresses. See dev.h. */
#include "dev.h"

#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/addr.h"
#include "base/mem.h"
#include "base/obj.h"
#include "base/path.h"
#include "base/str.h"
#include "bobbin/path.h"
#include "kit/options.h"

#define OPEN_FILES_OF_WALK 16

char *dev_path(const struct dev *d, const char *name)
{
    return mem_fmt("%s/%s", d->dir, name);
}

char *dev_program(const struct dev *d, const char *name)
{
    mem_auto char *beside = mem_fmt("%s/%s", d->bin, name);

    if (!access(beside, X_OK))
        return mem_str(beside);
    return mem_fmt("%s/../libexec/bobbin/%s", d->bin, name);
}

static int find_programs(struct dev *d, struct err_info *why)
{
    char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

    if (n < 0)
        return err_set(why, ERR_IO, "/proc/self/exe", "cannot be read: %s", strerror(errno));
    self[n] = '\0';
    d->bin = path_parent(self);
    return 0;
}

/** A directory that everybody may pass: containers run as another user. */
static int make_dir(const char *path, struct err_info *why)
{
    if (mkdir(path, 0755) && errno != EEXIST)
        return err_set(why, ERR_IO, path, "cannot be created: %s", strerror(errno));
    return 0;
}

static int make_temporary(struct dev *d, struct err_info *why)
{
    const char *tmp = getenv("TMPDIR");
    char *dir = mem_fmt("%s/bobbin-dev-XXXXXX", tmp && tmp[0] == '/' ? tmp : "/tmp");

    if (!mkdtemp(dir) || chmod(dir, 0755)) {
        err_set(why, ERR_IO, dir, "cannot be created: %s", strerror(errno));
        free(dir);
        return ERR_IO;
    }
    d->dir = dir;
    d->is_temporary = true;
    return 0;
}

static int make_dirs(struct dev *d, struct err_info *why)
{
    static const char *const names[] = {"data", "log"};
    const char *keep = cli_value(d->cli, CLI_KEEP);
    int err = keep ? make_dir(keep, why) : make_temporary(d, why);

    if (!err && keep && !(d->dir = realpath(keep, NULL)))
        err = err_set(why, ERR_IO, keep, "%s", strerror(errno));
    for (size_t i = 0; i < ARRAY_LEN(names) && !err; i++) {
        mem_auto char *path = dev_path(d, names[i]);
        err = make_dir(path, why);
    }
    return err;
}

static void name_addresses(struct dev *d)
{
    const struct options *o = d->cli->options;

    d->registry_url = opt_is_set(o, KEY_REGISTRY_URL)
                          ? mem_str(opt_text(o, KEY_REGISTRY_URL))
                          : mem_fmt("http://%s", opt_text(o, KEY_REGISTRY_ADDRESS));
    d->dns_url = mem_fmt("http://%s", opt_text(o, KEY_DNS_HTTP_ADDRESS));
    d->services_url = mem_fmt("http://%s", opt_text(o, KEY_SERVICES_ADDRESS));
    d->dns_address = str_field(opt_text(o, KEY_DNS_ADDRESS), ',', 0);
    d->dns_port = mem_str(opt_text(o, KEY_DNS_PORT));
    d->domain = opt_text(o, KEY_DOMAIN);
    services_init(&d->services, &d->wait, d->services_url, d->user);
    d->services.check = dev_all_run;
    d->services.check_arg = d;
}

static int name_user(struct dev *d, struct err_info *why)
{
    const char *set = opt_text(d->cli->options, KEY_STATIC_USER);

    return reg_user(set ? set : d->cli->user, &d->user, why);
}

/** Directory of the master files: the configured one, else --zones, else the installed ones where there are any. */
static int find_zones(struct dev *d, struct err_info *why)
{
    const char *set = opt_text(d->cli->options, KEY_ZONES_DIR), *given = cli_value(d->cli, CLI_ZONES);
    mem_auto char *beside = mem_fmt("%s/../share/bobbin/zones", d->bin);
    const char *wanted = set ? set : given;

    d->zones = realpath(wanted ? wanted : beside, NULL);
    return d->zones || !wanted ? 0 : err_set(why, ERR_IO, wanted, "%s", strerror(errno));
}

int dev_place_start(struct dev *d, struct err_info *why)
{
    int err = find_programs(d, why);

    if (!err)
        err = name_user(d, why);
    if (!err)
        err = find_zones(d, why);
    if (!err)
        err = make_dirs(d, why);
    if (!err)
        err = dev_keep_check(d, why);
    if (err)
        return err;
    name_addresses(d);
    const char *store = opt_text(d->cli->options, KEY_STORE);
    d->store = store ? mem_str(store) : mem_fmt("file:%s/registry", d->dir);
    return 0;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *place)
{
    (void)st;
    (void)kind;
    (void)place;
    return remove(path);
}

void dev_place_stop(struct dev *d)
{
    if (d->is_temporary && nftw(d->dir, remove_one, OPEN_FILES_OF_WALK, FTW_DEPTH | FTW_PHYS))
        fprintf(stderr, "bobbin: %s: cannot be removed: %s\n", d->dir, strerror(errno));
    if (d->services_url)
        services_fini(&d->services);
    free(d->dir);
    free(d->bin);
    free(d->user);
    free(d->store);
    free(d->registry_url);
    free(d->dns_url);
    free(d->services_url);
    free(d->dns_address);
    free(d->dns_port);
    free(d->zones);
}

/* ---- ports ---- */

/** Try to bind. @return 0, or errno. */
static int try_bind(const char *host, uint16_t port, int type)
{
    struct addr address;
    struct sockaddr_storage socket_address;
    int on = 1;

    if (addr_read(strcmp(host, "localhost") == 0 ? "127.0.0.1" : host, &address))
        return 0; /* the daemon says what is wrong with it */
    socklen_t len = addr_to_sockaddr(&address, port, &socket_address);
    int fd = socket(address.family, type | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return errno;
    /* For TCP the option forgives connections that are just closing; it does not share a port that is listened on. */
    int error = type == SOCK_STREAM && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) ? errno : 0;
    if (!error && bind(fd, (struct sockaddr *)&socket_address, len))
        error = errno;
    if (!error && type == SOCK_STREAM && listen(fd, 1))
        error = errno;
    close(fd);
    return error;
}

/** A port that a program is to have, and the option that moves it. */
struct wanted_port {
    const char *program, *key, *form; /* form: how the option's value looks */
    int type;                         /* SOCK_STREAM, SOCK_DGRAM */
};

static int check_port(const struct wanted_port *w, const char *host, uint16_t port, struct err_info *why)
{
    mem_auto char *place = mem_fmt(strchr(host, ':') ? "[%s]:%u" : "%s:%u", host, port);

    if (port == 0 || try_bind(host, port, w->type) != EADDRINUSE)
        return 0;
    return err_set(why, ERR_ADDRINUSE, place, "%s cannot bind this %s port, it is in use (-D %s=%s moves it)",
                   w->program, w->type == SOCK_DGRAM ? "UDP" : "TCP", w->key, w->form);
}

/** An option that holds host:port. */
static int check_address(const struct dev *d, const struct wanted_port *w, enum cli_key id,
                         struct err_info *why)
{
    mem_auto char *host = NULL;
    uint16_t port;

    if (addr_split_host_port(opt_text(d->cli->options, (int)id), 0, &host, &port))
        return 0; /* the daemon says what is wrong with it */
    return check_port(w, host, port, why);
}

int dev_ports_start(struct dev *d, struct err_info *why)
{
    static const struct {
        struct wanted_port wanted;
        enum cli_key key;
    } rows[] = {
        {{"registryd", "hadoop.registry.http.address", "HOST:PORT", SOCK_STREAM}, KEY_REGISTRY_ADDRESS},
        {{"dnsd", "hadoop.registry.dns.bind-port", "PORT", SOCK_DGRAM}, KEY_DNS_PORT},
        {{"dnsd", "hadoop.registry.dns.bind-port", "PORT", SOCK_STREAM}, KEY_DNS_PORT},
        {{"dnsd", "hadoop.registry.dns.http.address", "HOST:PORT", SOCK_STREAM}, KEY_DNS_HTTP_ADDRESS},
        {{"svcmgr", "yarn.service.api-server.address", "HOST:PORT", SOCK_STREAM}, KEY_SERVICES_ADDRESS},
    };
    uint16_t dns_port = (uint16_t)opt_int(d->cli->options, KEY_DNS_PORT);
    int err = 0;

    for (size_t i = 0; i < ARRAY_LEN(rows) && !err; i++) {
        if (rows[i].key == KEY_DNS_PORT)
            err = check_port(&rows[i].wanted, d->dns_address, dns_port, why);
        else
            err = check_address(d, &rows[i].wanted, rows[i].key, why);
    }
    return err;
}
