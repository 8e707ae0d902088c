import EideticDBus
import EideticLifecycle
import Glibc

/// The services of the user's desktop: notifications, badges, the names of applications, messages, and the location.
final class DesktopServices {
    unowned let supervisor: Supervisor
    let session: BusLink?
    private(set) var system: BusLink?
    /// The distributor of messages; `nil` if none is known.
    var distributor: String?
    /// The names that this supervisor owns for applications.
    var ownedNames: Set<String> = []
    var requestedNames: Set<String> = []
    var locationClient: String?
    /// The monitors of the buses on which applications are called, by address.
    private var monitors: [LocalBusAddress: ActivationMonitor] = [:]
    /// The applications whose notifications wait for the answer of the server.
    let notificationsInterface: NotificationInterface

    var applications: [SupervisedApplication] { Array(supervisor.applications.values) }

    init(supervisor: Supervisor) {
        self.supervisor = supervisor
        let configuration = supervisor.context.configuration
        session = Self.bus(configuration.busAddress, variable: "DBUS_SESSION_BUS_ADDRESS").map {
            BusLink(to: $0, poller: supervisor.poller)
        }
        // The portal of a sandbox shows the notifications of what runs in it.
        notificationsInterface = .current
        session?.connected = { [unowned self] in self.didConnect($0) }
        session?.receive = { [unowned self] in self.receive($1, on: $0) }
        updateLocation()
        // Those that were taken over before.
        for application in applications { application.process?.findSessionBus() }
    }

    private static func bus(_ address: String?, variable: String) -> BusConnection.Bus? {
        switch address {
        case "none": nil
        case let address?: .address(address)
        case nil: getenv(variable) == nil ? nil : .session
        }
    }

    var nextDeadline: Duration? {
        ([session?.nextDeadline, system?.nextDeadline] + monitors.values.map(\.nextDeadline)).compactMap(\.self).min()
    }

    func handleDeadlines() {
        updateMonitors()
        let now = Clock.now
        for link in [session, system].compactMap(\.self) {
            if let deadline = link.nextDeadline, deadline <= now { link.handleDeadlines() }
        }
        for monitor in monitors.values { monitor.handleDeadlines(at: now) }
        updateNames()
    }

    private func didConnect(_ bus: BusConnection) {
        ownedNames = []
        requestedNames = []
        distributor = nil
        for rule in notificationsInterface.rules { bus.subscribe(to: rule) }
        updateNames()
        for application in applications {
            application.perform(application.components.work.showAll(in: application.view))
        }
        for application in applications where application.components.wakes.record.messageToken != nil {
            registerForMessages(of: application)
        }
    }

    private func receive(_ message: BusMessage, on bus: BusConnection) {
        if message.isCall { return answer(message, on: bus) }
        if let response = notificationsInterface.response(in: message) { respond(to: response) }
    }

    // MARK: Activations

    private static let monitorLimit = 16

    /// Monitors the buses that applications have, and no others.
    private func updateMonitors() {
        guard supervisor.context.configuration.busAddress != "none" else { return }
        let addresses = Set(applications.compactMap { $0.process?.sessionBus })
        monitors = monitors.filter { addresses.contains($0.key) }
        for address in addresses where monitors[address] == nil && monitors.count < Self.monitorLimit {
            monitors[address] = ActivationMonitor(of: address, poller: supervisor.poller) {
                [unowned self] call in pass(call, on: address)
            }
        }
    }

    /// Passes a call that asks an application to show itself to that application, unless that is the one that calls.
    private func pass(_ call: ActivationMonitor.Call, on address: LocalBusAddress) {
        for application in applications {
            // Only those that use the bus: that of an application may say of another one what it likes.
            guard let process = application.process, process.sessionBus == address else { continue }
            let tree = process.freezer.processes
            guard tree.contains(call.destination) else { continue }
            if let sender = call.sender, tree.contains(sender) { return }
            return activate(application, by: call.method)
        }
    }

    /// Continues an application for a call of another program, which it may have read already.
    ///
    /// One that knows the supervisor tells it if a window is shown; another one is in the foreground from now on.
    private func activate(_ application: SupervisedApplication, by method: String) {
        guard application.lifecycle.isInBackground else { return }
        if application.components.plain.isRunning {
            application.log("brought to the foreground by a call of \(method)")
            application.request(.enterForeground)
        } else if application.lifecycle.state == .suspended || application.lifecycle.reachedState == .suspending {
            application.log("continued in the background for a call of \(method)")
            application.request(.resumeInBackground)
        }
    }

    // MARK: The location

    /// Asks the location service for updates if an application wants them.
    func updateLocation() {
        let user = applications.first { $0.components.wakes.record.wantsLocation }
        guard let user else {
            system = nil
            locationClient = nil
            return
        }
        guard system == nil else { return }
        let address = supervisor.context.configuration.systemBusAddress
        guard address != "none" else { return }
        let link = BusLink(to: address.map { .address($0) } ?? .system, poller: supervisor.poller)
        let identifier = user.identifier
        link.connected = { [unowned self] in self.startLocation(on: $0, for: identifier) }
        link.receive = { [unowned self] in self.receiveLocation($1, on: $0) }
        system = link
    }

    // MARK: Explanations

    /// The lines for `eidetic app why` about what is not there.
    var lines: [String] {
        guard let session else { return ["no message bus of the user: notifications are not shown, and wait"] }
        guard session.connection == nil else { return [] }
        return ["no connection to the message bus, so that notifications wait: \(session.failure)"]
    }
}
