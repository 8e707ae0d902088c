#define _GNU_SOURCE
#include "CLinux.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct flock byte_lock(long offset, int type) {
    struct flock lock = {.l_type = (short)type, .l_whence = SEEK_SET, .l_start = offset, .l_len = 1};
    return lock;
}

int eidetic_lock_byte(int descriptor, long offset, int type, int waits) {
    struct flock lock = byte_lock(offset, type);
    return fcntl(descriptor, waits ? F_OFD_SETLKW : F_OFD_SETLK, &lock);
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
