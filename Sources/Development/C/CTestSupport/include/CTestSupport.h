#ifndef EIDETIC_TEST_SUPPORT_H
#define EIDETIC_TEST_SUPPORT_H

#include <sys/types.h>

/// Creates a pipe that child processes do not inherit. `pipe2` is a GNU extension, which Swift's Glibc module lacks.
int eidetic_test_pipe(int ends[2]);

/// Starts a program with `streams` as its standard input, output and error, without blocked signals, and with
/// `directory` as its working directory unless that is NULL. Returns 0 or an error number.
/// `posix_spawn_file_actions_addchdir_np` is a GNU extension, which Swift's Glibc module lacks.
int eidetic_test_spawn(pid_t *process, const char *path, char *const arguments[], char *const environment[],
                       const char *directory, const int streams[3]);

/// Opens a pseudo-terminal and writes the path of its terminal side to `path`. Returns the file descriptor of its
/// master side, or -1. `posix_openpt` and related functions are X/Open extensions, which Swift's Glibc module lacks.
int eidetic_test_terminal(char *path, size_t size);

/// Returns the environment of this process. Swift cannot access the global variable `environ`.
char **eidetic_test_environment(void);

/// Copies this process, of whose threads the copy has the calling one. Swift does not import `fork`.
pid_t eidetic_test_fork(void);

#include "Escapes.h"

#endif
