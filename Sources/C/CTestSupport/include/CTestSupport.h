#ifndef EIDETIC_TEST_SUPPORT_H
#define EIDETIC_TEST_SUPPORT_H

#include <sys/types.h>

/// Makes a pipe that other programs do not inherit. `pipe2` is a GNU extension, which Swift's Glibc does not import.
int eidetic_test_pipe(int ends[2]);

/// Starts a program with these three as its standard input, output and errors, no signal blocked, and `directory` as
/// its working directory unless that is null. Gives 0 or an error number.
/// `posix_spawn_file_actions_addchdir_np` is a GNU extension, which Swift's Glibc does not import.
int eidetic_test_spawn(pid_t *process, const char *path, char *const arguments[], char *const environment[],
                       const char *directory, const int streams[3]);

/// Opens a pseudo-terminal and writes the path of its other side to `path`; -1 on failure.
/// `posix_openpt` and its kin are X/Open's, which Swift's Glibc does not import.
int eidetic_test_terminal(char *path, size_t size);

/// The environment of this process; Swift cannot use the global variable `environ`.
char **eidetic_test_environment(void);

#endif
