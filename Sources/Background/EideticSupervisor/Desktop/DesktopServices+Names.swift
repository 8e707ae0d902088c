import EideticDBus
import EideticLifecycle
import EideticSupervision
import Glibc

// The names of applications, which the supervisor owns so that no call waits for a frozen process.
extension DesktopServices {
    /// Owns the names of the applications that are activated over D-Bus, or receive messages.
    func updateNames() {
        guard let bus = session?.connection, bus.isReady else { return }
        let wanted = Set(applications.filter(needsName).map(\.identifier))
        for name in requestedNames.subtracting(wanted) {
            bus.releaseName(name)
            requestedNames = requestedNames.subtracting([name])
            ownedNames = ownedNames.subtracting([name])
        }
        for name in wanted.subtracting(requestedNames) {
            requestedNames.insert(name)
            bus.requestName(name) { [weak self] result in
                if case .success(true) = result {
                    self?.ownedNames.insert(name)
                } else {
                    self?.supervisor.context.log.append("another program owns its name on the bus", for: name)
                }
            }
        }
        session?.process()
    }

    private func needsName(_ application: SupervisedApplication) -> Bool {
        let isCalled = application.program.manifest.manifest?.isBusActivatable == true
        return (isCalled || application.components.wakes.record.messageToken != nil) && application.program.hasBusName
    }

    /// Answers a call of a method of an application's object.
    func answer(_ call: BusMessage, on bus: BusConnection) {
        switch call.interface {
        case "org.freedesktop.Application": activate(call, on: bus)
        case "org.unifiedpush.Connector1" where call.path == "/org/unifiedpush/Connector":
            receiveMessage(call)
            bus.answer(call)
        default: bus.refuse(call, with: Self.unknownMethod)
        }
    }

    private static let unknownMethod = BusError(
        name: "org.freedesktop.DBus.Error.UnknownMethod",
        message: "this object has no such method"
    )

    private func activate(_ call: BusMessage, on bus: BusConnection) {
        guard let application = applications.first(where: { Self.path(of: $0.identifier) == call.path }),
            needsName(application)
        else { return bus.refuse(call, with: Self.unknownMethod) }
        application.refreshManifest()
        switch (call.member, call.values.first) {
        case ("Activate", _): application.request(.launch(.user))
        case ("Open", .array("s", let urls)?):
            for url in urls.compactMap(\.text) {
                let effects = application.components.urls.open(url, from: nil, at: Clock.now) { _ in }
                application.perform(effects)
            }
        case ("ActivateAction", let name?):
            activate(application, action: name.text ?? "", parameter: call.values.dropFirst().first)
        default: return bus.refuse(call, with: Self.unknownMethod)
        }
        // Accepted; what becomes of it takes longer than callers wait.
        bus.answer(call)
    }

    /// The path of an application's object.
    ///
    /// - SeeAlso: Desktop Entry Specification, D-Bus Activation
    static func path(of identifier: String) -> String {
        "/" + identifier.map { $0 == "." ? "/" : $0 == "-" ? "_" : String($0) }.joined()
    }

    /// Brings an application to the foreground with an action of its desktop entry.
    private func activate(_ application: SupervisedApplication, action: String, parameter: BusValue?) {
        var text = ""
        if case .array(_, let values)? = parameter { text = values.first?.text ?? "" }
        let reply = WakeReply.action(
            String(decoding: action.utf8.prefix(200), as: UTF8.self),
            parameter: String(decoding: text.utf8.prefix(2_000), as: UTF8.self)
        )
        launch(application, for: .user, with: reply)
    }
}
