#ifndef EIDETIC_NETWORK_H
#define EIDETIC_NETWORK_H

// Waiting for many files, and waking who waits: Swift's Glibc leaves these headers out.
#include <sys/epoll.h>
#include <sys/eventfd.h>

/// The kernel's news about network interfaces, addresses and routes.
///
/// In C because Swift's Glibc has no `linux/rtnetlink.h`, whose messages are walked with macros.

/// Opens a socket that hears of changes; -1 with `errno` where there can be none.
int eidetic_open_route_socket(void);

/// Such a socket, and what is known to be there.
struct eidetic_route;

/// Opens one that hears of changes to what is there now; NULL with `errno` where there can be none.
struct eidetic_route *eidetic_route_open(void);

void eidetic_route_close(struct eidetic_route *route);

/// The number of its socket, which can be read when there are news.
int eidetic_route_socket(const struct eidetic_route *route);

/// Reads all news that are there. Gives 1 where an interface, an address or a default route came, else 0.
///
/// What the kernel says again does not count; news that it had to drop count as something that came.
int eidetic_route_read(struct eidetic_route *route);

#endif
