#ifndef EIDETIC_SYSTEMD_H
#define EIDETIC_SYSTEMD_H

#include <stdbool.h>
#include <stdint.h>

// A shim, because sd-bus's calls are variadic, and its match handlers are C callbacks with an error out-parameter.
// It talks to logind alone: one delay inhibitor, and the signals for sleep, shutdown, lock and unlock.

typedef struct eidetic_login eidetic_login;

enum eidetic_login_event {
    EIDETIC_LOGIN_SLEEP_ANNOUNCED = 1,
    EIDETIC_LOGIN_AWOKE = 2,
    EIDETIC_LOGIN_LOCKED = 3,
    EIDETIC_LOGIN_UNLOCKED = 4,
};

/// Told of each event, on the thread that calls `eidetic_login_process`.
typedef void (*eidetic_login_handler)(void *context, int event);

/// Connects to the system bus and asks for the signals; NULL, and the negative error number, where there is no logind.
/// The bus answers asynchronously, but starting a service takes it up to `timeout_usec`.
eidetic_login *eidetic_login_open(eidetic_login_handler handler, void *context, uint64_t timeout_usec, int *error);

/// Gives everything back, the inhibitor included.
void eidetic_login_close(eidetic_login *login);

/// The descriptor to poll, for which events, and until when (CLOCK_MONOTONIC, microseconds; UINT64_MAX: for ever).
int eidetic_login_descriptor(eidetic_login *login);
int eidetic_login_poll_events(eidetic_login *login);
uint64_t eidetic_login_timeout(eidetic_login *login);

/// Handles what has arrived; negative where the bus is gone.
int eidetic_login_process(eidetic_login *login);

/// Takes the delay inhibitor for sleep and shutdown; negative error number where that is refused.
int eidetic_login_inhibit(eidetic_login *login, const char *who, const char *why);

/// Gives the inhibitor back: the machine may go on.
void eidetic_login_release(eidetic_login *login);

/// How long logind waits for inhibitors, in microseconds; 0 where it does not say.
uint64_t eidetic_login_longest_delay(eidetic_login *login);

#endif
