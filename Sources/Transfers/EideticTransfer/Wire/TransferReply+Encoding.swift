package import EideticCore

extension TransferReply: WireEncodable, WireDecodable {
    private enum Tag: UInt8 { case done = 1, failed, added, transfers, sessions, file, notification }

    package func write(to writer: inout WireWriter) {
        switch self {
        case .done: writer.append(Tag.done.rawValue)
        case .failed(let code, let message):
            writer.append(Tag.failed.rawValue)
            writer.append(code)
            writer.append(message)
        case .added(let transfers):
            writer.append(Tag.added.rawValue)
            writer.append(list: transfers) { $0.append($1.rawValue) }
        case .transfers(let transfers, let isLast):
            writer.append(Tag.transfers.rawValue)
            writer.append(list: transfers) { $0.append($1) }
            writer.append(isLast)
        case .sessions(let sessions):
            writer.append(Tag.sessions.rawValue)
            writer.append(list: sessions) { $0.append($1) }
        case .file: writer.append(Tag.file.rawValue)
        case .notification(let notification, let session):
            writer.append(Tag.notification.rawValue)
            writer.append(notification)
            writer.append(session)
        }
    }

    package init(from reader: inout WireReader) throws(WireError) {
        switch try reader.enumeration(Tag.self) {
        case .done: self = .done
        case .failed: self = .failed(code: try reader.text(), message: try reader.text())
        case .added:
            self = .added(
                try reader.list { reader throws(WireError) in TransferIdentifier(try reader.integer()) }
            )
        case .transfers:
            let transfers = try reader.list { reader throws(WireError) in try TransferStatus(from: &reader) }
            self = .transfers(transfers, isLast: try reader.boolean())
        case .sessions:
            self = .sessions(
                try reader.list { reader throws(WireError) in try TransferSessionConfiguration(from: &reader) }
            )
        case .file: self = .file
        case .notification:
            self = .notification(try TransferNotification(from: &reader), session: try reader.text(limit: 255))
        }
    }
}
