#ifndef EIDETIC_SYSTEMD_H
#define EIDETIC_SYSTEMD_H

#include <stdbool.h>
#include <stdint.h>

#include "SDBus.h"

// A client of logind: one delay inhibitor, and the signals for sleep, shutdown, lock and unlock.
//
// In C because sd-bus's functions are variadic, and its match handlers are C callbacks with an error out-parameter.

typedef struct eidetic_login eidetic_login;

enum eidetic_login_event {
    EIDETIC_LOGIN_PREPARES_FOR_SLEEP = 1,
    EIDETIC_LOGIN_RESUMED = 2,
    EIDETIC_LOGIN_LOCKED = 3,
    EIDETIC_LOGIN_UNLOCKED = 4,
};

/// A function that receives each event, on the thread that calls `eidetic_login_process`.
typedef void (*eidetic_login_handler)(void *context, int event);

/// Connects to the system bus and subscribes to the signals; returns NULL and a negative error number without logind.
///
/// A call may have to start the service first, for up to `timeout_usec` microseconds.
eidetic_login *eidetic_login_open(eidetic_login_handler handler, void *context, uint64_t timeout_usec, int *error);

/// Releases the inhibitor and closes the connection.
void eidetic_login_close(eidetic_login *login);

/// Returns the descriptor to poll.
int eidetic_login_descriptor(eidetic_login *login);

/// Returns the events to poll for.
int eidetic_login_poll_events(eidetic_login *login);

/// Returns the end of the wait in microseconds of CLOCK_MONOTONIC; UINT64_MAX means for ever.
uint64_t eidetic_login_timeout(eidetic_login *login);

/// Handles the messages that have arrived; returns a negative error number if the bus is gone.
int eidetic_login_process(eidetic_login *login);

/// Takes the delay inhibitor for sleep and shutdown; returns a negative error number on failure.
int eidetic_login_inhibit(eidetic_login *login, const char *who, const char *why);

/// Releases the inhibitor, so that the machine can sleep or shut down.
void eidetic_login_uninhibit(eidetic_login *login);

/// Returns the time that logind waits for inhibitors in microseconds; 0 if it is unknown.
uint64_t eidetic_login_max_delay(eidetic_login *login);

#endif
