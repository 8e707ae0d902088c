package import EideticCore

/// The bytes that the transfer process keeps with a transfer: the identifier and the text of its task.
///
/// By the identifier a client that loses the connection while it adds a task finds out whether the task was stored.
package struct TaskNote: Hashable, Sendable, WireEncodable, WireDecodable {
    /// The greatest number of bytes of the text.
    package static let maximumTextLength = 3_584
    private static let version: UInt8 = 1

    package let identifier: UInt64
    package let text: String?

    package init(identifier: UInt64, text: String?) { (self.identifier, self.text) = (identifier, text) }

    package init(from reader: inout WireReader) throws(WireError) {
        let version = try reader.integer(UInt8.self)
        guard version == Self.version else { throw .unknownCase(type: "TaskNote", value: UInt64(version)) }
        identifier = try reader.integer()
        text = try reader.optional { reader throws(WireError) in try reader.text(limit: Self.maximumTextLength) }
    }

    package func write(to writer: inout WireWriter) {
        writer.append(Self.version)
        writer.append(identifier)
        writer.append(optional: text) { $0.append($1) }
    }

    /// Returns the note of a transfer; one that another program has added has the number of the transfer.
    package static func decode(_ bytes: [UInt8], of transfer: TransferIdentifier) -> TaskNote {
        (try? WireReader.decode(TaskNote.self, from: bytes)) ?? TaskNote(identifier: transfer.rawValue, text: nil)
    }
}
