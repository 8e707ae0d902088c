import EideticDBus
import EideticTestSupport
import Glibc
import Testing

@Suite("Signals of logind", .timeLimit(.minutes(2)))
struct LoginClientTests {
    @Test(
        "B19 only whole signals of logind itself are events, and calls of others are refused",
        .enabled(if: ["dbus-daemon", "dbus-send"].allSatisfy { Subprocess.executablePath(for: $0) != nil })
    )
    func events() async throws {
        let bus = try Subprocess("dbus-daemon", arguments: ["--session", "--nofork", "--print-address"])
        try await eventually("a bus") { bus.outputSoFar.hasSuffix("\n") }
        let address = String(bus.outputSoFar.dropLast())
        await #expect(processExitsWith: .success) { [address = address as String] in
            setenv("DBUS_SYSTEM_BUS_ADDRESS", address, 1)
            var events: [LoginClient.Event] = []
            let client = try LoginClient(callTimeout: .seconds(20)) { events.append($0) }
            let service = try BusConnection(to: .address(address))
            let name = "org.freedesktop.login1", path = "/org/freedesktop/login1", manager = "\(name).Manager"
            /// Lets both connections work until a condition holds.
            func work(until isFulfilled: () -> Bool) {
                while true {
                    precondition(service.process() && client.process())
                    guard !isFulfilled() else { return }
                    var descriptors = [service.descriptor, client.descriptor]
                        .map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
                    poll(&descriptors, nfds_t(descriptors.count), -1)
                }
            }
            var isOwner: Bool?
            service.requestName(name) { isOwner = try? $0.get() }
            work { isOwner == true }
            // The first connection to the bus is that of the client.
            let own = BusTarget(service: ":1.0", path: path, interface: manager)
            let signal = ["--type=signal", "--dest=\(own.service)", path, "\(manager).PrepareForSleep", "boolean:true"]
            let forged = try await Subprocess.run("dbus-send", arguments: ["--bus=\(address)"] + signal)
            precondition(forged.status == .exited(0), forged.errorText)
            var refusal: BusError?
            service.call("Sleep", on: own) { if case .failure(let error) = $0 { refusal = error } }
            service.emit("PrepareForShutdown", from: path, interface: manager, with: [])
            service.emit("PrepareForSleep", from: path, interface: manager, with: [.boolean(true)])
            service.emit("PrepareForSleep", from: path, interface: manager, with: [.boolean(false)])
            work { events.last == .didWake && events.count > 1 && refusal != nil }
            precondition(events == [.willSleep, .didWake], "\(events)")
            precondition(refusal?.name == "org.freedesktop.DBus.Error.UnknownMethod", "\(String(describing: refusal))")
        }
        bus.kill()
        _ = await bus.waitUntilExit()
    }
}
