#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <sys/timerfd.h>
#include <unistd.h>

static int signal_pipe = -1;

static void forward_signal(int number) {
    int saved = errno;
    unsigned char byte = (unsigned char)number;
    // If the pipe is full, the reader will wake up anyway.
    (void)!write(signal_pipe, &byte, 1);
    errno = saved;
}

void eidetic_set_signal_pipe(int descriptor) { signal_pipe = descriptor; }

int eidetic_forward_signal(int number) {
    struct sigaction old;
    if (sigaction(number, NULL, &old) != 0) return 0;
    if (old.sa_flags & SA_SIGINFO || old.sa_handler != SIG_DFL) return 0;
    struct sigaction action = {.sa_handler = forward_signal, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    return sigaction(number, &action, NULL) == 0;
}

void eidetic_reset_signal(int number) { signal(number, SIG_DFL); }

int eidetic_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC | O_NONBLOCK); }

int eidetic_open_clock_change(void) {
    int descriptor = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK);
    if (descriptor < 0) return -1;
    // The largest time that the kernel accepts, so that only a change of the clock ends the timer.
    struct itimerspec far = {.it_value.tv_sec = INT64_MAX / 1000000000};
    if (timerfd_settime(descriptor, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &far, NULL) == 0) return descriptor;
    close(descriptor);
    return -1;
}
