import CSystemd
import EideticCore
import Glibc

/// A connection to a message bus, by libsystemd's sd-bus: the one place where it is called.
///
/// Used by one thread only. Only `waitForReply` waits; otherwise the owner polls ``descriptor`` for ``pollEvents``, and
/// calls ``process()``.
package final class BusConnection {
    /// Called with each signal that was subscribed to, and with each call of a method.
    package var receive: (BusMessage) -> Void = { _ in }

    private let bus: OpaquePointer
    private var slots: [OpaquePointer] = []

    /// A message bus.
    package enum Bus: Sendable, Hashable {
        case system
        /// The bus of the user's session, from `DBUS_SESSION_BUS_ADDRESS`.
        case session
        case address(String)
        /// The bus of this user at an address of somebody else.
        case local(LocalBusAddress)
        /// The bus of this user at an address of somebody else, of which only messages of others are received.
        case monitor(LocalBusAddress)
    }

    /// The closure that waits for a reply.
    private final class Reply {
        let body: (Result<[BusValue], BusError>) -> Void
        init(body: @escaping (Result<[BusValue], BusError>) -> Void) { self.body = body }
    }

    package init(to place: Bus) throws(BusError) {
        var opened: OpaquePointer?
        let result: Int32
        switch place {
        case .system: result = sd_bus_open_system(&opened)
        case .session: result = sd_bus_open_user(&opened)
        case .address(let address): result = Self.open(address, into: &opened)
        case .local(let address): result = Self.open(address, asMonitor: false, into: &opened)
        case .monitor(let address): result = Self.open(address, asMonitor: true, into: &opened)
        }
        guard result >= 0, let opened else { throw BusError(result, doing: "cannot connect to the bus") }
        bus = opened
        var slot: OpaquePointer?
        let filter = sd_bus_add_filter(
            bus,
            &slot,
            { message, context, _ in
                guard let message, let context else { return 0 }
                return Unmanaged<BusConnection>.fromOpaque(context).takeUnretainedValue().handle(message)
            },
            Unmanaged.passUnretained(self).toOpaque()
        )
        if let slot { slots.append(slot) }
        if filter < 0 { throw BusError(filter, doing: "cannot receive messages of the bus") }
    }

    deinit {
        for slot in slots { sd_bus_slot_unref(slot) }
        sd_bus_close_unref(bus)
    }

    private static func open(_ address: String, into bus: inout OpaquePointer?) -> Int32 {
        var result = sd_bus_new(&bus)
        if result >= 0 { result = sd_bus_set_address(bus, address) }
        return start(&bus, after: result)
    }

    private static func open(
        _ address: LocalBusAddress,
        asMonitor isMonitor: Bool,
        into bus: inout OpaquePointer?
    ) -> Int32 {
        let socket = address.connect()
        guard socket >= 0 else { return socket }
        var result = sd_bus_new(&bus)
        if result >= 0 { result = sd_bus_set_fd(bus, socket, socket) }
        // From here on it belongs to the bus.
        if result < 0 { close(socket) }
        if result >= 0, isMonitor { result = sd_bus_set_monitor(bus, 1) }
        return start(&bus, after: result)
    }

    private static func start(_ bus: inout OpaquePointer?, after preparation: Int32) -> Int32 {
        var result = preparation
        if result >= 0 { result = sd_bus_set_bus_client(bus, 1) }
        if result >= 0 { result = sd_bus_start(bus) }
        if result < 0 { bus = sd_bus_unref(bus) }
        return result
    }

    /// A Boolean value indicating whether the bus has accepted the connection; before, messages wait.
    package var isReady: Bool { sd_bus_is_ready(bus) > 0 }

    // MARK: Events

    package var descriptor: Int32 { sd_bus_get_fd(bus) }
    package var pollEvents: Int16 { Int16(truncatingIfNeeded: max(0, sd_bus_get_events(bus))) }

    /// The time of the next call of ``process()`` without an event, by `CLOCK_MONOTONIC`; `nil` for none.
    package var deadline: Duration? {
        var moment = UInt64.max
        guard sd_bus_get_timeout(bus, &moment) >= 0, moment != .max else { return nil }
        return .microseconds(Int64(clamping: moment))
    }

    /// Handles what has arrived and sends what waits; returns `false` if the bus is gone.
    package func process() -> Bool {
        while true {
            let result = sd_bus_process(bus, nil)
            if result < 0 { return false }
            if result == 0 { return true }
        }
    }

    private func handle(_ message: OpaquePointer) -> Int32 {
        let isCall = sd_bus_message_is_method_call(message, nil, nil) > 0
        guard isCall || sd_bus_message_is_signal(message, nil, nil) > 0 else { return 0 }
        // sd-bus answers calls of the peer's own interface.
        if isCall, sd_bus_message_is_method_call(message, "org.freedesktop.DBus.Peer", nil) > 0 { return 0 }
        receive(BusMessage(message))
        // An answered call goes no further.
        return isCall ? 1 : 0
    }

    // MARK: Messages

    /// Calls a method.
    ///
    /// - Parameters:
    ///   - member: The name of the method.
    ///   - target: The service, the object and the interface.
    ///   - values: The arguments.
    ///   - timeout: The time for the reply; 25 s by default.
    ///   - reply: Called once, with the values or the error; without it no reply is asked for.
    package func call(
        _ member: String,
        on target: BusTarget,
        with values: [BusValue] = [],
        timeout: Duration = .seconds(25),
        reply: ((Result<[BusValue], BusError>) -> Void)? = nil
    ) {
        let (message, result) = makeCall(member, on: target, with: values)
        defer { sd_bus_message_unref(message) }
        guard result >= 0, let message else {
            reply?(.failure(BusError(result, doing: "cannot make a call of \(member)")))
            return
        }
        guard let reply else {
            sd_bus_message_set_expect_reply(message, 0)
            sd_bus_send(bus, message, nil)
            return
        }
        send(message, timeout: timeout, member: member, reply: reply)
    }

    /// Calls a method, waits for its reply, and returns the result of `read`; a negative error number on failure.
    func waitForReply(
        to member: String,
        on target: BusTarget,
        with values: [BusValue],
        timeout: Duration,
        read: (BusMessage) -> Int32
    ) -> Int32 {
        let (message, result) = makeCall(member, on: target, with: values)
        defer { sd_bus_message_unref(message) }
        guard result >= 0, let message else { return result }
        var reply: OpaquePointer?
        defer { sd_bus_message_unref(reply) }
        let called = sd_bus_call(bus, message, UInt64(max(0, timeout.inNanoseconds / 1_000)), nil, &reply)
        guard called >= 0, let reply else { return called }
        return read(BusMessage(reply))
    }

    private func makeCall(
        _ member: String,
        on target: BusTarget,
        with values: [BusValue]
    ) -> (message: OpaquePointer?, result: Int32) {
        var message: OpaquePointer?
        var result = sd_bus_message_new_method_call(
            bus,
            &message,
            target.service,
            target.path,
            target.interface,
            member
        )
        if result >= 0, let message { result = BusMessage.append(values, to: message) }
        return (message, result)
    }

    private func send(
        _ message: OpaquePointer,
        timeout: Duration,
        member: String,
        reply: @escaping (Result<[BusValue], BusError>) -> Void
    ) {
        let waiting = Unmanaged.passRetained(Reply(body: reply))
        let result = sd_bus_call_async(
            bus,
            nil,
            message,
            { message, context, _ in
                guard let message, let context else { return 0 }
                let waiting = Unmanaged<Reply>.fromOpaque(context).takeRetainedValue()
                waiting.body(BusConnection.result(of: message))
                return 1
            },
            waiting.toOpaque(),
            UInt64(max(0, timeout.inNanoseconds / 1_000))
        )
        guard result < 0 else { return }
        waiting.release()
        reply(.failure(BusError(result, doing: "cannot send a call of \(member)")))
    }

    private static func result(of message: OpaquePointer) -> Result<[BusValue], BusError> {
        guard sd_bus_message_is_method_error(message, nil) > 0, let error = sd_bus_message_get_error(message) else {
            return .success(BusMessage.readValues(of: message))
        }
        let name = error.pointee.name.map { String(cString: $0) } ?? ""
        return .failure(BusError(name: name, message: error.pointee.message.map { String(cString: $0) } ?? ""))
    }

    package func emit(_ member: String, from path: String, interface: String, with values: [BusValue]) {
        var message: OpaquePointer?
        let result = sd_bus_message_new_signal(bus, &message, path, interface, member)
        send(message, made: result, with: values)
    }

    package func answer(_ call: BusMessage, with values: [BusValue] = []) {
        var message: OpaquePointer?
        let result = sd_bus_message_new_method_return(call.handle, &message)
        send(message, made: result, with: values)
    }

    private func send(_ message: OpaquePointer?, made result: Int32, with values: [BusValue]) {
        defer { sd_bus_message_unref(message) }
        guard result >= 0, let message, BusMessage.append(values, to: message) >= 0 else { return }
        sd_bus_send(bus, message, nil)
    }

    /// Answers a call with an error.
    package func refuse(_ call: BusMessage, with error: BusError) {
        eidetic_bus_reply_error(call.handle, error.name, error.message)
    }

    /// Receives the signals that a rule selects, such as `type='signal',member='ActionInvoked'`.
    package func subscribe(to rule: String) {
        call("AddMatch", on: .bus, with: [.string(rule)]) { result in
            if case .failure(let error) = result {
                Log.write(.warning, category: .background, message: "no signals for \(rule): \(error)")
            }
        }
    }

    /// Receives copies of the messages of others that a rule selects, and nothing else.
    ///
    /// - SeeAlso: D-Bus Specification, org.freedesktop.DBus.Monitoring.BecomeMonitor
    package func becomeMonitor(of rules: [String]) {
        let target = BusTarget(
            service: BusTarget.bus.service,
            path: BusTarget.bus.path,
            interface: "org.freedesktop.DBus.Monitoring"
        )
        let list = BusValue.array(signature: "s", rules.map { .string($0) })
        call("BecomeMonitor", on: target, with: [list, .uint32(0)]) { result in
            if case .failure(let error) = result {
                Log.write(.warning, category: .background, message: "calls of a bus are not seen: \(error)")
            }
        }
    }

    /// Asks for a name, in which later owners do not wait.
    package func requestName(_ name: String, reply: @escaping (Result<Bool, BusError>) -> Void) {
        let doNotQueue: UInt32 = 4
        call("RequestName", on: .bus, with: [.string(name), .uint32(doNotQueue)]) { result in
            // 1: the owner; 4: it was already.
            reply(result.map { [1, 4].contains($0.first?.number ?? 0) })
        }
    }

    package func releaseName(_ name: String) { call("ReleaseName", on: .bus, with: [.string(name)]) }
}

/// A service on a bus, one of its objects, and one of its interfaces.
package struct BusTarget: Sendable, Hashable {
    package let service: String
    package let path: String
    package let interface: String

    package init(service: String, path: String, interface: String) {
        self.service = service
        self.path = path
        self.interface = interface
    }

    package static let bus = BusTarget(
        service: "org.freedesktop.DBus",
        path: "/org/freedesktop/DBus",
        interface: "org.freedesktop.DBus"
    )
}
