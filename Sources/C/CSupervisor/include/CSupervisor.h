#pragma once

#include <signal.h>
#include <stdint.h>
#include <sys/types.h>

/// A program to start.
struct eidetic_launch {
    const char *path;
    char *const *arguments;
    char *const *environment;
    /// The working directory; NULL for that of this process.
    const char *directory;
    /// The directory of a control group of version 2 in which the process begins; -1 for that of this process.
    int group;
    /// The socket that the program inherits as descriptor 3.
    int socket;
    /// The file for the standard output and the standard error; -1 for those of this process.
    int output;
};

/// Starts a program in a session of its own, with `clone3(CLONE_INTO_CGROUP | CLONE_PIDFD)`, and returns its process
/// identifier without waiting for the program: its directory and its file are opened by the new process, which may
/// hang. Returns the negative error number if the process cannot start.
///
/// The process executes its program when `eidetic_permit_launch` is called with the second descriptor, and ends if that
/// is closed before. The descriptor becomes readable when the program has started or cannot start.
///
/// Swift's Glibc imports neither `clone3` nor `fork`.
int eidetic_launch(const struct eidetic_launch *launch, int *process_descriptor, int *report_descriptor);

/// Lets the process of a launch execute its program; once.
void eidetic_permit_launch(int descriptor);

/// Reads the report of a launch, without waiting; returns 0 if there is none yet, otherwise 1 and the error number of
/// the start, 0 if the program has started.
int eidetic_read_report(int descriptor, int *error);

/// Forks this process, which must have no other thread; Swift's Glibc does not import `fork`.
int eidetic_fork(void);

/// Collects the end of a child by its descriptor, without waiting; returns 1 and its wait status, 0 if it runs, or -1.
int eidetic_reap_process(int descriptor, int *status);

/// Reads the wait status of an ended process that is not a child (`PIDFD_GET_INFO`, Linux 6.15); returns 1 if known.
int eidetic_read_exit_status(int descriptor, int *status);

/// Returns a copy of a descriptor of a process, which `pidfd_getfd(2)` permits for those that may be traced; -1 if not.
int eidetic_copy_descriptor(int process_descriptor, int number);

/// Takes code and constants out of this process's resident memory until they are used again, at the price of a fault
/// for each 64 KiB; they stay in the system's page cache.
void eidetic_release_code(void);

/// Makes this process the parent of orphaned descendants.
int eidetic_become_subreaper(void);

/// Returns whether this process is the parent of orphaned descendants.
int eidetic_is_subreaper(void);

/// Opens a descriptor that becomes readable for SIGTERM, SIGINT, SIGHUP or SIGCHLD, which it blocks; ignores SIGPIPE.
///
/// SIGCHLD tells of children that have ended, not of those that were stopped.
int eidetic_open_signals(void);

/// Reads one signal; returns 0 if there is none.
int eidetic_read_signal(int descriptor);

/// Sets the limit of open files to the largest that is allowed.
void eidetic_raise_file_limit(void);
