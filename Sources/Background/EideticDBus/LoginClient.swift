import CSystemd
import EideticCore
import Glibc

/// A client of logind: its delay inhibitor, and its signals for sleep, shutdown, lock and unlock.
///
/// Used by one thread only. A call may have to start the service first, and waits for it.
package final class LoginClient {
    /// A signal of logind.
    package enum Event: Sendable { case willSleep, didWake, locked, unlocked }

    private let connection: BusConnection
    private let callTimeout: Duration
    private var inhibitor: Int32 = -1
    /// The connection of logind: others can send signals of its name to this connection alone.
    private var owner = ""

    private static let service = "org.freedesktop.login1"
    private static let session = "\(service).Session"
    private static let properties = "org.freedesktop.DBus.Properties"
    private static let manager = BusTarget(
        service: service,
        path: "/org/freedesktop/login1",
        interface: "\(service).Manager"
    )

    /// Connects to logind; throws without a system bus or logind.
    ///
    /// `process()` calls `receive`.
    package init(callTimeout: Duration, receive: @escaping (Event) -> Void) throws(BusError) {
        self.callTimeout = callTimeout
        connection = try BusConnection(to: .system)
        connection.receive = { [unowned self] in if let event = handle($0) { receive(event) } }
        var session: String?
        let found = call("GetSessionByPID", on: Self.manager, with: [.uint32(0)]) { reply in
            session = reply.values.first?.text
            return 0
        }
        // A service has no session. Without a reply to the first call no further call is made.
        let result = found == -ETIMEDOUT ? found : subscribe(toSession: session)
        if result < 0 { throw BusError(result, doing: "logind is not available") }
        if let session, property("LockedHint", of: session, interface: Self.session) == .boolean(true) {
            receive(.locked)
        }
    }

    deinit { allowSleep() }

    /// Refuses a call, records a change of the owner, and returns the event of a signal of logind.
    private func handle(_ message: BusMessage) -> Event? {
        if message.isCall {
            let name = "\(BusTarget.bus.service).Error.UnknownMethod"
            connection.refuse(message, with: BusError(name: name, message: "there is no \(message.member)"))
        } else if message.sender == BusTarget.bus.service {
            if message.member == "NameOwnerChanged", message.values.first?.text == Self.service {
                owner = message.values.last?.text ?? ""
            }
        } else if message.sender == owner {
            return Self.event(of: message)
        }
        return nil
    }

    private static func event(of message: BusMessage) -> Event? {
        switch (message.interface, message.member) {
        case (manager.interface, "PrepareForSleep"), (manager.interface, "PrepareForShutdown"):
            guard case .boolean(let begins) = message.values.first else { return nil }
            return begins ? .willSleep : .didWake
        case (session, "Lock"): return .locked
        case (session, "Unlock"): return .unlocked
        case (properties, "PropertiesChanged"):
            // Screen lockers set it however they were started.
            guard case .boolean(let isLocked) = message.values.dropFirst().first?["LockedHint"] else { return nil }
            return isLocked ? .locked : .unlocked
        default: return nil
        }
    }

    private func subscribe(toSession session: String?) -> Int32 {
        var rules = ["PrepareForSleep", "PrepareForShutdown"].map {
            "path='\(Self.manager.path)',interface='\(Self.manager.interface)',member='\($0)'"
        }
        if let session { rules += [Self.session, Self.properties].map { "path='\(session)',interface='\($0)'" } }
        rules = rules.map { "sender='\(Self.service)',\($0)" }
        rules.append("sender='\(BusTarget.bus.service)',member='NameOwnerChanged',arg0='\(Self.service)'")
        for rule in rules {
            let result = call("AddMatch", on: .bus, with: [.string("type='signal',\(rule)")])
            if result < 0 { return result }
        }
        // Without an owner there are no signals until one comes.
        _ = call("GetNameOwner", on: .bus, with: [.string(Self.service)]) { reply in
            owner = reply.values.first?.text ?? ""
            return 0
        }
        return 0
    }

    private func call(
        _ member: String,
        on target: BusTarget,
        with values: [BusValue],
        read: (BusMessage) -> Int32 = { _ in 0 }
    ) -> Int32 {
        connection.waitForReply(to: member, on: target, with: values, timeout: callTimeout, read: read)
    }

    private func property(_ name: String, of path: String, interface: String) -> BusValue? {
        var value: BusValue?
        let target = BusTarget(service: Self.service, path: path, interface: Self.properties)
        _ = call("Get", on: target, with: [.string(interface), .string(name)]) { reply in
            if case .variant(let inner) = reply.values.first { value = inner }
            return 0
        }
        return value
    }

    /// The time that logind waits for inhibitors; zero if it is unknown.
    package var maximumDelay: Duration {
        let value = property("InhibitDelayMaxUSec", of: Self.manager.path, interface: Self.manager.interface)
        guard case .uint64(let microseconds) = value else { return .zero }
        return .microseconds(Int64(clamping: microseconds))
    }

    /// Delays the next sleep and the next shutdown.
    package func inhibitSleep() throws(BusError) {
        guard inhibitor < 0 else { return }
        let values = ["sleep:shutdown", "eidetic", "finishing background tasks", "delay"].map { BusValue.string($0) }
        let result = call("Inhibit", on: Self.manager, with: values) { reply in
            inhibitor = reply.copyDescriptor()
            return min(inhibitor, 0)
        }
        if result < 0 { throw BusError(result, doing: "cannot delay sleep") }
    }

    /// Releases the inhibitor, so that the machine can sleep.
    package func allowSleep() {
        if inhibitor >= 0 { close(inhibitor) }
        inhibitor = -1
    }

    /// Handles the signals that have arrived; returns `false` if the bus is gone and no further signal can arrive.
    package func process() -> Bool { connection.process() }

    package var descriptor: Int32 { connection.descriptor }
    package var pollEvents: Int16 { connection.pollEvents }

    /// The time of the next call of `process()` without a signal, by `CLOCK_MONOTONIC`.
    package var deadline: Duration? { connection.deadline }
}
