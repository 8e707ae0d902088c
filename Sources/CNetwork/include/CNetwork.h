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

/// As many interfaces can be told apart; others share a place.
#define EIDETIC_ROUTE_INTERFACES 1024

/// Reads all news that are there. Gives 1 where an interface, an address or a default route came, else 0.
///
/// News that the kernel had to drop count as something that came. `running` has a bit for each interface that runs, and
/// is the caller's to keep: EIDETIC_ROUTE_INTERFACES / 8 bytes, zero at first.
int eidetic_read_route_socket(int socket, unsigned char *running);

#endif
