/* Keeps what a power cut would leave of an SQLite database.
 *
 * Preloaded into the server. Whenever the server flushes a file of the database, its contents at the beginning of the
 * flush are kept beside it as FILE.durable. While a file named "held" exists beside it, every flush waits. While one
 * named "broken" exists, every flush fails; while one named "broken-database" does, every flush of the database's file
 * itself. While one named "no-descriptors" exists, the database's file cannot be opened for writing alone, as only a
 * checkpoint does; then "refused-descriptor" is made. */
#define _GNU_SOURCE
/* It would define open64 itself. */
#undef _FORTIFY_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

/* Copies the file to `to`. Returns 0 if it has. */
static int copy(int from, const char *to) {
    char buffer[1 << 16];
    off_t at = 0;
    ssize_t got;
    int out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (out < 0) return -1;
    while ((got = pread(from, buffer, sizeof buffer, at)) > 0) {
        if (write(out, buffer, got) != got) break;
        at += got;
    }
    close(out);
    return got == 0 ? 0 : -1;
}

static int flush(int file, const char *name) {
    int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
    char link[64], path[PATH_MAX], next[PATH_MAX + 16], kept[PATH_MAX + 16], broken[PATH_MAX + 32];
    struct stat is;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0 || fstat(file, &is) != 0 || !S_ISREG(is.st_mode)) return real(file);
    path[length] = 0;
    if (!strstr(path, "rollcall.db")) return real(file);
    snprintf(broken, sizeof broken, "%s", path);
    strcpy(strrchr(broken, '/') + 1, "held");
    while (access(broken, F_OK) == 0) usleep(1000);
    strcpy(strrchr(broken, '/') + 1, "broken");
    int is_broken = access(broken, F_OK) == 0;
    strcat(broken, "-database");
    if (is_broken || (strcmp(strrchr(path, '/'), "/rollcall.db") == 0 && access(broken, F_OK) == 0)) {
        errno = EIO;
        return -1;
    }
    pthread_mutex_lock(&turn);
    snprintf(next, sizeof next, "%s.next", path);
    snprintf(kept, sizeof kept, "%s.durable", path);
    /* The server may have opened it for writing only. */
    int from = open(link, O_RDONLY);
    int copied = from < 0 ? -1 : copy(from, next);
    if (from >= 0) close(from);
    int done = real(file);
    if (done == 0 && copied == 0) rename(next, kept);
    pthread_mutex_unlock(&turn);
    return done;
}

/* Whether the database's file is to be opened for writing alone, and may not be. */
static int is_refused(const char *path, int flags) {
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    char beside[PATH_MAX];
    int folder = name - path, seen;
    if ((flags & O_ACCMODE) != O_WRONLY || strcmp(name, "rollcall.db") != 0) return 0;
    snprintf(beside, sizeof beside, "%.*sno-descriptors", folder, path);
    if (access(beside, F_OK) != 0) return 0;
    snprintf(beside, sizeof beside, "%.*srefused-descriptor", folder, path);
    seen = creat(beside, 0600);
    if (seen >= 0) close(seen);
    return 1;
}

/* What Rust opens files with. */
int open64(const char *path, int flags, ...) {
    int (*real)(const char *, int, ...) = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open64");
    mode_t mode = 0;
    if ((flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE) {
        va_list rest;
        va_start(rest, flags);
        mode = va_arg(rest, mode_t);
        va_end(rest);
    }
    if (is_refused(path, flags)) {
        errno = EMFILE;
        return -1;
    }
    return real(path, flags, mode);
}

int fsync(int file) { return flush(file, "fsync"); }
int fdatasync(int file) { return flush(file, "fdatasync"); }
