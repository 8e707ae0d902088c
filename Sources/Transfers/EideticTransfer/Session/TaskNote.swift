package import EideticCore

/// The bytes that the transfer process keeps with a transfer: the identifier and the text of its task.
///
/// By the identifier a client that loses the connection while it adds a task finds out whether the task was stored.
package struct TaskNote: Hashable, WireRecord {
    /// The greatest number of bytes of the text.
    package static let maximumTextLength = 3_584

    package let identifier: UInt64
    package let text: String?

    package init(identifier: UInt64, text: String?) {
        self.identifier = identifier
        self.text = text
    }

    package static let layout = Layout(
        Self.init,
        Field(\.identifier),
        Field(\.text, .optional(.text(limit: maximumTextLength)))
    )
    .preceded(by: 1 as UInt8)

    /// Returns the note of a transfer; one that another program has added has the number of the transfer.
    package static func decode(_ bytes: [UInt8], of transfer: TransferIdentifier) -> TaskNote {
        (try? WireReader.decode(TaskNote.self, from: bytes)) ?? TaskNote(identifier: transfer.rawValue, text: nil)
    }
}
