#ifndef EIDETIC_LINUX_H
#define EIDETIC_LINUX_H

#include <pthread.h>
#include <stdint.h>
#include <sys/rseq.h>

/// Sets a thread's name with `pthread_setname_np`, which Swift's Glibc does not import.
void eidetic_set_thread_name(pthread_t thread, const char *name);

/// Reserves space with `fallocate(FALLOC_FL_KEEP_SIZE)`, which Swift's Glibc does not import.
int eidetic_fallocate(int descriptor, long offset, long count);

/// Locks (`F_WRLCK`, or `F_RDLCK` together with others) or unlocks (`F_UNLCK`) one byte of a file for this open file
/// description, without waiting.
///
/// Swift cannot import `fcntl(F_OFD_SETLK)`, which is variadic.
int eidetic_lock_byte(int descriptor, long offset, int type);

/// Locks one byte like `eidetic_lock_byte`, but waits while another open file description holds the lock.
int eidetic_wait_for_byte_lock(int descriptor, long offset);

/// Returns 1 if another open file description holds the lock on the byte, 0 if none does, -1 on failure:
/// `fcntl(F_OFD_GETLK)`.
int eidetic_is_byte_locked(int descriptor, long offset);

/// Sleeps while the word has this value, with `futex(FUTEX_WAIT_PRIVATE)`; spurious wake-ups are possible.
void eidetic_futex_wait(const void *word, uint32_t value);

/// Wakes one thread that sleeps on the word, with `futex(FUTEX_WAKE_PRIVATE)`.
void eidetic_futex_wake(const void *word);

/// Opens an event descriptor that the kernel makes readable when the memory of a control group of version 1 passes a
/// threshold; returns -1 on failure.
///
/// `control` is the group's `cgroup.event_control`, `file` its `memory.usage_in_bytes` with a number of bytes as the
/// argument, or its `memory.pressure_level` with a level. Swift's Glibc does not import `eventfd`.
int eidetic_watch_memory(const char *control, const char *file, const char *argument);

/// Returns the index of the processor that runs the thread, from the area that glibc (2.35 and later) shares with the
/// kernel.
///
/// Swift cannot access thread-local memory of C, and `sched_getcpu` takes seven times as long.
static inline uint32_t eidetic_current_processor(void) {
    if (__rseq_size == 0) return 0;
    const char *area = (const char *)__builtin_thread_pointer() + __rseq_offset;
    return ((const volatile struct rseq *)area)->cpu_id;
}

#include "CLinuxFiles.h"
#include "CLinuxHelpers.h"
#include "CLinuxSandbox.h"
#include "CLinuxProcesses.h"
#include "CLinuxSignals.h"
#include "CLinuxSockets.h"

#endif
