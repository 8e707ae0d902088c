#include "CNetwork.h"

#include <errno.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int eidetic_open_route_socket(void) {
    int number = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
    if (number < 0) return -1;
    struct sockaddr_nl address;
    memset(&address, 0, sizeof address);
    address.nl_family = AF_NETLINK;
    address.nl_groups = RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_IFADDR | RTMGRP_IPV6_ROUTE;
    if (bind(number, (struct sockaddr *)&address, sizeof address) < 0) {
        int error = errno;
        close(number);
        errno = error;
        return -1;
    }
    return number;
}

static int holds(const struct nlmsghdr *message, size_t size) { return message->nlmsg_len >= NLMSG_LENGTH(size); }

/// An interface came where it did not run when we last heard of it: the kernel repeats itself often.
static int is_new_link(const struct ifinfomsg *link, unsigned char *running) {
    unsigned bit = (unsigned)link->ifi_index % EIDETIC_ROUTE_INTERFACES;
    unsigned char mask = (unsigned char)(1u << bit % 8);
    int was_running = (running[bit / 8] & mask) != 0;
    int is_running = (link->ifi_flags & IFF_RUNNING) != 0 && (link->ifi_flags & IFF_LOOPBACK) == 0;
    if (is_running) running[bit / 8] |= mask;
    else running[bit / 8] &= (unsigned char)~mask;
    return is_running && !was_running;
}

static int is_arrival(const struct nlmsghdr *message, unsigned char *running) {
    switch (message->nlmsg_type) {
    case RTM_NEWADDR: // Addresses that are good for this machine or its own link alone bring nothing back.
        return holds(message, sizeof(struct ifaddrmsg))
            && ((const struct ifaddrmsg *)NLMSG_DATA(message))->ifa_scope < RT_SCOPE_LINK;
    case RTM_NEWROUTE: // The default route.
        return holds(message, sizeof(struct rtmsg)) && ((const struct rtmsg *)NLMSG_DATA(message))->rtm_dst_len == 0
            && ((const struct rtmsg *)NLMSG_DATA(message))->rtm_type == RTN_UNICAST;
    case RTM_NEWLINK:
        return holds(message, sizeof(struct ifinfomsg)) && is_new_link(NLMSG_DATA(message), running);
    default:
        return 0;
    }
}

int eidetic_read_route_socket(int number, unsigned char *running) {
    char buffer[16384] __attribute__((aligned(__alignof__(struct nlmsghdr))));
    int arrived = 0;
    for (;;) {
        ssize_t count = recv(number, buffer, sizeof buffer, 0);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0 && errno == ENOBUFS) {
            arrived = 1;
            continue;
        }
        if (count <= 0) return arrived;
        int length = (int)count; // signed: the macro below takes off more than there is after a last, odd message
        for (struct nlmsghdr *message = (struct nlmsghdr *)buffer; NLMSG_OK(message, length);
             message = NLMSG_NEXT(message, length)) {
            arrived |= is_arrival(message, running);
        }
    }
}
