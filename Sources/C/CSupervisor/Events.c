#define _GNU_SOURCE
#include "CSupervisor.h"

#include <errno.h>
#include <sys/epoll.h>
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

int eidetic_poller_open(void) { return epoll_create1(EPOLL_CLOEXEC); }

int eidetic_poller_add(int poller, int descriptor, uint64_t identifier) {
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = identifier};
    return epoll_ctl(poller, EPOLL_CTL_ADD, descriptor, &event);
}

int eidetic_poller_remove(int poller, int descriptor) {
    return epoll_ctl(poller, EPOLL_CTL_DEL, descriptor, NULL);
}

int eidetic_poller_wait(int poller, uint64_t *identifiers, int capacity, int milliseconds) {
    struct epoll_event events[64];
    int count = epoll_wait(poller, events, capacity < 64 ? capacity : 64, milliseconds);
    for (int index = 0; index < count; index++) identifiers[index] = events[index].data.u64;
    return count < 0 && errno == EINTR ? 0 : count;
}
