#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

// Only functions that are safe between fork and exec of a process with threads are called in the children.

static void report(int report_end, int error) {
    (void)!write(report_end, &error, sizeof error);
    _exit(127);
}

static void run_program(const char *path, char *const arguments[], int descriptor, int report_end) {
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null < 0 || chdir("/") != 0) report(report_end, errno);
    // Descriptors above 3 first, so that no target is overwritten before it is used.
    int end = fcntl(report_end, F_DUPFD_CLOEXEC, 10);
    int passed = fcntl(descriptor, F_DUPFD_CLOEXEC, 10);
    int sink = fcntl(null, F_DUPFD_CLOEXEC, 10);
    if (end < 0 || passed < 0 || sink < 0) report(report_end, errno);
    for (int stream = 0; stream < 3; stream++) {
        if (dup2(sink, stream) < 0) report(end, errno);
    }
    if (dup2(passed, 3) < 0) report(end, errno);
    if (dup2(end, 4) < 0 || fcntl(4, F_SETFD, FD_CLOEXEC) < 0) report(end, errno);
    close_range(5, ~0U, 0);
    execv(path, arguments);
    report(4, errno);
}

int eidetic_start_detached(const char *path, char *const arguments[], int descriptor) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return errno;
    pid_t child = fork();
    if (child == 0) {
        // The program is a child of this one, which ends at once; init adopts it.
        setsid();
        pid_t program = fork();
        if (program == 0) run_program(path, arguments, descriptor, ends[1]);
        if (program < 0) report(ends[1], errno);
        _exit(0);
    }
    int fork_error = errno;
    close(ends[1]);
    int error = 0;
    if (child < 0) error = fork_error;
    else {
        while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {}
        ssize_t count;
        do count = read(ends[0], &error, sizeof error);
        while (count < 0 && errno == EINTR);
        if (count != sizeof error) error = 0;
    }
    close(ends[0]);
    return error;
}

int eidetic_open_process(int identifier) { return (int)syscall(SYS_pidfd_open, identifier, 0); }

int eidetic_signal_process(int descriptor, int signal) {
    return (int)syscall(SYS_pidfd_send_signal, descriptor, signal, NULL, 0);
}

int eidetic_find_lock_owner(int descriptor) {
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fcntl(descriptor, F_GETLK, &lock) != 0 || lock.l_type == F_UNLCK) return 0;
    return lock.l_pid > 0 ? lock.l_pid : 0;
}
