/* Preloaded: writes down what is written to data.mdb, and when it was synced, so that a power cut can be played.

   Records: 'W', synced u8, offset u64, length u64, bytes | 'T', 0, length u64, 0 u64 | 'S', 0, 0 u64, 0 u64. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
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

static int is_data(int fd) {
    char link[64], name[4096];
    const char *prefix = "/proc/self/fd/";
    int at = strlen(prefix), digits = 0, rest = fd;
    memcpy(link, prefix, at);
    do { digits++; rest /= 10; } while (rest);
    link[at + digits] = 0;
    for (rest = fd; digits; rest /= 10) link[at + --digits] = '0' + rest % 10;
    ssize_t n = readlink(link, name, sizeof name - 1);
    return n > 8 && !memcmp(name + n - 8, "data.mdb", 8);
}

static void tell(char what, int fd, uint64_t offset, const void *bytes, uint64_t length) {
    char *record = malloc(18 + length);
    record[0] = what;
    record[1] = what == 'W' && (fcntl(fd, F_GETFL) & (O_DSYNC | O_SYNC)) != 0;
    memcpy(record + 2, &offset, 8);
    memcpy(record + 10, &length, 8);
    if (length) memcpy(record + 18, bytes, length);
    int file = log_file();
    real_write(file, record, 18 + length);
    free(record);
}

ssize_t pwrite64(int fd, const void *bytes, size_t length, off64_t offset) {
    static ssize_t (*real)(int, const void *, size_t, off64_t);
    if (!real) real = dlsym(RTLD_NEXT, "pwrite64");
    ssize_t n = real(fd, bytes, length, offset);
    if (n > 0 && is_data(fd)) tell('W', fd, offset, bytes, n);
    return n;
}
ssize_t pwrite(int fd, const void *bytes, size_t length, off_t offset) { return pwrite64(fd, bytes, length, offset); }

static void tell_all(int fd, uint64_t offset, const struct iovec *parts, int n) {
    for (int i = 0; i < n; i++) {
        tell('W', fd, offset, parts[i].iov_base, parts[i].iov_len);
        offset += parts[i].iov_len;
    }
}
ssize_t pwritev64(int fd, const struct iovec *parts, int n, off64_t offset) {
    static ssize_t (*real)(int, const struct iovec *, int, off64_t);
    if (!real) real = dlsym(RTLD_NEXT, "pwritev64");
    ssize_t done = real(fd, parts, n, offset);
    if (done > 0 && is_data(fd)) tell_all(fd, offset, parts, n);
    return done;
}
ssize_t pwritev(int fd, const struct iovec *parts, int n, off_t offset) { return pwritev64(fd, parts, n, offset); }
ssize_t writev(int fd, const struct iovec *parts, int n) {
    static ssize_t (*real)(int, const struct iovec *, int);
    if (!real) real = dlsym(RTLD_NEXT, "writev");
    off_t offset = is_data(fd) ? lseek(fd, 0, SEEK_CUR) : -1;
    ssize_t done = real(fd, parts, n);
    if (done > 0 && offset >= 0) tell_all(fd, offset, parts, n);
    return done;
}
ssize_t write(int fd, const void *bytes, size_t length) {
    if (!real_write) real_write = dlsym(RTLD_NEXT, "write");
    int own = is_data(fd);
    off_t offset = own ? lseek(fd, 0, SEEK_CUR) : -1;
    ssize_t n = real_write(fd, bytes, length);
    if (own && n > 0) tell('W', fd, offset, bytes, n);
    return n;
}
static int synced(int fd, int result) {
    if (!result && is_data(fd)) tell('S', fd, 0, 0, 0);
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
    if (!result && is_data(fd)) tell('T', fd, length, 0, 0);
    return result;
}
int ftruncate(int fd, off_t length) { return ftruncate64(fd, length); }
