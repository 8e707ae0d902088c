#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

long eidetic_copy_file(int source, int target) {
    off_t from = 0;
    ssize_t count;
    do count = copy_file_range(source, &from, target, NULL, 1 << 30, 0);
    while (count > 0 || (count < 0 && errno == EINTR));
    if (count == 0) return from;
    if (errno == ENOSPC || errno == EDQUOT || errno == EIO) return -1;
    // These file systems cannot share blocks, and not all can splice.
    static _Thread_local char buffer[65536];
    for (;;) {
        count = pread(source, buffer, sizeof buffer, from);
        if (count == 0) return from;
        if (count < 0 && errno != EINTR) return -1;
        for (ssize_t written = 0; written < count;) {
            ssize_t part = write(target, buffer + written, (size_t)(count - written));
            if (part < 0 && errno != EINTR) return -1;
            if (part > 0) written += part;
        }
        if (count > 0) from += count;
    }
}

int eidetic_open_unnamed(const char *directory, unsigned mode) {
    return open(directory, O_WRONLY | O_TMPFILE | O_CLOEXEC, mode);
}

int eidetic_link_file(int descriptor, const char *path) {
    // Linux 6.10 and later, or a process that may search any directory; the look-up in /proc takes longer.
    int result = linkat(descriptor, "", AT_FDCWD, path, AT_EMPTY_PATH);
    if (result == 0 || errno == EEXIST) return result;
    char own[32];
    snprintf(own, sizeof own, "/proc/self/fd/%d", descriptor);
    return linkat(AT_FDCWD, own, AT_FDCWD, path, AT_SYMLINK_FOLLOW);
}
