#ifndef EIDETIC_LINUX_H
#define EIDETIC_LINUX_H

#include <pthread.h>
#include <stdint.h>
#include <sys/rseq.h>

/// `pthread_setname_np`, which Swift's Glibc does not import.
void eidetic_set_thread_name(pthread_t thread, const char *name);

/// `fallocate(FALLOC_FL_KEEP_SIZE)`, which Swift's Glibc does not import.
int eidetic_allocate(int descriptor, long offset, long count);

/// Takes (`F_WRLCK`) or gives up (`F_UNLCK`) one byte of an open file for this open file description, without waiting:
/// `fcntl(F_OFD_SETLK)`, which Swift cannot import for its variable arguments.
int eidetic_lock_byte(int descriptor, long offset, int type);

/// 1 where another open file description holds the byte, 0 where none does, -1 on failure: `fcntl(F_OFD_GETLK)`.
int eidetic_is_byte_locked(int descriptor, long offset);

/// `futex(FUTEX_WAIT_PRIVATE)`: sleeps while the word has this value; returns also without a reason.
void eidetic_wait_while(const void *word, uint32_t value);

/// `futex(FUTEX_WAKE_PRIVATE)`: wakes one thread that sleeps at the word.
void eidetic_wake_one(const void *word);

/// The processor that the thread runs on, from the area that glibc 2.35 and later shares with the kernel.
///
/// Swift has no way to a thread's own memory, and `sched_getcpu` takes seven times as long.
static inline uint32_t eidetic_current_processor(void) {
    if (__rseq_size == 0) return 0;
    const char *area = (const char *)__builtin_thread_pointer() + __rseq_offset;
    return ((const volatile struct rseq *)area)->cpu_id;
}

#include "CLinuxSignals.h"

#endif
