#ifndef EIDETIC_SDBUS_H
#define EIDETIC_SDBUS_H

#include <stdint.h>
#include <systemd/sd-bus.h>

// Swift calls the functions of sd-bus that are not variadic; these are the others.

/// Replies to a call with an error, whose text is copied.
int eidetic_bus_reply_error(sd_bus_message *call, const char *name, const char *text);

/// Sends an empty reply.
int eidetic_bus_reply_empty(sd_bus_message *call);

#endif
