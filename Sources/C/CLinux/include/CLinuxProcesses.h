#ifndef EIDETIC_LINUX_PROCESSES_H
#define EIDETIC_LINUX_PROCESSES_H

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

#endif
