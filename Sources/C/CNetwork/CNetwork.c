#include "CNetwork.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/// The number of interfaces that are distinguished; further ones share a bit.
#define INTERFACES 1024
/// The number of addresses that are remembered; further ones replace the oldest.
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

// MARK: Current state

static int is_same(const struct address *left, const struct address *right) {
    return left->interface == right->interface && left->family == right->family
        && memcmp(left->bytes, right->bytes, sizeof left->bytes) == 0;
}

static struct address *find(struct eidetic_route *route, const struct address *address) {
    for (unsigned i = 0; i < route->count; i++) {
        if (is_same(&route->addresses[i], address)) return &route->addresses[i];
    }
    return NULL;
}

/// Returns 1 if the address is new.
static int add_address(struct eidetic_route *route, const struct address *address) {
    if (find(route, address)) return 0;
    const struct address empty = {0};
    struct address *slot = find(route, &empty);
    if (!slot) {
        if (route->count < ADDRESSES) route->count++;
        slot = &route->addresses[route->next];
        route->next = (route->next + 1) % ADDRESSES;
    }
    *slot = *address;
    return 1;
}

static void remove_address(struct eidetic_route *route, const struct address *address) {
    struct address *known = find(route, address);
    if (known) memset(known, 0, sizeof *known);
}

/// Returns 1 if the interface runs, and did not run before.
static int set_running(struct eidetic_route *route, unsigned interface, unsigned flags) {
    unsigned bit = interface % INTERFACES;
    unsigned char mask = (unsigned char)(1u << bit % 8);
    int was_running = (route->running[bit / 8] & mask) != 0;
    int is_running = (flags & IFF_RUNNING) != 0 && (flags & IFF_LOOPBACK) == 0;
    if (is_running) route->running[bit / 8] |= mask;
    else route->running[bit / 8] &= (unsigned char)~mask;
    return is_running && !was_running;
}

static void read_current_state(struct eidetic_route *route) {
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

int eidetic_open_netlink(int protocol, unsigned groups) {
    int number = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol);
    if (number < 0) return -1;
    struct sockaddr_nl address = {.nl_family = AF_NETLINK, .nl_groups = groups};
    if (bind(number, (struct sockaddr *)&address, sizeof address) == 0) return number;
    int error = errno;
    close(number);
    errno = error;
    return -1;
}

int eidetic_open_route_socket(void) {
    return eidetic_open_netlink(
        NETLINK_ROUTE,
        RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_IFADDR | RTMGRP_IPV6_ROUTE);
}

struct eidetic_route *eidetic_route_open(void) {
    struct eidetic_route *route = calloc(1, sizeof *route);
    if (!route) return NULL;
    route->socket = eidetic_open_route_socket();
    if (route->socket < 0) {
        free(route);
        return NULL;
    }
    // After the socket is open, so that no change is missed.
    read_current_state(route);
    return route;
}

void eidetic_route_close(struct eidetic_route *route) {
    close(route->socket);
    free(route);
}

int eidetic_route_socket(const struct eidetic_route *route) { return route->socket; }

// MARK: Changes

static int holds(const struct nlmsghdr *message, size_t size) { return message->nlmsg_len >= NLMSG_LENGTH(size); }

/// Returns 1 if the message adds a new address beyond this machine and its link.
///
/// The kernel repeats an address whenever its lifetime changes: for IPv6 with each router advertisement.
static int update_address(struct eidetic_route *route, const struct nlmsghdr *message) {
    const struct ifaddrmsg *update = NLMSG_DATA(message);
    struct address address = {.interface = update->ifa_index, .family = update->ifa_family};
    int length = (int)(message->nlmsg_len - NLMSG_LENGTH(sizeof *update));
    for (const struct rtattr *attribute = IFA_RTA(update); RTA_OK(attribute, length);
         attribute = RTA_NEXT(attribute, length)) {
        // A point-to-point link has two addresses; the local one counts.
        int is_local = attribute->rta_type == IFA_LOCAL
            || (attribute->rta_type == IFA_ADDRESS && update->ifa_family == AF_INET6);
        if (!is_local || RTA_PAYLOAD(attribute) > sizeof address.bytes) continue;
        memset(address.bytes, 0, sizeof address.bytes);
        memcpy(address.bytes, RTA_DATA(attribute), RTA_PAYLOAD(attribute));
        if (attribute->rta_type == IFA_LOCAL) break;
    }
    if (message->nlmsg_type == RTM_DELADDR) {
        remove_address(route, &address);
        return 0;
    }
    // Not usable yet: the kernel repeats it after duplicate address detection.
    if (update->ifa_flags & IFA_F_TENTATIVE) return 0;
    // Addresses of this machine or its link alone do not restore connectivity.
    return add_address(route, &address) && update->ifa_scope < RT_SCOPE_LINK;
}

static int adds_connectivity(struct eidetic_route *route, const struct nlmsghdr *message) {
    switch (message->nlmsg_type) {
    case RTM_NEWADDR:
    case RTM_DELADDR:
        return holds(message, sizeof(struct ifaddrmsg)) && update_address(route, message);
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
    int changed = 0;
    for (;;) {
        ssize_t count = recv(route->socket, buffer, sizeof buffer, 0);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0 && errno == ENOBUFS) {
            changed = 1;
            continue;
        }
        if (count <= 0) return changed;
        // After a last message of odd length NLMSG_NEXT subtracts more than is left: the count is signed.
        for (struct nlmsghdr *message = (struct nlmsghdr *)buffer; NLMSG_OK(message, count);
             message = NLMSG_NEXT(message, count)) {
            changed |= adds_connectivity(route, message);
        }
    }
}

// MARK: Routes

/// Returns 1 if the kernel has a route to an address: connecting a datagram socket looks for one, and sends nothing.
static int has_route_to(const struct sockaddr *address, socklen_t length) {
    int number = socket(address->sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (number < 0) return 0;
    int result = connect(number, address, length);
    close(number);
    return result == 0;
}

int eidetic_route_exists(void) {
    struct sockaddr_in ipv4 = {.sin_family = AF_INET, .sin_port = htons(80)};
    struct sockaddr_in6 ipv6 = {.sin6_family = AF_INET6, .sin6_port = htons(80)};
    inet_pton(AF_INET, "192.0.2.1", &ipv4.sin_addr);
    inet_pton(AF_INET6, "2001:db8::1", &ipv6.sin6_addr);
    return has_route_to((const struct sockaddr *)&ipv4, sizeof ipv4)
        || has_route_to((const struct sockaddr *)&ipv6, sizeof ipv6);
}
