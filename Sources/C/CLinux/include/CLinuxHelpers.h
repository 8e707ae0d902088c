#pragma once

#include <stddef.h>
#include <stdint.h>

/// Starts a program as a child in a session of its own, with `descriptor` as its descriptor 3.
///
/// Its standard streams are /dev/null, no signal is blocked or ignored, and every other descriptor is closed. Returns
/// 0, or the `errno` of the step that failed, also of `execve`.
///
/// Swift's Glibc lacks `posix_spawn_file_actions_addclosefrom_np`.
int eidetic_start_helper(const char *path, char *const arguments[], char *const environment[], int descriptor,
                         int32_t *process);

/// The first argument of a program that is started to decode images; formats whose libraries it loads follow.
#define EIDETIC_DECODE_ARGUMENT "--eidetic-decode-helper"

/// The descriptor of the socket of such a process.
#define EIDETIC_DECODE_DESCRIPTOR 3

/// Returns whether this program decodes images before its `main` if it is started with `EIDETIC_DECODE_ARGUMENT`: 0 for
/// one without EideticSandbox or with the rights of its owner, and where EideticSandbox belongs to a library that the
/// program has opened (`dlopen`), such as a module of an interpreter.
int eidetic_can_start_again(void);

/// Has the kernel end this process with the thread that has started it; returns -1 if that has ended already.
int eidetic_end_with_parent(void);

/// Limits this process to 64 descriptors and no core dump; returns -1 on failure.
int eidetic_limit_own_files(void);

/// Limits the address space of a child (`RLIMIT_AS`); returns -1 on failure.
int eidetic_limit_memory(int32_t process, size_t bytes);

/// Limits the processor time of a child from now on (`RLIMIT_CPU`), after which it is ended; returns -1 on failure.
int eidetic_limit_processor_time(int32_t process, int64_t seconds);

/// Creates shared memory whose size is fixed by seals; returns its descriptor, -1 on failure.
///
/// Swift's Glibc does not import `memfd_create`.
int eidetic_create_memory(size_t bytes);

/// Forbids all writing to shared memory for good; returns -1 on failure, as while a process has it mapped for writing.
int eidetic_seal_memory(int memory);

/// Opens shared memory once more, for reading or for writing as well; returns the descriptor, -1 on failure.
int eidetic_reopen_memory(int memory, int is_writable);

/// Returns 1 if no process can write to shared memory that was opened for reading: none has a descriptor that was
/// reopened for writing, a mapping of it, or a message with it. Returns 0 otherwise, and where it cannot be known.
int eidetic_has_no_writers(int memory);

/// Forbids writing to shared memory by any mapping that is made after this one; returns -1 on failure, as before Linux
/// 5.1.
int eidetic_forbid_writers(int memory);
