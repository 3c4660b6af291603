/* Fails, kills or cuts the power at the n-th call that touches a file in one folder; loaded by LD_PRELOAD.
 *
 * INJECT_FOLDER   only calls on paths that begin with this count
 * INJECT_CALL     open, write, fsync, rename, chmod, close, preadv2; "any" counts all of them
 * INJECT_AT       from 1; 0 lets everything pass
 * INJECT_HOW      a number of errno; "kill"; "power-kept" and "power-undone": a power cut, after which data that was
 *                 not synced is gone and a rename whose folder was not synced has happened, or has not
 *
 * INJECT_REPORT   a file that gets the number of calls that counted, at the end
 *
 * inject_arm() sets the last three from inside the process, inject_count() says how many calls have counted so far. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define MANY 64

static char folder[PATH_MAX], call[16] = "any", how[32] = "5";
static int at = 0, seen = 0, is_ready = 0;
static char unsynced[MANY][PATH_MAX];
static int n_unsynced = 0;
/* A rename whose folder is not synced yet: the place, and a second name of what was there before. */
static char renamed[PATH_MAX], old_copy[PATH_MAX];

static void *real(const char *name) { return dlsym(RTLD_NEXT, name); }

static void prepare(void) {
    if (is_ready) return;
    is_ready = 1;
    const char *value;
    if ((value = getenv("INJECT_FOLDER"))) snprintf(folder, sizeof folder, "%s", value);
    if ((value = getenv("INJECT_CALL"))) snprintf(call, sizeof call, "%s", value);
    if ((value = getenv("INJECT_HOW"))) snprintf(how, sizeof how, "%s", value);
    if ((value = getenv("INJECT_AT"))) at = atoi(value);
}

void inject_arm(const char *new_call, int new_at, const char *new_how) {
    prepare();
    snprintf(call, sizeof call, "%s", new_call);
    snprintf(how, sizeof how, "%s", new_how);
    at = new_at;
    seen = n_unsynced = 0;
    renamed[0] = old_copy[0] = 0;
}

int inject_count(void) { return seen; }

__attribute__((destructor)) static void report(void) {
    const char *path = getenv("INJECT_REPORT");
    FILE *file = path ? fopen(path, "w") : NULL;
    if (!file) return;
    fprintf(file, "%d\n", seen);
    fclose(file);
}

static void path_of(int fd, char *path) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, PATH_MAX - 1);
    path[n < 0 ? 0 : n] = 0;
}

static void path_at(int fd, const char *name, char *path) {
    if (name[0] == '/') {
        snprintf(path, PATH_MAX, "%s", name);
    } else if (fd == AT_FDCWD) {
        char here[PATH_MAX];
        snprintf(path, PATH_MAX, "%.2000s/%.2000s", getcwd(here, sizeof here) ? here : "", name);
    } else {
        char base[PATH_MAX];
        path_of(fd, base);
        snprintf(path, PATH_MAX, "%.2000s/%.2000s", base, name);
    }
}

static int is_ours(const char *path) {
    prepare();
    return folder[0] && strncmp(path, folder, strlen(folder)) == 0;
}

static void forget(const char *path) {
    for (int i = 0; i < n_unsynced; i++)
        if (strcmp(unsynced[i], path) == 0) unsynced[i][0] = 0;
}

static void cut(int is_power) {
    if (is_power) {
        if (renamed[0] && strcmp(how, "power-undone") == 0) {
            if (old_copy[0]) ((int (*)(const char *, const char *))real("rename"))(old_copy, renamed);
            else unlink(renamed);
            forget(renamed);
        }
        for (int i = 0; i < n_unsynced; i++)
            if (unsynced[i][0] && truncate(unsynced[i], 0) != 0) fprintf(stderr, "lost %s\n", unsynced[i]);
    }
    kill(getpid(), SIGKILL);
    for (;;) pause();
}

/* Whether this call has to fail, with errno set; does not come back where the process ends here. */
static int fails(const char *name, const char *path) {
    if (!is_ours(path) || (strcmp(call, "any") != 0 && strcmp(call, name) != 0)) return 0;
    if (++seen != at) return 0;
    if (strcmp(how, "kill") == 0) cut(0);
    if (strncmp(how, "power", 5) == 0) cut(1);
    errno = atoi(how);
    return 1;
}

static int opened(const char *function, int fd, const char *name, int flags, mode_t mode) {
    char path[PATH_MAX];
    path_at(fd, name, path);
    if ((flags & (O_WRONLY | O_RDWR | O_CREAT | O_DIRECTORY)) && fails("open", path)) return -1;
    return ((int (*)(int, const char *, int, mode_t))real(function))(fd, name, flags, mode);
}

#define MODE mode_t mode = 0; if (flags & (O_CREAT | __O_TMPFILE)) { va_list more; va_start(more, flags); mode = va_arg(more, mode_t); va_end(more); }

int open(const char *name, int flags, ...) { MODE return opened("openat", AT_FDCWD, name, flags, mode); }
int open64(const char *name, int flags, ...) { MODE return opened("openat64", AT_FDCWD, name, flags, mode); }
int openat(int fd, const char *name, int flags, ...) { MODE return opened("openat", fd, name, flags, mode); }
int openat64(int fd, const char *name, int flags, ...) { MODE return opened("openat64", fd, name, flags, mode); }

ssize_t write(int fd, const void *data, size_t n) {
    char path[PATH_MAX];
    path_of(fd, path);
    if (fails("write", path)) {
        /* A disk that fills up takes a part first. */
        if (atoi(how) == ENOSPC && n > 1) {
            ((ssize_t(*)(int, const void *, size_t))real("write"))(fd, data, n / 2);
            errno = ENOSPC;
        }
        return -1;
    }
    if (is_ours(path) && n_unsynced < MANY) snprintf(unsynced[n_unsynced++], PATH_MAX, "%s", path);
    return ((ssize_t(*)(int, const void *, size_t))real("write"))(fd, data, n);
}

int fsync(int fd) {
    char path[PATH_MAX];
    struct stat status;
    path_of(fd, path);
    if (fails("fsync", path)) return -1;
    if (fstat(fd, &status) == 0 && S_ISDIR(status.st_mode)) {
        if (old_copy[0]) unlink(old_copy);
        renamed[0] = old_copy[0] = 0;
    } else {
        forget(path);
    }
    return ((int (*)(int))real("fsync"))(fd);
}

static void note_rename(const char *from, const char *to) {
    /* Dirty data moves along with its name. */
    for (int i = 0; i < n_unsynced; i++)
        if (strcmp(unsynced[i], from) == 0) snprintf(unsynced[i], PATH_MAX, "%s", to);
    snprintf(renamed, sizeof renamed, "%s", to);
    snprintf(old_copy, sizeof old_copy, "%.4000s.before", to);
    if (strncmp(how, "power-undone", 12) != 0 || link(to, old_copy) != 0) old_copy[0] = 0;
}

int rename(const char *from, const char *to) {
    char old[PATH_MAX], new[PATH_MAX];
    path_at(AT_FDCWD, from, old);
    path_at(AT_FDCWD, to, new);
    if (fails("rename", new)) return -1;
    if (is_ours(new)) note_rename(old, new);
    return ((int (*)(const char *, const char *))real("rename"))(from, to);
}

int renameat(int from_fd, const char *from, int to_fd, const char *to) {
    char old[PATH_MAX], new[PATH_MAX];
    path_at(from_fd, from, old);
    path_at(to_fd, to, new);
    if (fails("rename", new)) return -1;
    if (is_ours(new)) note_rename(old, new);
    return ((int (*)(int, const char *, int, const char *))real("renameat"))(from_fd, from, to_fd, to);
}

int fchmod(int fd, mode_t mode) {
    char path[PATH_MAX];
    path_of(fd, path);
    if (fails("chmod", path)) return -1;
    return ((int (*)(int, mode_t))real("fchmod"))(fd, mode);
}

int close(int fd) {
    char path[PATH_MAX];
    path_of(fd, path);
    int has_failed = fails("close", path);
    int code = errno;
    int done = ((int (*)(int))real("close"))(fd);
    if (!has_failed) return done;
    errno = code;
    return -1;
}

ssize_t preadv2(int fd, const struct iovec *iov, int n, off_t offset, int flags) {
    char path[PATH_MAX];
    path_of(fd, path);
    if (fails("preadv2", path)) return -1;
    return ((ssize_t(*)(int, const struct iovec *, int, off_t, int))real("preadv2"))(fd, iov, n, offset, flags);
}

ssize_t preadv64v2(int fd, const struct iovec *iov, int n, off64_t offset, int flags) {
    return preadv2(fd, iov, n, offset, flags);
}
