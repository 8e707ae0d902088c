#include "CSystemd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-bus.h>
#include <unistd.h>

#define LOGIN "org.freedesktop.login1"
#define PATH "/org/freedesktop/login1"
#define MANAGER LOGIN ".Manager"
#define SESSION LOGIN ".Session"
#define PROPERTIES "org.freedesktop.DBus.Properties"

struct eidetic_login {
    sd_bus *bus;
    int inhibitor;
    char *session;
    eidetic_login_handler handler;
    void *context;
};

static int handle_prepare(sd_bus_message *message, void *context, sd_bus_error *error) {
    (void)error;
    eidetic_login *login = context;
    int starts = 0;
    int result = sd_bus_message_read(message, "b", &starts);
    if (result < 0) return result;
    login->handler(login->context, starts ? EIDETIC_LOGIN_PREPARES_FOR_SLEEP : EIDETIC_LOGIN_RESUMED);
    return 0;
}

static int handle_lock(sd_bus_message *message, void *context, sd_bus_error *error) {
    (void)error;
    eidetic_login *login = context;
    bool locked = sd_bus_message_is_signal(message, SESSION, "Lock");
    login->handler(login->context, locked ? EIDETIC_LOGIN_LOCKED : EIDETIC_LOGIN_UNLOCKED);
    return 0;
}

/// Handles changed properties of the session: screen lockers set its LockedHint however they were started.
static int handle_properties(sd_bus_message *message, void *context, sd_bus_error *error) {
    (void)error;
    eidetic_login *login = context;
    const char *name = NULL;
    int result = sd_bus_message_skip(message, "s");
    if (result >= 0) result = sd_bus_message_enter_container(message, 'a', "{sv}");
    while (result >= 0 && (result = sd_bus_message_enter_container(message, 'e', "sv")) > 0) {
        int locked = 0;
        result = sd_bus_message_read(message, "s", &name);
        if (result < 0) break;
        if (strcmp(name, "LockedHint") == 0) {
            result = sd_bus_message_read(message, "v", "b", &locked);
            if (result >= 0) login->handler(login->context, locked ? EIDETIC_LOGIN_LOCKED : EIDETIC_LOGIN_UNLOCKED);
        } else {
            result = sd_bus_message_skip(message, "v");
        }
        if (result >= 0) result = sd_bus_message_exit_container(message);
    }
    return result < 0 ? result : 0;
}

/// Reports a screen that is already locked.
static void report_current_lock(eidetic_login *login) {
    int locked = 0;
    sd_bus_get_property_trivial(login->bus, LOGIN, login->session, SESSION, "LockedHint", NULL, 'b', &locked);
    if (locked) login->handler(login->context, EIDETIC_LOGIN_LOCKED);
}

/// Finds the session of this process; a service has none. Returns a negative error number if the bus does not reply.
static int find_session(eidetic_login *login) {
    sd_bus_message *reply = NULL;
    const char *path = NULL;
    int result = sd_bus_call_method(login->bus, LOGIN, PATH, MANAGER, "GetSessionByPID", NULL, &reply, "u", 0);
    if (result >= 0 && sd_bus_message_read(reply, "o", &path) >= 0) login->session = strdup(path);
    sd_bus_message_unref(reply);
    return result == -ETIMEDOUT ? result : 0;
}

static int subscribe(eidetic_login *login) {
    int result = sd_bus_match_signal(
        login->bus, NULL, LOGIN, PATH, MANAGER, "PrepareForSleep", handle_prepare, login);
    if (result < 0) return result;
    result = sd_bus_match_signal(
        login->bus, NULL, LOGIN, PATH, MANAGER, "PrepareForShutdown", handle_prepare, login);
    if (result < 0 || login->session == NULL) return result;
    result = sd_bus_match_signal(login->bus, NULL, LOGIN, login->session, SESSION, "Lock", handle_lock, login);
    if (result < 0) return result;
    result = sd_bus_match_signal(login->bus, NULL, LOGIN, login->session, SESSION, "Unlock", handle_lock, login);
    if (result < 0) return result;
    return sd_bus_match_signal(
        login->bus, NULL, LOGIN, login->session, PROPERTIES, "PropertiesChanged", handle_properties, login);
}

eidetic_login *eidetic_login_open(eidetic_login_handler handler, void *context, uint64_t timeout_usec, int *error) {
    eidetic_login *login = calloc(1, sizeof *login);
    if (login == NULL) {
        *error = -ENOMEM;
        return NULL;
    }
    login->inhibitor = -1;
    login->handler = handler;
    login->context = context;
    *error = sd_bus_open_system(&login->bus);
    if (*error >= 0) {
        sd_bus_set_method_call_timeout(login->bus, timeout_usec);
        // Without a reply to the first call no further call is made.
        *error = find_session(login);
        if (*error >= 0) *error = subscribe(login);
    }
    if (*error >= 0) {
        if (login->session) report_current_lock(login);
        return login;
    }
    eidetic_login_close(login);
    return NULL;
}

void eidetic_login_close(eidetic_login *login) {
    eidetic_login_uninhibit(login);
    sd_bus_flush_close_unref(login->bus);
    free(login->session);
    free(login);
}

int eidetic_login_descriptor(eidetic_login *login) { return sd_bus_get_fd(login->bus); }

int eidetic_login_poll_events(eidetic_login *login) { return sd_bus_get_events(login->bus); }

uint64_t eidetic_login_timeout(eidetic_login *login) {
    uint64_t moment = UINT64_MAX;
    return sd_bus_get_timeout(login->bus, &moment) < 0 ? UINT64_MAX : moment;
}

int eidetic_login_process(eidetic_login *login) {
    int result;
    do result = sd_bus_process(login->bus, NULL);
    while (result > 0);
    return result;
}

int eidetic_login_inhibit(eidetic_login *login, const char *who, const char *why) {
    if (login->inhibitor >= 0) return 0;
    sd_bus_message *reply = NULL;
    int descriptor = -1;
    int result = sd_bus_call_method(
        login->bus, LOGIN, PATH, MANAGER, "Inhibit", NULL, &reply, "ssss", "sleep:shutdown", who, why, "delay");
    if (result >= 0) result = sd_bus_message_read(reply, "h", &descriptor);
    // The message owns its descriptor.
    if (result >= 0 && (login->inhibitor = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)) < 0) result = -errno;
    sd_bus_message_unref(reply);
    return result < 0 ? result : 0;
}

void eidetic_login_uninhibit(eidetic_login *login) {
    if (login->inhibitor >= 0) close(login->inhibitor);
    login->inhibitor = -1;
}

uint64_t eidetic_login_max_delay(eidetic_login *login) {
    uint64_t delay = 0;
    sd_bus_get_property_trivial(login->bus, LOGIN, PATH, MANAGER, "InhibitDelayMaxUSec", NULL, 't', &delay);
    return delay;
}
