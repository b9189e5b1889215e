/* Preloaded: writes down what is written to the files below POWER_ROOT, what becomes of their names, and what is synced,
   so that a power cut can be played.

   Records: what u8, synced u8, offset u64, length u64, length of the path u16, path below the root, bytes.
   'W' written at an offset | 'T' cut off at an offset | 'S' synced, file or folder | 'M' folder made | 'R' renamed to
   the bytes | 'L' linked as the bytes | 'U' unlinked, file or folder. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

static ssize_t (*real_write)(int, const void *, size_t);

static int log_file(void) {
    static int file = -1;
    if (file < 0) {
        real_write = dlsym(RTLD_NEXT, "write");
        file = open(getenv("POWER_LOG"), O_WRONLY | O_APPEND | O_CREAT, 0600);
    }
    return file;
}

/* What follows the root in a path, or nothing where it lies elsewhere, or is the lock file, which no cut leaves. */
static const char *below(const char *name) {
    const char *root = getenv("POWER_ROOT");
    size_t n = root ? strlen(root) : 0, length = strlen(name);
    if (!n || strncmp(name, root, n) || (name[n] && name[n] != '/')) return 0;
    if (length > 8 && !strcmp(name + length - 8, "lock.mdb")) return 0;
    return name[n] ? name + n + 1 : name + n;
}

static const char *path_of(int fd, char *name, size_t size) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, name, size - 1);
    if (n < 0) return 0;
    name[n] = 0;
    return below(name);
}

static void tell(char what, int is_synced, const char *path, uint64_t offset, const void *bytes, uint64_t length) {
    uint16_t n = strlen(path);
    char *record = malloc(20 + n + length);
    record[0] = what;
    record[1] = is_synced;
    memcpy(record + 2, &offset, 8);
    memcpy(record + 10, &length, 8);
    memcpy(record + 18, &n, 2);
    memcpy(record + 20, path, n);
    if (length) memcpy(record + 20 + n, bytes, length);
    int file = log_file();
    real_write(file, record, 20 + n + length);
    free(record);
}

static void tell_of(char what, int fd, uint64_t offset, const void *bytes, uint64_t length) {
    char name[4096];
    const char *path = path_of(fd, name, sizeof name);
    if (path) tell(what, (fcntl(fd, F_GETFL) & (O_DSYNC | O_SYNC)) != 0, path, offset, bytes, length);
}

static int is_below(int fd) {
    char name[4096];
    return path_of(fd, name, sizeof name) != 0;
}

ssize_t pwrite64(int fd, const void *bytes, size_t length, off64_t offset) {
    static ssize_t (*real)(int, const void *, size_t, off64_t);
    if (!real) real = dlsym(RTLD_NEXT, "pwrite64");
    ssize_t n = real(fd, bytes, length, offset);
    if (n > 0) tell_of('W', fd, offset, bytes, n);
    return n;
}
ssize_t pwrite(int fd, const void *bytes, size_t length, off_t offset) { return pwrite64(fd, bytes, length, offset); }

static void tell_all(int fd, uint64_t offset, const struct iovec *parts, int n) {
    for (int i = 0; i < n; i++) {
        tell_of('W', fd, offset, parts[i].iov_base, parts[i].iov_len);
        offset += parts[i].iov_len;
    }
}
ssize_t pwritev64(int fd, const struct iovec *parts, int n, off64_t offset) {
    static ssize_t (*real)(int, const struct iovec *, int, off64_t);
    if (!real) real = dlsym(RTLD_NEXT, "pwritev64");
    ssize_t done = real(fd, parts, n, offset);
    if (done > 0) tell_all(fd, offset, parts, n);
    return done;
}
ssize_t pwritev(int fd, const struct iovec *parts, int n, off_t offset) { return pwritev64(fd, parts, n, offset); }
ssize_t writev(int fd, const struct iovec *parts, int n) {
    static ssize_t (*real)(int, const struct iovec *, int);
    if (!real) real = dlsym(RTLD_NEXT, "writev");
    off_t offset = is_below(fd) ? lseek(fd, 0, SEEK_CUR) : -1;
    ssize_t done = real(fd, parts, n);
    if (done > 0 && offset >= 0) tell_all(fd, offset, parts, n);
    return done;
}
ssize_t write(int fd, const void *bytes, size_t length) {
    if (!real_write) real_write = dlsym(RTLD_NEXT, "write");
    off_t offset = is_below(fd) ? lseek(fd, 0, SEEK_CUR) : -1;
    ssize_t n = real_write(fd, bytes, length);
    if (n > 0 && offset >= 0) tell_of('W', fd, offset, bytes, n);
    return n;
}

static int synced(int fd, int result) {
    if (!result) tell_of('S', fd, 0, 0, 0);
    return result;
}
int fdatasync(int fd) {
    static int (*real)(int);
    if (!real) real = dlsym(RTLD_NEXT, "fdatasync");
    return synced(fd, real(fd));
}
int fsync(int fd) {
    static int (*real)(int);
    if (!real) real = dlsym(RTLD_NEXT, "fsync");
    return synced(fd, real(fd));
}
int ftruncate64(int fd, off64_t length) {
    static int (*real)(int, off64_t);
    if (!real) real = dlsym(RTLD_NEXT, "ftruncate64");
    int result = real(fd, length);
    if (!result) tell_of('T', fd, length, 0, 0);
    return result;
}
int ftruncate(int fd, off_t length) { return ftruncate64(fd, length); }

/* Names: all that is renamed, linked and removed here is named by its whole path. */
static int named(char what, const char *one, const char *other, int result) {
    const char *path = result ? 0 : below(one), *to = result || !other ? 0 : below(other);
    if (path && (to || !other)) tell(what, 0, path, 0, to, to ? strlen(to) : 0);
    return result;
}
int rename(const char *one, const char *other) {
    static int (*real)(const char *, const char *);
    if (!real) real = dlsym(RTLD_NEXT, "rename");
    return named('R', one, other, real(one, other));
}
int link(const char *one, const char *other) {
    static int (*real)(const char *, const char *);
    if (!real) real = dlsym(RTLD_NEXT, "link");
    return named('L', one, other, real(one, other));
}
int mkdir(const char *one, mode_t mode) {
    static int (*real)(const char *, mode_t);
    if (!real) real = dlsym(RTLD_NEXT, "mkdir");
    return named('M', one, 0, real(one, mode));
}
int unlink(const char *one) {
    static int (*real)(const char *);
    if (!real) real = dlsym(RTLD_NEXT, "unlink");
    return named('U', one, 0, real(one));
}
int rmdir(const char *one) {
    static int (*real)(const char *);
    if (!real) real = dlsym(RTLD_NEXT, "rmdir");
    return named('U', one, 0, real(one));
}
