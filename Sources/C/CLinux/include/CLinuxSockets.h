#ifndef EIDETIC_LINUX_SOCKETS_H
#define EIDETIC_LINUX_SOCKETS_H

#include <stddef.h>
#include <stdint.h>

/// Sends one packet with descriptors attached (`SCM_RIGHTS`), without waiting and without SIGPIPE.
///
/// The macros for control messages are not imported by Swift.
long eidetic_send_packet(int socket, const void *bytes, size_t count, const int *descriptors, size_t descriptor_count);

/// Receives one packet without waiting; returns its length, 0 at the end of the connection, -1 on failure (`EMSGSIZE`
/// if the packet exceeds `capacity`).
///
/// Received descriptors are closed on exec. `descriptor_count` holds the capacity of `descriptors` before the call, and
/// their number after it; the kernel closes those that exceed it.
long eidetic_receive_packet(int socket, void *bytes, size_t capacity, int *descriptors, size_t *descriptor_count);

/// Accepts a connection with `accept4(SOCK_CLOEXEC | SOCK_NONBLOCK)`, which Swift's Glibc does not import.
int eidetic_accept(int socket);

/// Reads the process, user and group that connected (`SO_PEERCRED`); returns -1 on failure.
int eidetic_peer_credentials(int socket, int32_t *process, uint32_t *user, uint32_t *group);

#endif
