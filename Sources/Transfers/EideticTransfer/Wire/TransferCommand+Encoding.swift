package import EideticCore

extension TransferCommand: WireRecord {
    package static let layout = Layout<Self>(
        Case(1, hello, .value, .name, .bytes(limit: 64)) {
            if case .hello(let version, let name, let secret) = $0 { (version, name, secret) } else { nil }
        },
        Case(2, openSession) { if case .openSession(let configuration) = $0 { configuration } else { nil } },
        Case(3, removeSession, .name) { if case .removeSession(let session) = $0 { session } else { nil } },
        Case(4, add, .list(.value, limit: TransferLimits.batch), .name) {
            if case .add(let requests, let session) = $0 { (requests, session) } else { nil }
        },
        Case(5, list, .optional(.name), .value) {
            if case .list(let session, let after) = $0 { (session, after) } else { nil }
        },
        Case(6, sessions),
        Case(7, pause) { if case .pause(let transfers) = $0 { transfers } else { nil } },
        Case(8, resume) { if case .resume(let transfers) = $0 { transfers } else { nil } },
        Case(9, cancel) { if case .cancel(let transfers, let keeps) = $0 { (transfers, keeps) } else { nil } },
        Case(10, acknowledge) { if case .acknowledge(let events) = $0 { events } else { nil } },
        Case(11, openFile) { if case .openFile(let transfer) = $0 { transfer } else { nil } },
        Case(12, observe, .name) { if case .observe(let session) = $0 { session } else { nil } },
        Case(13, endObservation, .name) { if case .endObservation(let session) = $0 { session } else { nil } }
    )
}

extension TransferReply: WireRecord {
    package static let layout = Layout<Self>(
        Case(1, done),
        Case(2, failed) { if case .failed(let code, let message) = $0 { (code, message) } else { nil } },
        Case(3, added) { if case .added(let transfers) = $0 { transfers } else { nil } },
        Case(4, transfers) { if case .transfers(let page, let isLast) = $0 { (page, isLast) } else { nil } },
        Case(5, sessions) { if case .sessions(let sessions) = $0 { sessions } else { nil } },
        Case(6, file),
        Case(7, notification, .value, .name) {
            if case .notification(let notification, let session) = $0 { (notification, session) } else { nil }
        }
    )
}

/// A command, or the reply to it, with the number that connects the two; 0 for a notification.
package struct NumberedMessage<Message: WireValue>: WireRecord {
    package let number: UInt32
    package let message: Message

    package init(number: UInt32, message: Message) {
        self.number = number
        self.message = message
    }

    package static var layout: Layout<Self> { Layout(Self.init, \.number, \.message) }
}
