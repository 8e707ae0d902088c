#pragma once

#include <linux/falloc.h>
#include <malloc.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/rseq.h>
#include <sys/timerfd.h>

// Swift's Glibc imports neither these headers nor what glibc declares for `_GNU_SOURCE` only:
int pthread_setname_np(pthread_t thread, const char *name);
int fallocate(int descriptor, int mode, off_t offset, off_t count);
int pipe2(int ends[2], int flags);
char *secure_getenv(const char *name);

/// Locks (`F_WRLCK`, or `F_RDLCK` together with others) or unlocks (`F_UNLCK`) one byte of a file for this open file
/// description; with `waits` it waits while another one holds the lock.
///
/// Swift cannot import `fcntl(F_OFD_SETLK)`, which is variadic.
int eidetic_lock_byte(int descriptor, long offset, int type, int waits);

/// Returns 1 if another open file description holds the lock on the byte, 0 if none does, -1 on failure:
/// `fcntl(F_OFD_GETLK)`.
int eidetic_is_byte_locked(int descriptor, long offset);

/// Sleeps while the word has this value, with `futex(FUTEX_WAIT_PRIVATE)`; spurious wake-ups are possible.
void eidetic_futex_wait(const void *word, uint32_t value);

/// Wakes one thread that sleeps on the word, with `futex(FUTEX_WAKE_PRIVATE)`.
void eidetic_futex_wake(const void *word);

/// Returns the index of the processor that runs the thread, from the area that glibc (2.35 and later) shares with the
/// kernel.
///
/// Swift cannot access thread-local memory of C, and `sched_getcpu` takes seven times as long.
static inline uint32_t eidetic_current_processor(void) {
    if (__rseq_size == 0) return 0;
    const char *area = (const char *)__builtin_thread_pointer() + __rseq_offset;
    return ((const volatile struct rseq *)area)->cpu_id;
}

// MARK: Files

/// Copies a file from its beginning to a new one with `copy_file_range`, which shares blocks where the file system can,
/// or with `sendfile`; returns the number of bytes, -1 on failure.
///
/// Swift's Glibc does not import `copy_file_range`.
long eidetic_copy_file(int source, int target);

/// Opens a new file without a name in a directory, for writing, with `O_TMPFILE`, which Swift's Glibc does not import;
/// returns -1 on failure.
int eidetic_open_unnamed(const char *directory, unsigned mode);

/// Gives an open file without a name this one, with `linkat`, by way of `/proc`; returns -1 on failure.
int eidetic_link_file(int descriptor, const char *path);

// MARK: Processes

/// Starts a program in a session of its own, which is no child of this process, with `descriptor` as its descriptor 3.
///
/// Its standard streams are /dev/null, its directory is /, no signal is blocked, and every other descriptor is closed.
/// Returns 0, or the `errno` of the step that failed, also of `execv`.
///
/// `posix_spawn` cannot detach the program, which would become a child that nobody expects.
int eidetic_start_detached(const char *path, char *const arguments[], int descriptor);

/// Opens a descriptor of a process, which becomes readable at its end.
int eidetic_open_process(int identifier);

/// Sends a signal to the process of a descriptor.
int eidetic_signal_process(int descriptor, int signal);

/// Returns the process that has a lock of processes (`lockf`) on the file; 0 if none that can be seen has one.
///
/// Swift cannot import `fcntl(F_GETLK)`, which is variadic.
int eidetic_find_lock_owner(int descriptor);

// MARK: Signals

/// Sets the pipe to which forwarded signals are written, one byte each; `write` is safe in a signal handler.
void eidetic_set_signal_pipe(int descriptor);

/// Forwards a signal to the pipe; has no effect and returns 0 if it is ignored or has a handler of the application.
///
/// `sigaction`'s union of handlers is accessed through a macro, which Swift does not import.
int eidetic_forward_signal(int number);

// MARK: Sockets

/// Sends one packet with descriptors attached (`SCM_RIGHTS`), without waiting and without SIGPIPE.
///
/// The macros for control messages are not imported by Swift.
long eidetic_send_packet(int socket, const void *bytes, size_t count, const int *descriptors, size_t descriptor_count);

/// Receives one packet without waiting; returns its length, 0 at the end of the connection, -1 on failure (`EMSGSIZE`
/// if the packet exceeds `capacity`).
///
/// Received descriptors are closed on exec. `descriptor_count` holds the capacity of `descriptors` before the call, and
/// their number after it; the kernel closes those that exceed it.
long eidetic_receive_packet(int socket, void *bytes, size_t capacity, int *descriptors, size_t *descriptor_count);

/// Accepts a connection with `accept4(SOCK_CLOEXEC | SOCK_NONBLOCK)`, which Swift's Glibc does not import.
int eidetic_accept(int socket);

/// Reads the process, user and group that connected (`SO_PEERCRED`); returns -1 on failure.
int eidetic_peer_credentials(int socket, int32_t *process, uint32_t *user, uint32_t *group);

#include "CLinuxHelpers.h"
#include "CLinuxSandbox.h"
