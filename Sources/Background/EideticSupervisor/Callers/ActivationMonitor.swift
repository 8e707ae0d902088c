import EideticCore
import EideticDBus

/// A monitor of the calls on a message bus that bring a program to the foreground, such as those of its second start.
///
/// The bus shows a call whenever the program reads it, also in a short continuation.
final class ActivationMonitor {
    /// Called with the process that is called, and the method.
    private let receive: (_ process: Int32, _ method: String) -> Void
    /// The connection that receives copies of the calls, and the one that asks for the processes of their destinations.
    private let copies: BusLink
    private let questions: BusLink

    private static let methods: [String: Set<String>] = [
        "org.freedesktop.Application": ["Activate", "Open", "ActivateAction"],
        "org.gtk.Application": ["Activate", "Open", "CommandLine"],
        "org.gtk.Actions": ["Activate"],
        "org.kde.KDBusService": ["CommandLine"],
        "org.freedesktop.FileManager1": ["ShowFolders", "ShowItems", "ShowItemProperties"],
        "org.mpris.MediaPlayer2": ["Raise"],
    ]

    init(of address: LocalBusAddress, poller: Poller, receive: @escaping (_ process: Int32, _ method: String) -> Void) {
        self.receive = receive
        copies = BusLink(to: .monitor(address), poller: poller, reconnects: false)
        questions = BusLink(to: .local(address), poller: poller, reconnects: false)
        copies.connected = { bus in
            let rules = Self.methods.flatMap { interface, members in
                members.map { "type='method_call',interface='\(interface)',member='\($0)'" }
            }
            bus.becomeMonitor(of: rules)
        }
        copies.receive = { [unowned self] _, call in handle(call) }
    }

    private var links: [BusLink] { [copies, questions] }

    /// A Boolean value indicating whether the bus has closed a connection.
    var hasEnded: Bool { links.contains(where: \.hasEnded) }

    var nextDeadline: Duration? { links.compactMap(\.nextDeadline).min() }

    func handleDeadlines(at now: Duration) {
        for link in links { if let deadline = link.nextDeadline, deadline <= now { link.handleDeadlines() } }
    }

    private func handle(_ call: BusMessage) {
        guard Self.methods[call.interface]?.contains(call.member) == true, let bus = questions.connection
        else { return }
        bus.call("GetConnectionUnixProcessID", on: .bus, with: [.string(call.destination)]) { [weak self] result in
            guard case .success(let values) = result, let process = values.first?.number else { return }
            self?.receive(Int32(clamping: process), "\(call.interface).\(call.member)")
        }
        questions.process()
    }
}

extension ProcessStatus {
    /// Returns the address of the message bus of a process's session, from its environment; `nil` if it has none on this
    /// machine.
    static func sessionBus(of identifier: Int32) -> LocalBusAddress? {
        let list = environmentValue(of: "DBUS_SESSION_BUS_ADDRESS", in: identifier)
        let standard = environmentValue(of: "XDG_RUNTIME_DIR", in: identifier).map { "unix:path=\($0)/bus" }
        return (list ?? standard).flatMap { LocalBusAddress(in: $0) }
    }
}
