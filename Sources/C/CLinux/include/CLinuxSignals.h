#ifndef EIDETIC_LINUX_SIGNALS_H
#define EIDETIC_LINUX_SIGNALS_H

/// Where caught signals are written to, one byte each: the only thing that a handler may safely do.
void eidetic_set_signal_pipe(int descriptor);

/// Has a signal written to the pipe; 0, and no change, where it is ignored or has a handler of the application's.
/// (`sigaction`'s union of handlers is a macro, which Swift does not import.)
int eidetic_catch_signal(int number);

/// Gives a signal its default action again.
void eidetic_release_signal(int number);

/// `pipe2` with O_CLOEXEC and O_NONBLOCK, which Swift's Glibc does not import.
int eidetic_pipe(int ends[2]);

/// A descriptor that becomes readable when the clock is set (`timerfd`); -1 where that cannot be had.
int eidetic_clock_change_descriptor(void);

#endif
