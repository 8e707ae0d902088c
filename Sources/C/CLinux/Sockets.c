#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

enum { maximum_descriptors = 16 };

long eidetic_send_packet(int socket, const void *bytes, size_t count, const int *descriptors, size_t descriptor_count) {
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(maximum_descriptors * sizeof(int))];
    } control = {0};
    struct iovec part = {.iov_base = (void *)bytes, .iov_len = count};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (descriptor_count > maximum_descriptors) {
        errno = EINVAL;
        return -1;
    }
    if (descriptor_count > 0) {
        size_t size = descriptor_count * sizeof(int);
        message.msg_control = control.bytes;
        message.msg_controllen = CMSG_SPACE(size);
        control.header.cmsg_level = SOL_SOCKET;
        control.header.cmsg_type = SCM_RIGHTS;
        control.header.cmsg_len = CMSG_LEN(size);
        memcpy(CMSG_DATA(&control.header), descriptors, size);
    }
    long sent;
    do sent = sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    while (sent < 0 && errno == EINTR);
    return sent;
}

/// Takes up to `capacity` descriptors out of the control messages, and closes the rest.
static size_t take_descriptors(struct msghdr *message, int *descriptors, size_t capacity) {
    size_t taken = 0;
    for (struct cmsghdr *header = CMSG_FIRSTHDR(message); header; header = CMSG_NXTHDR(message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
        size_t number = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t index = 0; index < number; index++) {
            int descriptor;
            memcpy(&descriptor, CMSG_DATA(header) + index * sizeof(int), sizeof descriptor);
            if (taken < capacity) descriptors[taken++] = descriptor;
            else close(descriptor);
        }
    }
    return taken;
}

long eidetic_receive_packet(int socket, void *bytes, size_t capacity, int *descriptors, size_t *descriptor_count) {
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(maximum_descriptors * sizeof(int))];
    } control;
    struct iovec part = {.iov_base = bytes, .iov_len = capacity};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control};
    long count;
    do count = recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    while (count < 0 && errno == EINTR);
    if (count < 0) {
        *descriptor_count = 0;
        return -1;
    }
    *descriptor_count = take_descriptors(&message, descriptors, *descriptor_count);
    if (!(message.msg_flags & MSG_TRUNC)) return count;
    while (*descriptor_count > 0) close(descriptors[--*descriptor_count]);
    errno = EMSGSIZE;
    return -1;
}

int eidetic_accept(int socket) { return accept4(socket, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK); }

int eidetic_peer_credentials(int socket, int32_t *process, uint32_t *user, uint32_t *group) {
    struct ucred credentials;
    socklen_t size = sizeof credentials;
    if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) return -1;
    *process = credentials.pid;
    *user = credentials.uid;
    *group = credentials.gid;
    return 0;
}
