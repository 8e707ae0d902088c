#ifndef EIDETIC_TUNNEL_H
#define EIDETIC_TUNNEL_H

/// Moves the calling thread into a network namespace of its own; 0, or -1 with `errno`. (Swift's Glibc has no `unshare`.)
int eidetic_enter_network(void);

/// Makes a TUN device of this name in the calling thread's network: each read and write is one IP packet, none waits.
/// -1 with `errno` where that cannot be. (`ioctl` takes variable arguments, which Swift cannot call.)
int eidetic_open_tunnel(const char *name);

#endif
