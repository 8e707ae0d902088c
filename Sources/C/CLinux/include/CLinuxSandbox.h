#pragma once

#include <stddef.h>

/// Forbids new privileges by `execve` for good (`PR_SET_NO_NEW_PRIVS`), and core dumps, which would have secrets;
/// returns -1 on failure.
int eidetic_forbid_new_privileges(void);

/// Returns the version of Landlock in the kernel; 0 if it has none, or it is switched off.
int eidetic_landlock_version(void);

/// Restricts this thread, and those that it starts, to reading below some paths and to reading and changing files below
/// others; missing paths are left out. With version 4 no TCP port can be listened on, with version 6 no signal can be
/// sent to another process. Returns -1 on failure.
///
/// `no_new_privs` must be set.
int eidetic_landlock_restrict(const char *const *readable, size_t readable_count, const char *const *writable,
                              size_t writable_count);

/// Makes system calls fail that neither libcurl nor a file need: programs, processes, signals to others, listening,
/// mounts, kernel modules, tracing, keys, clocks, io_uring, and sockets other than those of IP and netlink, and for
/// datagrams those of unix: connections to other processes of the user cannot be made.
/// Returns -1 on failure.
///
/// `no_new_privs` must be set.
int eidetic_restrict_system_calls(void);

/// Allows only the system calls that decoding needs: memory without new code, threads of this process, messages on open
/// descriptors, and time. All others fail with EPERM: files, sockets, programs, processes, signals to others, tracing.
/// If `reads_files` is not 0, files can be opened for reading, and their names and properties read; Landlock has to
/// restrict which. Returns -1 on failure.
///
/// `no_new_privs` must be set.
int eidetic_restrict_to_decoding(int reads_files);

/// The namespaces that `eidetic_leave_namespaces` has left.
enum { EIDETIC_NAMESPACE_USER = 1, EIDETIC_NAMESPACE_NETWORK = 2, EIDETIC_NAMESPACE_FILES = 4 };

/// Leaves the namespaces of the system, as far as it allows: for ones without network, without files and with a user of
/// their own. The directories at some paths stay where they are; missing ones are left out. Returns the bits of those
/// that were left. The process must have one thread.
int eidetic_leave_namespaces(const char *const *visible, size_t visible_count);

/// Drops all capabilities for good; returns -1 on failure.
int eidetic_drop_capabilities(void);
