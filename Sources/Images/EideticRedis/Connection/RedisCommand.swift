#if Redis
/// A command in the form in which it is sent (RESP2).
///
/// - SeeAlso: https://redis.io/docs/latest/develop/reference/protocol-spec/
struct RedisCommand: Sendable {
    /// The bytes to send.
    let bytes: [UInt8]

    /// Creates a command whose arguments are text.
    init(_ arguments: String...) { self.init(arguments.map { Array($0.utf8) }) }

    /// Creates a command whose arguments may be any bytes.
    init(_ arguments: [[UInt8]]) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(arguments.reduce(16) { $0 + $1.count + 16 })
        bytes.append(contentsOf: "*\(arguments.count)\r\n".utf8)
        for argument in arguments {
            bytes.append(contentsOf: "$\(argument.count)\r\n".utf8)
            bytes.append(contentsOf: argument)
            bytes.append(contentsOf: [13, 10])
        }
        self.bytes = bytes
    }

    /// The command before one that was redirected to a node for this time only.
    static let asking = RedisCommand("ASKING")
}

/// A server's reply to a command.
enum RedisReply: Sendable, Hashable {
    case null
    case status(String)
    case error(String)
    case integer(Int)
    case bytes([UInt8])
    case array([RedisReply])

    /// The text of an error; `nil` for any other reply.
    var errorText: String? { if case .error(let text) = self { text } else { nil } }

    /// The text of bytes or a status; `nil` for any other reply.
    var text: String? {
        switch self {
        case .bytes(let bytes): String(decoding: bytes, as: UTF8.self)
        case .status(let text): text
        case .null, .error, .integer, .array: nil
        }
    }
}
#endif
