import CNetwork
import EideticCore
import Glibc

/// The kernel's reports of routes and of devices such as power supplies, while processing needs them.
final class ConditionReports {
    private final class Source {
        private let socket: FileDescriptor
        private let watch: Poller.Watch

        /// Watches a socket; `nil` if the kernel has none.
        init?(_ number: Int32, poller: Poller, didChange: @escaping () -> Void) {
            guard number >= 0 else { return nil }
            socket = FileDescriptor(adopting: number)
            watch = poller.watch(number) { if Self.drain(number) { didChange() } }
        }

        /// Discards all reports, and returns whether there were any; an overflow is a change that is not described.
        private static func drain(_ socket: Int32) -> Bool {
            var byte: UInt8 = 0
            var isNew = false
            // What is longer than the buffer is cut off.
            while recv(socket, &byte, 1, Int32(MSG_DONTWAIT)) >= 0 || errno == ENOBUFS || errno == EINTR {
                isNew = true
            }
            return isNew
        }
    }

    private var sources: [Source] = []
    /// Called after reports, whatever they say.
    var didChange: () -> Void = {}

    /// Begins to watch, with a poller.
    init(poller: Poller) {
        let routes = RTMGRP_LINK | RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE
        // The group of the kernel's own reports of devices; the other one has those of udev.
        let kernelEvents: UInt32 = 1
        sources = [
            eidetic_open_netlink(NETLINK_ROUTE, UInt32(routes)),
            eidetic_open_netlink(NETLINK_KOBJECT_UEVENT, kernelEvents),
        ].compactMap { number in Source(number, poller: poller) { [unowned self] in didChange() } }
    }
}
