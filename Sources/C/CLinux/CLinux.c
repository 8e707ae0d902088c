#define _GNU_SOURCE
#include "CLinux.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

void eidetic_set_thread_name(pthread_t thread, const char *name) { pthread_setname_np(thread, name); }

int eidetic_fallocate(int descriptor, long offset, long count) {
    return fallocate(descriptor, FALLOC_FL_KEEP_SIZE, offset, count);
}

static struct flock byte_lock(long offset, int type) {
    struct flock lock = {.l_type = (short)type, .l_whence = SEEK_SET, .l_start = offset, .l_len = 1};
    return lock;
}

int eidetic_lock_byte(int descriptor, long offset, int type) {
    struct flock lock = byte_lock(offset, type);
    return fcntl(descriptor, F_OFD_SETLK, &lock);
}

int eidetic_wait_for_byte_lock(int descriptor, long offset) {
    struct flock lock = byte_lock(offset, F_WRLCK);
    return fcntl(descriptor, F_OFD_SETLKW, &lock);
}

int eidetic_is_byte_locked(int descriptor, long offset) {
    struct flock lock = byte_lock(offset, F_WRLCK);
    if (fcntl(descriptor, F_OFD_GETLK, &lock) != 0) return -1;
    return lock.l_type != F_UNLCK;
}

void eidetic_futex_wait(const void *word, uint32_t value) {
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

void eidetic_futex_wake(const void *word) { syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0); }

int eidetic_watch_memory(const char *control, const char *file, const char *argument) {
    int target = open(file, O_RDONLY | O_CLOEXEC);
    int writer = open(control, O_WRONLY | O_CLOEXEC);
    int event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    char line[128];
    int count = snprintf(line, sizeof line, "%d %d %s", event, target, argument);
    int is_watched = target >= 0 && writer >= 0 && event >= 0 && count < (int)sizeof line &&
                     write(writer, line, (size_t)count) == count;
    if (target >= 0) close(target);
    if (writer >= 0) close(writer);
    if (is_watched) return event;
    if (event >= 0) close(event);
    return -1;
}
