/// The reason for which a message of another process is refused.
@usableFromInline
package enum WireError: Error, Hashable, CustomStringConvertible {
    /// The message ends before a value of this type.
    case truncated(offset: Int)
    /// Text is not UTF-8.
    case invalidText(offset: Int)
    /// A number is not a case of this type.
    case unknownCase(type: String, value: UInt64)
    case invalidValue(type: String)
    /// A length or number exceeds its limit.
    case limitExceeded(offset: Int, value: UInt64, limit: Int)
    /// Bytes follow the last value.
    case trailingBytes(offset: Int)

    /// The reason, with the place in the message.
    @usableFromInline
    package var description: String {
        switch self {
        case .truncated(let offset): "the message is truncated at byte \(offset)"
        case .invalidText(let offset): "the text at byte \(offset) is not UTF-8"
        case .unknownCase(let type, let value): "\(value) is not a value of \(type)"
        case .invalidValue(let type): "the message has a value that is none of \(type)"
        case .limitExceeded(let offset, let value, let limit):
            "the length at byte \(offset) is \(value), but must be \(limit) or less"
        case .trailingBytes(let offset): "the message has bytes after its end at byte \(offset)"
        }
    }
}
