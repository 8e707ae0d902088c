import CNetwork
import EideticCore
import Glibc

/// Waits for descriptors and for times, and calls the function of each that is readable or has come.
///
/// Used by one thread only.
final class Poller {
    private let descriptor: FileDescriptor
    private var handlers: [UInt64: () -> Void] = [:]
    private var lastIdentifier: UInt64 = 0
    /// The times of alarms, and all times that they have had.
    private var times: [UInt64: Duration] = [:]
    private var deadlines = DeadlineHeap()
    /// The functions that return the times of alarms, and the alarms whose times may be others now.
    private var sources: [UInt64: () -> Duration?] = [:]
    private var outdated: Set<UInt64> = []

    init() throws(SystemError) {
        let number = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard number >= 0 else { throw SystemError(.open, errorNumber: errno, path: "epoll") }
        descriptor = FileDescriptor(adopting: number)
    }

    /// A descriptor under watch, until the object is released.
    final class Watch {
        private let poller: Poller
        private let number: Int32
        fileprivate let identifier: UInt64

        fileprivate init(poller: Poller, number: Int32, identifier: UInt64) {
            self.poller = poller
            self.number = number
            self.identifier = identifier
        }

        deinit {
            epoll_ctl(poller.descriptor.rawValue, EPOLL_CTL_DEL, number, nil)
            poller.handlers[identifier] = nil
        }
    }

    /// Calls `body` whenever the descriptor is readable or at its end.
    func watch(_ number: Int32, whenReadable body: @escaping () -> Void) -> Watch {
        lastIdentifier += 1
        handlers[lastIdentifier] = body
        var event = epoll_event(events: EPOLLIN.rawValue, data: epoll_data_t(u64: lastIdentifier))
        if epoll_ctl(descriptor.rawValue, EPOLL_CTL_ADD, number, &event) != 0 {
            Log.write(.error, category: .background, message: "cannot watch: \(SystemError.message(for: errno))")
        }
        return Watch(poller: self, number: number, identifier: lastIdentifier)
    }

    // MARK: Alarms

    /// A function that is called when its time has come, once for each, until the object is released.
    final class Alarm {
        private let poller: Poller
        fileprivate let identifier: UInt64

        fileprivate init(poller: Poller, identifier: UInt64) {
            self.poller = poller
            self.identifier = identifier
        }

        deinit {
            poller.times[identifier] = nil
            poller.handlers[identifier] = nil
            poller.sources[identifier] = nil
        }

        /// Asks for the time before the next wait, as it may be another one.
        func outdate() { poller.outdated.insert(identifier) }

        /// The time of the next call; `nil` if none is due.
        var time: Duration? {
            get { poller.times[identifier] }
            set { poller.set(identifier, to: newValue) }
        }
    }

    /// Calls `body` when the time of the alarm has come, which has none yet.
    func alarm(_ body: @escaping () -> Void) -> Alarm {
        lastIdentifier += 1
        handlers[lastIdentifier] = body
        return Alarm(poller: self, identifier: lastIdentifier)
    }

    /// Calls `body` when the time has come that a function returns, which is asked when the alarm is outdated.
    func alarm(at time: @escaping () -> Duration?, body: @escaping () -> Void) -> Alarm {
        let alarm = alarm(body)
        sources[alarm.identifier] = time
        return alarm
    }

    private func updateAlarms() {
        for identifier in outdated {
            guard let source = sources[identifier] else { continue }
            set(identifier, to: source())
        }
        outdated = []
    }

    private func set(_ identifier: UInt64, to time: Duration?) {
        guard times[identifier] != time else { return }
        times[identifier] = time
        guard let time else { return }
        deadlines.insert(identifier, at: time)
        // Times that hold no more leave when they come first, or when they are the most.
        guard deadlines.count > 2 * times.count + 64 else { return }
        deadlines = DeadlineHeap()
        for (identifier, time) in times { deadlines.insert(identifier, at: time) }
    }

    /// The time of the first alarm.
    private var nextAlarm: Duration? {
        while let first = deadlines.first {
            let entry = times[first.number].map { DeadlineHeap.Entry(time: $0, number: first.number) }
            if entry == first { return first.time }
            deadlines.removeFirst()
        }
        return nil
    }

    /// Calls the functions of the alarms whose time has come.
    func ringAlarms() {
        let now = Clock.now
        var due: [UInt64] = []
        while let time = nextAlarm, time <= now, let identifier = deadlines.pop(at: now) {
            times[identifier] = nil
            due.append(identifier)
        }
        // A function may end a later alarm, or set its own again.
        for identifier in due { handlers[identifier]?() }
    }

    // MARK: Waiting

    /// Waits until the first alarm, or until the time if that is earlier, and calls the functions of the descriptors;
    /// returns as well when one of other descriptors is ready, which the caller looks at.
    func wait(until time: Duration?, orFor others: inout [pollfd]) {
        updateAlarms()
        let limit = [time, nextAlarm].compactMap(\.self).min().map { $0 - Clock.now }
        var events = [epoll_event](repeating: epoll_event(), count: 64)
        var milliseconds = limit.map { Int32(min((max(.zero, $0).inNanoseconds + 999_999) / 1_000_000, 86_400_000)) }
        if !others.isEmpty {
            others.append(pollfd(fd: descriptor.rawValue, events: Int16(POLLIN), revents: 0))
            _ = poll(&others, nfds_t(others.count), milliseconds ?? -1)
            others.removeLast()
            milliseconds = 0
        }
        let count = epoll_wait(descriptor.rawValue, &events, Int32(events.count), milliseconds ?? -1)
        // A function may end the watch of a later descriptor.
        for event in events.prefix(max(0, Int(count))) { handlers[event.data.u64]?() }
    }
}
