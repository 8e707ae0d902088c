package import EideticCore

/// A message of a client to the transfer process.
///
/// The packet is a ``NumberedMessage``, whose number the client chooses, not zero. The service replies to each command
/// with one ``TransferReply`` of the same number; replies may overtake each other.
package enum TransferCommand: Sendable, Hashable {
    /// The first message of a connection: the version of the messages, the name of the application, and its secret.
    ///
    /// The name is ignored where the supervisor has handed over the connection with the application's identity. The
    /// secret, empty or of at most 64 bytes, is that of ``ApplicationSecret``.
    case hello(version: UInt32, application: String, secret: [UInt8])
    case openSession(TransferSessionConfiguration)
    case removeSession(String)
    /// Descriptors of the files of uploads come with the packet, in the order of the requests.
    case add([TransferRequest], session: String)
    /// Requests one page of transfers with larger identifiers than `after`.
    case list(session: String?, after: TransferIdentifier)
    case pause([TransferIdentifier])
    case resume([TransferIdentifier])
    case cancel([TransferIdentifier], keepsResumeData: Bool)
    case acknowledge([UInt64])
    case observe(session: String)
    case endObservation(session: String)

    package static let version: UInt32 = 4
}

extension TransferCommand {
    /// Returns the number and the version of a `hello`, whatever else is in it, if it is another version than this.
    package static func otherVersion(ofGreeting bytes: [UInt8]) -> (number: UInt32, version: UInt32)? {
        var reader = WireReader(bytes)
        // The kind of `hello` is 1 in all versions.
        guard let number = try? reader.integer(UInt32.self), number != 0,
            let kind = try? reader.integer(UInt8.self), kind == 1,
            let version = try? reader.integer(UInt32.self), version != Self.version
        else { return nil }
        return (number, version)
    }

    /// Returns the sentence about an application with another version than this transfer process.
    package static func mismatch(application: UInt32) -> String? {
        VersionMismatch(
            of: "the transfer process (package eidetic-background)",
            version: version,
            and: "the application",
            version: application
        )?.description
    }
}

/// A reply of the transfer process; the packet begins with the number of the command.
package enum TransferReply: Sendable, Hashable {
    case done
    case failed(code: String, message: String)
    case added([TransferIdentifier])
    /// One page of transfers; another one follows by request unless `isLast`.
    case transfers([TransferStatus], isLast: Bool)
    /// A notification to an observer; the number of its packet is zero.
    case notification(TransferNotification, session: String)
}

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
        Case(7, pause) { if case .pause(let transfers) = $0 { transfers } else { nil } },
        Case(8, resume) { if case .resume(let transfers) = $0 { transfers } else { nil } },
        Case(9, cancel) { if case .cancel(let transfers, let keeps) = $0 { (transfers, keeps) } else { nil } },
        Case(10, acknowledge) { if case .acknowledge(let events) = $0 { events } else { nil } },
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
        Case(7, notification, .value, .name) {
            if case .notification(let notification, let session) = $0 { (notification, session) } else { nil }
        }
    )
}

/// A command, or the reply to it, with the number that connects the two; 0 for a notification.
package struct NumberedMessage<Message: WireValue>: WireValue {
    package let number: UInt32
    package let message: Message

    package init(number: UInt32, message: Message) {
        self.number = number
        self.message = message
    }

    package func write(to writer: inout WireWriter) {
        number.write(to: &writer)
        message.write(to: &writer)
    }

    package init(from reader: inout WireReader) throws(WireError) {
        number = try UInt32(from: &reader)
        message = try Message(from: &reader)
    }
}
