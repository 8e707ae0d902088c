#define _GNU_SOURCE
#include "CTestSupport.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <unistd.h>

int eidetic_test_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC); }

int eidetic_test_terminal(char *path, size_t size) {
    int descriptor = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (descriptor < 0) return -1;
    if (grantpt(descriptor) == 0 && unlockpt(descriptor) == 0 && ptsname_r(descriptor, path, size) == 0) {
        return descriptor;
    }
    close(descriptor);
    return -1;
}

char **eidetic_test_environment(void) { return environ; }

int eidetic_test_spawn(pid_t *process, const char *path, char *const arguments[], char *const environment[],
                       const char *directory, const int streams[3]) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    for (int stream = 0; stream < 3; stream++) posix_spawn_file_actions_adddup2(&actions, streams[stream], stream);
    if (directory) posix_spawn_file_actions_addchdir_np(&actions, directory);

    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t signals;
    sigemptyset(&signals);
    posix_spawnattr_setsigmask(&attributes, &signals);
    // The test process may ignore some signals, for example as a background job of a shell without job control.
    const int defaults[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGCHLD, SIGCONT, SIGTSTP, SIGTTIN, SIGTTOU};
    for (size_t index = 0; index < sizeof defaults / sizeof *defaults; index++) sigaddset(&signals, defaults[index]);
    posix_spawnattr_setsigdefault(&attributes, &signals);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);

    int error = posix_spawn(process, path, &actions, &attributes, arguments, environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

pid_t eidetic_test_fork(void) { return fork(); }
