#include "CSupervisor.h"

#include <CNetwork.h>
#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

/// The group of the kernel's own reports of devices; the other one carries those of udev.
enum { KERNEL_EVENTS = 1 };

int eidetic_open_route_reports(void) {
    return eidetic_open_netlink(NETLINK_ROUTE, RTMGRP_LINK | RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE);
}

int eidetic_open_device_reports(void) { return eidetic_open_netlink(NETLINK_KOBJECT_UEVENT, KERNEL_EVENTS); }

int eidetic_drain_reports(int descriptor) {
    char byte;
    int is_new = 0;
    // What is longer than the buffer is cut off; an overflow is a change that is not described.
    while (recv(descriptor, &byte, 1, MSG_DONTWAIT) >= 0 || errno == ENOBUFS || errno == EINTR) is_new = 1;
    return is_new;
}
