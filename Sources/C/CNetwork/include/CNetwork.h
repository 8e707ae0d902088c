#pragma once

// These are not in Swift's Glibc.
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/epoll.h>

// Changes of network interfaces, addresses and routes, from the kernel.
//
// In C because messages of rtnetlink are parsed with macros.

/// Opens a socket of a protocol of the kernel that receives these groups; returns -1 with `errno` on failure.
int eidetic_open_netlink(int protocol, unsigned groups);

/// Opens a socket that receives the changes; returns -1 with `errno` on failure.
int eidetic_open_route_socket(void);

/// A socket that receives the changes, with the interfaces and addresses that are known.
struct eidetic_route;

/// Opens a socket and reads the current state; returns NULL with `errno` on failure.
struct eidetic_route *eidetic_route_open(void);

/// Closes the socket and frees the state.
void eidetic_route_close(struct eidetic_route *route);

/// Returns the descriptor of the socket, which is readable when there are changes.
int eidetic_route_socket(const struct eidetic_route *route);

/// Reads all changes. Returns 1 if an interface, an address or a default route was added; otherwise, 0.
///
/// Repeated messages do not count; messages that the kernel had to drop count as an addition.
int eidetic_route_read(struct eidetic_route *route);

/// Returns 1 if there is a route to the Internet: to the addresses for documentation (RFC 5737, RFC 3849), which every
/// default route covers.
int eidetic_route_exists(void);
