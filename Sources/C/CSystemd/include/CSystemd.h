#pragma once

#include <systemd/sd-bus.h>

// Swift calls the functions of sd-bus itself; the macros are for C.

/// Replies to a call with an error, whose text is copied.
int eidetic_bus_reply_error(sd_bus_message *call, const char *name, const char *text);
