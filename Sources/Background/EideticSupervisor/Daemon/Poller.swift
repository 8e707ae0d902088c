import CSupervisor
import EideticCore
import Glibc

/// Waits for descriptors, and calls the function of each that is readable.
///
/// Used by one thread only.
final class Poller {
    private let descriptor: FileDescriptor
    private var handlers: [UInt64: () -> Void] = [:]
    private var lastIdentifier: UInt64 = 0

    init() throws(SystemError) {
        let number = eidetic_poller_open()
        guard number >= 0 else { throw SystemError(.open, errorNumber: errno, path: "epoll") }
        descriptor = FileDescriptor(adopting: number)
    }

    /// A descriptor under watch, until the object is released.
    final class Watch {
        private let poller: Poller
        private let number: Int32
        fileprivate let identifier: UInt64

        fileprivate init(poller: Poller, number: Int32, identifier: UInt64) {
            (self.poller, self.number, self.identifier) = (poller, number, identifier)
        }

        deinit {
            eidetic_poller_remove(poller.descriptor.rawValue, number)
            poller.handlers[identifier] = nil
        }
    }

    /// Calls `body` whenever the descriptor is readable or at its end.
    func watch(_ number: Int32, whenReadable body: @escaping () -> Void) -> Watch {
        lastIdentifier += 1
        handlers[lastIdentifier] = body
        if eidetic_poller_add(descriptor.rawValue, number, lastIdentifier) != 0 {
            Log.write(.error, category: .background, message: "cannot watch: \(SystemError.message(for: errno))")
        }
        return Watch(poller: self, number: number, identifier: lastIdentifier)
    }

    /// Waits for at most the time, for ever without one, and calls the functions; returns as well when one of other
    /// descriptors is ready, which the caller looks at.
    func wait(atMost limit: Duration?, orFor others: inout [pollfd]) {
        var identifiers = [UInt64](repeating: 0, count: 64)
        var milliseconds = limit.map { Int32(min((max(.zero, $0).inNanoseconds + 999_999) / 1_000_000, 86_400_000)) }
        if !others.isEmpty {
            others.append(pollfd(fd: descriptor.rawValue, events: Int16(POLLIN), revents: 0))
            _ = poll(&others, nfds_t(others.count), milliseconds ?? -1)
            others.removeLast()
            milliseconds = 0
        }
        let count = eidetic_poller_wait(descriptor.rawValue, &identifiers, 64, milliseconds ?? -1)
        // A function may end the watch of a later descriptor.
        for identifier in identifiers.prefix(max(0, Int(count))) { handlers[identifier]?() }
    }
}
