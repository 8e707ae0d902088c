#ifndef EIDETIC_LINUX_SIGNALS_H
#define EIDETIC_LINUX_SIGNALS_H

/// Sets the pipe to which forwarded signals are written, one byte each; `write` is safe in a signal handler.
void eidetic_set_signal_pipe(int descriptor);

/// Forwards a signal to the pipe; has no effect and returns 0 if it is ignored or has a handler of the application.
///
/// `sigaction`'s union of handlers is accessed through a macro, which Swift does not import.
int eidetic_forward_signal(int number);

/// Restores the default action of a signal.
void eidetic_reset_signal(int number);

/// Creates a pipe with O_CLOEXEC and O_NONBLOCK by `pipe2`, which Swift's Glibc does not import.
int eidetic_pipe(int ends[2]);

/// Opens a timer descriptor that becomes readable when the clock is set; returns -1 on failure.
int eidetic_open_clock_change(void);

#endif
