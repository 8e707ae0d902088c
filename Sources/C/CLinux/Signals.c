#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <signal.h>
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
