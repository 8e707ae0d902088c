#ifndef EIDETIC_TUNNEL_H
#define EIDETIC_TUNNEL_H

/// Moves the calling thread into a new network namespace. Returns 0, or -1 with `errno`. In C because Swift's Glibc
/// module lacks `unshare`.
int eidetic_enter_network(void);

/// Creates a non-blocking TUN device in the calling thread's network namespace: each read and write is one IP packet.
/// Returns a file descriptor, or -1 with `errno`. In C because Swift cannot call the variadic function `ioctl`.
int eidetic_open_tunnel(const char *name);

#endif
