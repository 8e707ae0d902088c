import EideticDBus
import EideticLifecycle
import EideticSupervision

// The connector of UnifiedPush, for all applications.
//
// SeeAlso: https://unifiedpush.org/developers/spec/dbus, interfaces Connector1 and Distributor1
extension DesktopServices {
    private static let prefix = "org.unifiedpush.Distributor."

    private static func target(_ distributor: String) -> BusTarget {
        BusTarget(
            service: distributor,
            path: "/org/unifiedpush/Distributor",
            interface: "org.unifiedpush.Distributor1"
        )
    }

    /// Finds a distributor, one that runs before one that the bus can start, and calls `body` with its name.
    private func findDistributor(_ body: @escaping (String?) -> Void) {
        guard let bus = session?.connection else { return body(nil) }
        if let distributor { return body(distributor) }
        Self.findName("ListNames", on: bus) { [weak self] running in
            if let running {
                self?.distributor = running
                return body(running)
            }
            Self.findName("ListActivatableNames", on: bus) { found in
                self?.distributor = found
                body(found)
            }
        }
    }

    private static func findName(_ member: String, on bus: BusConnection, then body: @escaping (String?) -> Void) {
        bus.call(member, on: .bus) { result in
            guard case .success(let values) = result, case .array(_, let names)? = values.first else {
                return body(nil)
            }
            body(names.compactMap(\.text).filter { $0.hasPrefix(prefix) }.min())
        }
    }

    /// Registers an application with the distributor.
    private func register(_ application: SupervisedApplication, token: String) {
        let identifier = application.identifier
        findDistributor { [weak self, weak application] distributor in
            guard let bus = self?.session?.connection, let distributor else {
                self?.reportAddress(nil, of: application, reason: "no distributor of UnifiedPush is on the message bus")
                return
            }
            let values: [BusValue] = [.string(identifier), .string(token), .string(identifier)]
            bus.call("Register", on: Self.target(distributor), with: values) { result in
                switch result {
                case .success(let values) where values.first?.text == "REGISTRATION_SUCCEEDED": break
                case .success(let values):
                    let reason = values.dropFirst().first?.text ?? ""
                    self?.reportAddress(nil, of: application, reason: "the distributor has refused it: \(reason)")
                case .failure(let error): self?.reportAddress(nil, of: application, reason: "\(error)")
                }
            }
        }
    }

    private func unregister(token: String) {
        findDistributor { [weak self] distributor in
            guard let bus = self?.session?.connection, let distributor else { return }
            bus.call("Unregister", on: Self.target(distributor), with: [.string(token)])
        }
    }

    /// Handles a call of the distributor, which nobody but it can make: it has the token.
    func receiveMessage(_ call: BusMessage) {
        guard let token = call.values.first?.text, !token.isEmpty,
            let application = applications.first(where: { $0.components.wakes.record.messageToken == token })
        else { return }
        switch (call.member, call.values.dropFirst().first) {
        case ("NewEndpoint", .string(let address)?): reportAddress(address, of: application, reason: "")
        case ("Message", .bytes(let payload)?): deliver(payload, to: application)
        case ("Message", .string(let payload)?): deliver(Array(payload.utf8), to: application)
        case ("Unregistered", _):
            application.components.wakes.record.messageToken = nil
            reportAddress(nil, of: application, reason: "the distributor has ended the registration")
        default: break
        }
    }

    // MARK: Registrations

    private static let tokenLength = 16

    /// Registers an application for messages of servers; the address follows.
    func registerForMessages(of application: SupervisedApplication) {
        let bytes = SupervisorContext.makeToken(length: Self.tokenLength)
        let made = bytes.map { String($0, radix: 16) }.joined(separator: "-")
        let token = application.components.wakes.record.messageToken ?? made
        application.components.wakes.record.messageToken = token
        application.saveWakes()
        guard let session else { return reportAddress(nil, of: application, reason: "no message bus of the user") }
        // The distributor calls the application by its name.
        updateNames()
        register(application, token: token)
        session.process()
    }

    func unregisterFromMessages(of application: SupervisedApplication) {
        guard let token = application.components.wakes.record.messageToken else { return }
        unregister(token: token)
        application.components.wakes.record.messageToken = nil
        application.components.wakes.record.messageAddress = nil
        updateNames()
    }

    /// Tells an application its address, or why it has none.
    private func reportAddress(_ address: String?, of application: SupervisedApplication?, reason: String) {
        guard let application else { return }
        let text = address.map { String(decoding: $0.utf8.prefix(SupervisionProtocol.pathLimit), as: UTF8.self) }
        application.components.wakes.record.messageAddress = text
        application.log(address == nil ? "no address for messages: \(reason)" : "has an address for messages")
        if let process = application.process, process.suspensions.start == nil {
            application.send(.wakes(.address(text, reason: reason)))
        }
        application.saveWakes()
    }

    /// Delivers a message of the distributor, if it is a silent one.
    private func deliver(_ payload: [UInt8], to application: SupervisedApplication) {
        do throws(PushPayload.Fault) {
            let message = try PushPayload(payload)
            let view = application.view
            let now = supervisor.context.clock.now
            let outcome = application.components.wakes.deliver(message, in: view, at: now)
            application.perform(outcome.effects)
            if let reason = outcome.refusal { application.log("a message of a server was not delivered: \(reason)") }
        } catch {
            application.log("a message of a server was refused: \(error)")
        }
    }
}
