#define _GNU_SOURCE
#include "CSupervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/ioctl.h>
#include <linux/sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef P_PIDFD
#define P_PIDFD 3
#endif

// The structure of `PIDFD_GET_INFO`, which the headers of Debian 12 lack.
struct process_information {
    uint64_t mask, group_identifier;
    uint32_t identifiers[11];
    int32_t exit_code;
};
_Static_assert(sizeof(struct process_information) == 64, "the size in the request's number");
#define PROCESS_EXIT_INFORMATION (1ull << 3)
#define READ_PROCESS_INFORMATION _IOWR(0xff, 11, struct process_information)

static void close_from(int first) {
    if (syscall(SYS_close_range, first, ~0u, 0u) == 0) return;
    for (int descriptor = first; descriptor < 1024; descriptor++) close(descriptor);
}

/// The limit of open files with which this process was started.
static struct rlimit original_file_limit;
static int is_file_limit_raised;

/// The descriptor of the report in the child, after that of the inherited socket.
enum { report_place = 4 };

/// Runs in the child, between `clone3` and `execve`: calls nothing that allocates.
static int become_program(const struct eidetic_launch *launch, int *report) {
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    // Handlers are cleared by `clone3`, ignored signals are not.
    signal(SIGPIPE, SIG_DFL);
    if (is_file_limit_raised) setrlimit(RLIMIT_NOFILE, &original_file_limit);
    setsid();
    // Above the descriptors that are about to be replaced.
    int socket = launch->socket >= 0 ? fcntl(launch->socket, F_DUPFD, 16) : -1;
    int output = launch->output >= 0 ? fcntl(launch->output, F_DUPFD, 16) : -1;
    int copy = fcntl(*report, F_DUPFD, 16);
    if (copy < 0 || dup3(copy, report_place, O_CLOEXEC) < 0) return errno;
    *report = report_place;
    if (output >= 0 && (dup2(output, 1) < 0 || dup2(output, 2) < 0)) return errno;
    int input = open("/dev/null", O_RDONLY);
    if (input > 0) dup2(input, 0);
    if (socket >= 0 && dup2(socket, 3) < 0) return errno;
    if (socket < 0) close(3);
    // Before the calls that may hang: the supervisor's end must be seen by its peers although this process lives.
    close_from(report_place + 1);
    // The supervisor has recorded this process, or has ended and closed its end.
    char permission;
    if (read(*report, &permission, 1) != 1) return ECANCELED;
    if (launch->directory && chdir(launch->directory) != 0) return errno;
    execve(launch->path, launch->arguments, launch->environment);
    return errno;
}

int eidetic_launch(const struct eidetic_launch *launch, int *process_descriptor, int *report_descriptor) {
    int report[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, report) != 0) return -errno;
    fcntl(report[0], F_SETFL, O_NONBLOCK);
    int descriptor = -1;
    struct clone_args arguments = {
        .flags = CLONE_PIDFD | CLONE_CLEAR_SIGHAND | (launch->group >= 0 ? CLONE_INTO_CGROUP : 0),
        .pidfd = (uint64_t)(uintptr_t)&descriptor,
        .exit_signal = SIGCHLD,
        .cgroup = launch->group >= 0 ? (uint64_t)launch->group : 0,
    };
    long identifier = syscall(SYS_clone3, &arguments, sizeof arguments);
    if (identifier == 0) {
        int report_copy = report[1];
        int error = become_program(launch, &report_copy);
        (void)!send(report_copy, &error, sizeof error, MSG_NOSIGNAL);
        _exit(127);
    }
    int error = identifier < 0 ? errno : 0;
    close(report[1]);
    if (error != 0) {
        close(report[0]);
        return -error;
    }
    *process_descriptor = descriptor;
    *report_descriptor = report[0];
    return (int)identifier;
}

int eidetic_read_report(int descriptor, int *error) {
    ssize_t count = read(descriptor, error, sizeof *error);
    if (count == sizeof *error) return 1;
    // The process was killed before it had read the permission.
    if (count < 0 && errno == ECONNRESET) count = 0;
    if (count == 0) *error = 0;
    return count == 0 ? 1 : 0;
}

void eidetic_permit_launch(int descriptor) { (void)!send(descriptor, "", 1, MSG_NOSIGNAL); }

int eidetic_fork(void) { return fork(); }

int eidetic_reap_process(int descriptor, int *status) {
    siginfo_t information;
    memset(&information, 0, sizeof information);
    if (waitid((idtype_t)P_PIDFD, (id_t)descriptor, &information, WEXITED | WNOHANG) != 0) return -1;
    if (information.si_pid == 0) return 0;
    *status = information.si_code == CLD_EXITED ? (information.si_status & 0xff) << 8 : information.si_status & 0x7f;
    return 1;
}

int eidetic_read_exit_status(int descriptor, int *status) {
    struct process_information information;
    memset(&information, 0, sizeof information);
    information.mask = PROCESS_EXIT_INFORMATION;
    if (ioctl(descriptor, READ_PROCESS_INFORMATION, &information) != 0) return 0;
    if (!(information.mask & PROCESS_EXIT_INFORMATION)) return 0;
    *status = information.exit_code;
    return 1;
}

int eidetic_become_subreaper(void) { return prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); }

int eidetic_is_subreaper(void) {
    int is_subreaper = 0;
    return prctl(PR_GET_CHILD_SUBREAPER, &is_subreaper, 0, 0, 0) == 0 && is_subreaper;
}

void eidetic_raise_file_limit(void) {
    struct rlimit limit;
    if (is_file_limit_raised || getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    original_file_limit = limit;
    is_file_limit_raised = 1;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

int eidetic_copy_descriptor(int process_descriptor, int number) {
    return (int)syscall(SYS_pidfd_getfd, process_descriptor, number, 0);
}
