import EideticCore
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
    func register(_ application: SupervisedApplication, token: String) {
        let identifier = application.identifier
        findDistributor { [weak self, weak application] distributor in
            guard let bus = self?.session?.connection, let distributor else {
                application?.reportAddress(nil, reason: "no distributor of UnifiedPush is on the message bus")
                return
            }
            let values: [BusValue] = [.string(identifier), .string(token), .string(identifier)]
            bus.call("Register", on: Self.target(distributor), with: values) { result in
                switch result {
                case .success(let values) where values.first?.text == "REGISTRATION_SUCCEEDED": break
                case .success(let values):
                    let reason = values.dropFirst().first?.text ?? ""
                    application?.reportAddress(nil, reason: "the distributor has refused it: \(reason)")
                case .failure(let error): application?.reportAddress(nil, reason: "\(error)")
                }
            }
        }
    }

    func unregister(token: String) {
        findDistributor { [weak self] distributor in
            guard let bus = self?.session?.connection, let distributor else { return }
            bus.call("Unregister", on: Self.target(distributor), with: [.string(token)])
        }
    }

    /// Handles a call of the distributor, which nobody but it can make: it has the token.
    func receiveMessage(_ call: BusMessage) {
        guard let token = call.values.first?.text, !token.isEmpty,
            let application = applications.first(where: { $0.wakeRecord.messageToken == token })
        else { return }
        switch (call.member, call.values.dropFirst().first) {
        case ("NewEndpoint", .string(let address)?): application.reportAddress(address, reason: "")
        case ("Message", .bytes(let payload)?): application.receiveMessage(payload)
        case ("Message", .string(let payload)?): application.receiveMessage(Array(payload.utf8))
        case ("Unregistered", _):
            application.wakeRecord.messageToken = nil
            application.reportAddress(nil, reason: "the distributor has ended the registration")
        default: break
        }
    }
}

extension SupervisedApplication {
    private static let tokenLength = 16

    /// Registers for messages of servers; the address follows.
    func registerForMessages() {
        let bytes = SupervisorContext.makeToken(length: Self.tokenLength)
        let token = wakeRecord.messageToken ?? bytes.map { String($0, radix: 16) }.joined(separator: "-")
        wakeRecord.messageToken = token
        saveWakes()
        guard let desktop = context.desktop, desktop.session != nil else {
            return reportAddress(nil, reason: "no message bus of the user")
        }
        // The distributor calls the application by its name.
        desktop.updateNames()
        desktop.register(self, token: token)
        desktop.session?.process()
    }

    func unregisterFromMessages() {
        guard let token = wakeRecord.messageToken else { return }
        context.desktop?.unregister(token: token)
        (wakeRecord.messageToken, wakeRecord.messageAddress) = (nil, nil)
        context.desktop?.updateNames()
    }

    /// Tells the application its address, or why it has none.
    func reportAddress(_ address: String?, reason: String) {
        wakeRecord.messageAddress = address.map {
            String(decoding: $0.utf8.prefix(SupervisionProtocol.pathLimit), as: UTF8.self)
        }
        log(address == nil ? "no address for messages: \(reason)" : "has an address for messages")
        if process?.suspensionTime == nil, process != nil {
            send(.wakes(.address(wakeRecord.messageAddress, reason: reason)))
        }
        saveWakes()
    }

    /// Delivers a message of the distributor, if it is a silent one.
    func receiveMessage(_ payload: [UInt8]) {
        do throws(PushPayload.Fault) {
            let message = try PushPayload(payload)
            do throws(RefusedMessage) { _ = try deliverMessage(message) } catch {
                log("a message of a server was not delivered: \(error.reason)")
            }
        } catch {
            log("a message of a server was refused: \(error)")
        }
    }
}
