package import EideticCore

extension TransferCommand: WireEncodable, WireDecodable {
    /// The largest number of transfers in one command.
    package static let maximumBatch = 1_024

    private enum Tag: UInt8 {
        case hello = 1
        case openSession, removeSession, add, list, sessions, pause, resume, cancel, acknowledge, openFile, observe
        case endObservation
    }

    package func write(to writer: inout WireWriter) {
        writer.append(tag.rawValue)
        switch self {
        case .hello(let version, let application, let secret):
            writer.append(version)
            writer.append(application)
            writer.append(secret)
        case .openSession(let configuration): writer.append(configuration)
        case .removeSession(let session), .observe(let session), .endObservation(let session): writer.append(session)
        case .add(let requests, let session):
            writer.append(session)
            writer.append(list: requests) { $0.append($1) }
        case .list(let session, let after):
            writer.append(optional: session) { $0.append($1) }
            writer.append(after.rawValue)
        case .sessions: break
        case .pause(let transfers), .resume(let transfers): writer.append(list: transfers) { $0.append($1.rawValue) }
        case .cancel(let transfers, let keepsResumeData):
            writer.append(list: transfers) { $0.append($1.rawValue) }
            writer.append(keepsResumeData)
        case .acknowledge(let events): writer.append(list: events) { $0.append($1) }
        case .openFile(let transfer): writer.append(transfer.rawValue)
        }
    }

    private var tag: Tag {
        switch self {
        case .hello: .hello
        case .openSession: .openSession
        case .removeSession: .removeSession
        case .add: .add
        case .list: .list
        case .sessions: .sessions
        case .pause: .pause
        case .resume: .resume
        case .cancel: .cancel
        case .acknowledge: .acknowledge
        case .openFile: .openFile
        case .observe: .observe
        case .endObservation: .endObservation
        }
    }

    package init(from reader: inout WireReader) throws(WireError) {
        switch try reader.enumeration(Tag.self) {
        case .hello:
            self = .hello(
                version: try reader.integer(),
                application: try reader.text(limit: 255),
                secret: try reader.blob(limit: 64)
            )
        case .openSession: self = .openSession(try TransferSessionConfiguration(from: &reader))
        case .removeSession: self = .removeSession(try reader.text(limit: 255))
        case .add:
            let session = try reader.text(limit: 255)
            let requests = try reader.list(limit: Self.maximumBatch) { reader throws(WireError) in
                try TransferRequest(from: &reader)
            }
            self = .add(requests, session: session)
        case .list:
            let session = try reader.optional { reader throws(WireError) in try reader.text(limit: 255) }
            self = .list(session: session, after: TransferIdentifier(try reader.integer()))
        case .sessions: self = .sessions
        case .pause: self = .pause(try reader.transfers())
        case .resume: self = .resume(try reader.transfers())
        case .cancel: self = .cancel(try reader.transfers(), keepsResumeData: try reader.boolean())
        case .acknowledge:
            self = .acknowledge(try reader.list { reader throws(WireError) in try reader.integer(UInt64.self) })
        case .openFile: self = .openFile(TransferIdentifier(try reader.integer()))
        case .observe: self = .observe(session: try reader.text(limit: 255))
        case .endObservation: self = .endObservation(session: try reader.text(limit: 255))
        }
    }
}

extension WireReader {
    fileprivate mutating func transfers() throws(WireError) -> [TransferIdentifier] {
        try list { reader throws(WireError) in TransferIdentifier(try reader.integer()) }
    }
}
