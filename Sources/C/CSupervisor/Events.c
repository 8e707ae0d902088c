#define _GNU_SOURCE
#include "CSupervisor.h"

#include <sys/signalfd.h>
#include <unistd.h>

int eidetic_open_signals(void) {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGHUP);
    sigaddset(&signals, SIGCHLD);
    signal(SIGPIPE, SIG_IGN);
    struct sigaction children = {.sa_handler = SIG_DFL, .sa_flags = SA_NOCLDSTOP};
    sigaction(SIGCHLD, &children, NULL);
    if (sigprocmask(SIG_BLOCK, &signals, NULL) != 0) return -1;
    return signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
}

int eidetic_read_signal(int descriptor) {
    struct signalfd_siginfo information;
    if (read(descriptor, &information, sizeof information) != (ssize_t)sizeof information) return 0;
    return (int)information.ssi_signo;
}
