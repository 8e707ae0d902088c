/// The reason for which a desktop entry cannot be used.
package enum ManifestError: Error, Hashable, CustomStringConvertible {
    /// The file has more bytes than the limit.
    case tooLarge(limit: Int)
    /// A line has more bytes than the limit.
    case lineTooLong(line: Int, limit: Int)
    /// A line is not UTF-8, or has a control character.
    case invalidText(line: Int)
    /// A line is no comment, no group and no key with a value.
    case invalidLine(line: Int)
    /// A key or a group appears twice.
    case duplicate(String, line: Int)
    /// There are more keys, elements or words than the limit.
    case tooMany(String, limit: Int)
    /// A required group or key is missing.
    case missing(String)
    /// The value of a key does not follow its rules.
    case invalidValue(key: String, reason: String)

    package var description: String {
        switch self {
        case .tooLarge(let limit): "it is larger than \(limit) bytes"
        case .lineTooLong(let line, let limit): "line \(line) is longer than \(limit) bytes"
        case .invalidText(let line): "line \(line) is not UTF-8, or has a control character"
        case .invalidLine(let line): "line \(line) is neither a comment, [a group] nor key=value"
        case .duplicate(let name, let line): "\(name) appears again in line \(line)"
        case .tooMany(let name, let limit): "there are more than \(limit) \(name)"
        case .missing(let name): "\(name) is missing"
        case .invalidValue(let key, let reason): "the value of \(key) is invalid: \(reason)"
        }
    }
}
