#include "CNetwork.h"

#include <errno.h>
#include <ifaddrs.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/// As many interfaces can be told apart; others share a place.
#define INTERFACES 1024
/// As many addresses are known; of more the oldest are forgotten.
#define ADDRESSES 256

struct address {
    unsigned interface;
    unsigned char family;
    unsigned char bytes[16];
};

struct eidetic_route {
    int socket;
    unsigned char running[INTERFACES / 8];
    struct address addresses[ADDRESSES];
    unsigned count, next;
};

// MARK: What is there

static int is_same(const struct address *left, const struct address *right) {
    return left->interface == right->interface && left->family == right->family
        && memcmp(left->bytes, right->bytes, sizeof left->bytes) == 0;
}

static struct address *find(struct eidetic_route *route, const struct address *wanted) {
    for (unsigned i = 0; i < route->count; i++) {
        if (is_same(&route->addresses[i], wanted)) return &route->addresses[i];
    }
    return NULL;
}

/// Gives 1 where the address was not known.
static int add_address(struct eidetic_route *route, const struct address *address) {
    if (find(route, address)) return 0;
    const struct address none = {0};
    struct address *place = find(route, &none);
    if (!place) {
        if (route->count < ADDRESSES) route->count++;
        place = &route->addresses[route->next];
        route->next = (route->next + 1) % ADDRESSES;
    }
    *place = *address;
    return 1;
}

static void remove_address(struct eidetic_route *route, const struct address *address) {
    struct address *known = find(route, address);
    if (known) memset(known, 0, sizeof *known);
}

/// Gives 1 where the interface runs, and did not when we last heard of it.
static int set_running(struct eidetic_route *route, unsigned interface, unsigned flags) {
    unsigned bit = interface % INTERFACES;
    unsigned char mask = (unsigned char)(1u << bit % 8);
    int was_running = (route->running[bit / 8] & mask) != 0;
    int is_running = (flags & IFF_RUNNING) != 0 && (flags & IFF_LOOPBACK) == 0;
    if (is_running) route->running[bit / 8] |= mask;
    else route->running[bit / 8] &= (unsigned char)~mask;
    return is_running && !was_running;
}

static void look_around(struct eidetic_route *route) {
    struct ifaddrs *first = NULL;
    if (getifaddrs(&first) < 0) return;
    for (struct ifaddrs *entry = first; entry; entry = entry->ifa_next) {
        struct address address = {.interface = if_nametoindex(entry->ifa_name)};
        set_running(route, address.interface, entry->ifa_flags);
        if (!entry->ifa_addr) continue;
        address.family = (unsigned char)entry->ifa_addr->sa_family;
        if (address.family == AF_INET) {
            memcpy(address.bytes, &((const struct sockaddr_in *)(const void *)entry->ifa_addr)->sin_addr, 4);
        } else if (address.family == AF_INET6) {
            memcpy(address.bytes, &((const struct sockaddr_in6 *)(const void *)entry->ifa_addr)->sin6_addr, 16);
        } else {
            continue;
        }
        add_address(route, &address);
    }
    freeifaddrs(first);
}

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

struct eidetic_route *eidetic_route_open(void) {
    struct eidetic_route *route = calloc(1, sizeof *route);
    if (!route) return NULL;
    route->socket = eidetic_open_route_socket();
    if (route->socket < 0) {
        free(route);
        return NULL;
    }
    // After that, so that nothing comes in between.
    look_around(route);
    return route;
}

void eidetic_route_close(struct eidetic_route *route) {
    close(route->socket);
    free(route);
}

int eidetic_route_socket(const struct eidetic_route *route) { return route->socket; }

// MARK: What changes

static int holds(const struct nlmsghdr *message, size_t size) { return message->nlmsg_len >= NLMSG_LENGTH(size); }

/// The kernel repeats an address whenever its lifetime changes: over IPv6 with each word of a router.
static int note_address(struct eidetic_route *route, const struct nlmsghdr *message) {
    const struct ifaddrmsg *news = NLMSG_DATA(message);
    struct address address = {.interface = news->ifa_index, .family = news->ifa_family};
    int length = (int)(message->nlmsg_len - NLMSG_LENGTH(sizeof *news));
    for (const struct rtattr *attribute = IFA_RTA(news); RTA_OK(attribute, length);
         attribute = RTA_NEXT(attribute, length)) {
        // The own address of a link between two, where both are given.
        int is_own = attribute->rta_type == IFA_LOCAL || (attribute->rta_type == IFA_ADDRESS && news->ifa_family == AF_INET6);
        if (!is_own || RTA_PAYLOAD(attribute) > sizeof address.bytes) continue;
        memset(address.bytes, 0, sizeof address.bytes);
        memcpy(address.bytes, RTA_DATA(attribute), RTA_PAYLOAD(attribute));
        if (attribute->rta_type == IFA_LOCAL) break;
    }
    if (message->nlmsg_type == RTM_DELADDR) {
        remove_address(route, &address);
        return 0;
    }
    // Not good for anything yet: it comes again when no neighbour has it.
    if (news->ifa_flags & IFA_F_TENTATIVE) return 0;
    // Addresses that are good for this machine or its own link alone bring nothing back.
    return add_address(route, &address) && news->ifa_scope < RT_SCOPE_LINK;
}

static int is_arrival(struct eidetic_route *route, const struct nlmsghdr *message) {
    switch (message->nlmsg_type) {
    case RTM_NEWADDR:
    case RTM_DELADDR:
        return holds(message, sizeof(struct ifaddrmsg)) && note_address(route, message);
    case RTM_NEWROUTE: // The default route.
        return holds(message, sizeof(struct rtmsg)) && ((const struct rtmsg *)NLMSG_DATA(message))->rtm_dst_len == 0
            && ((const struct rtmsg *)NLMSG_DATA(message))->rtm_type == RTN_UNICAST;
    case RTM_NEWLINK: {
        if (!holds(message, sizeof(struct ifinfomsg))) return 0;
        const struct ifinfomsg *link = NLMSG_DATA(message);
        return set_running(route, (unsigned)link->ifi_index, link->ifi_flags);
    }
    default:
        return 0;
    }
}

int eidetic_route_read(struct eidetic_route *route) {
    char buffer[16384] __attribute__((aligned(__alignof__(struct nlmsghdr))));
    int arrived = 0;
    for (;;) {
        ssize_t count = recv(route->socket, buffer, sizeof buffer, 0);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0 && errno == ENOBUFS) {
            arrived = 1;
            continue;
        }
        if (count <= 0) return arrived;
        int length = (int)count; // signed: the macro below takes off more than there is after a last, odd message
        for (struct nlmsghdr *message = (struct nlmsghdr *)buffer; NLMSG_OK(message, length);
             message = NLMSG_NEXT(message, length)) {
            arrived |= is_arrival(route, message);
        }
    }
}
