import EideticDBus

/// A monitor of the calls on a message bus that bring a program to the foreground, such as those of its second start.
///
/// The bus shows a call whenever the program reads it, also in a short continuation.
final class ActivationMonitor {
    /// A call, by processes.
    struct Call {
        /// The process that calls; `nil` if it has left the bus, as a second start does soon.
        let sender: Int32?
        let destination: Int32
        let method: String
    }

    private let receive: (Call) -> Void
    /// The connection that receives copies of the calls, and the one that asks for their processes.
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

    init(of address: LocalBusAddress, poller: Poller, receive: @escaping (Call) -> Void) {
        self.receive = receive
        copies = BusLink(to: .monitor(address), poller: poller)
        questions = BusLink(to: .local(address), poller: poller)
        copies.connected = { bus in
            let rules = Self.methods.flatMap { interface, members in
                members.map { "type='method_call',interface='\(interface)',member='\($0)'" }
            }
            bus.becomeMonitor(of: rules)
        }
        copies.receive = { [unowned self] _, call in handle(call) }
    }

    private var links: [BusLink] { [copies, questions] }

    var nextDeadline: Duration? { links.compactMap(\.nextDeadline).min() }

    func handleDeadlines(at now: Duration) {
        for link in links { if let deadline = link.nextDeadline, deadline <= now { link.handleDeadlines() } }
    }

    private func handle(_ call: BusMessage) {
        guard Self.methods[call.interface]?.contains(call.member) == true, let bus = questions.connection
        else { return }
        let method = "\(call.interface).\(call.member)"
        var sender: Int32?
        // The first one may leave the bus at once. Answers come in the order of the questions.
        askForProcess(of: call.sender, on: bus) { sender = $0 }
        askForProcess(of: call.destination, on: bus) { [weak self] process in
            guard let process else { return }
            self?.receive(Call(sender: sender, destination: process, method: method))
        }
        questions.process()
    }

    private func askForProcess(of name: String, on bus: BusConnection, reply: @escaping (Int32?) -> Void) {
        bus.call("GetConnectionUnixProcessID", on: .bus, with: [.string(name)]) { result in
            reply((try? result.get())?.first?.number.map { Int32(clamping: $0) })
        }
    }
}

extension ProcessStatus {
    /// Returns the address of the message bus of a process's session, from its environment; `nil` if it has none on
    /// this machine.
    static func sessionBus(of identifier: Int32) -> LocalBusAddress? {
        let list = environmentValue(of: "DBUS_SESSION_BUS_ADDRESS", in: identifier)
        let standard = environmentValue(of: "XDG_RUNTIME_DIR", in: identifier).map { "unix:path=\($0)/bus" }
        return (list ?? standard).flatMap { LocalBusAddress(in: $0) }
    }
}
