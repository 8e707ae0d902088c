#ifndef EIDETIC_LINUX_H
#define EIDETIC_LINUX_H

#include <pthread.h>

/// `pthread_setname_np`, which Swift's Glibc does not import.
void eidetic_set_thread_name(pthread_t thread, const char *name);

/// `fallocate(FALLOC_FL_KEEP_SIZE)`, which Swift's Glibc does not import.
int eidetic_allocate(int descriptor, long offset, long count);

/// Takes (`F_WRLCK`) or gives up (`F_UNLCK`) one byte of an open file for this open file description, without waiting:
/// `fcntl(F_OFD_SETLK)`, which Swift cannot import for its variable arguments.
int eidetic_lock_byte(int descriptor, long offset, int type);

/// 1 where another open file description holds the byte, 0 where none does, -1 on failure: `fcntl(F_OFD_GETLK)`.
int eidetic_is_byte_locked(int descriptor, long offset);

#endif
