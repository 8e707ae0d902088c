/// The messages to and from the sound server that tell which processes play or record.
package enum SoundMessage {
    /// The version of the protocol, before that of formats.
    package static let version: UInt32 = 20
    /// The greatest length of a message: the properties of a thousand streams.
    package static let lengthLimit = 1 << 20
    /// The length of the descriptor before each message.
    package static let headLength = 20

    /// The commands, by their numbers.
    package enum Command: UInt32, Sendable {
        case failure = 0
        case reply = 2
        case authenticate = 8
        case setName = 9
        case listClients = 28
        case listPlayers = 30
        case listRecorders = 32
        case subscribe = 35
        case event = 66
    }

    package struct Stream: Sendable, Hashable {
        /// The number of its client.
        package let client: UInt64
        /// The process; `nil` if the stream does not state it.
        package let process: Int32?
        /// A Boolean value indicating whether the client has stopped it for now.
        package let isPaused: Bool
    }

    // MARK: Requests

    /// Returns a message with its descriptor.
    package static func request(_ command: Command, number: UInt32) -> [UInt8] {
        var body = value(command.rawValue) + value(number)
        switch command {
        // The kernel names the user of this process; the cookie is not needed.
        case .authenticate: body += value(version) + data([UInt8](repeating: 0, count: 256))
        case .setName:
            body += [UInt8(ascii: "P")] + property("application.name", value: "eideticd") + [UInt8(ascii: "N")]
        // Of players and recorders; a client that plays has one.
        case .subscribe: body += value(0x04 | 0x08)
        case .listClients, .listPlayers, .listRecorders, .failure, .reply, .event: break
        }
        // The channel of commands, no offset, no flags.
        return bigEndian(UInt32(body.count)) + bigEndian(.max) + [UInt8](repeating: 0, count: 12) + body
    }

    private static func value(_ number: UInt32) -> [UInt8] { [UInt8(ascii: "L")] + bigEndian(number) }

    private static func data(_ bytes: [UInt8]) -> [UInt8] {
        [UInt8(ascii: "x")] + bigEndian(UInt32(bytes.count)) + bytes
    }

    private static func property(_ name: String, value text: String) -> [UInt8] {
        let bytes = Array(text.utf8) + [0]
        return [UInt8(ascii: "t")] + Array(name.utf8) + [0] + value(UInt32(bytes.count)) + data(bytes)
    }

    private static func bigEndian(_ number: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) }
    }

    // MARK: Answers

    /// Returns the length of the message behind a descriptor of ``headLength`` bytes; `nil` for data of a stream, which
    /// nobody has asked for.
    package static func bodyLength(in head: ArraySlice<UInt8>) throws(SoundError) -> Int {
        let words = (0..<5).map { word in
            head.dropFirst(4 * word).prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        }
        guard head.count == headLength, words[1] == .max, words[4] == 0 else { throw .unexpected }
        guard words[0] <= lengthLimit else { throw .limitExceeded }
        return Int(words[0])
    }

    /// Reads the streams in the answer to a list of players or recorders.
    package static func streams(
        in reader: inout SoundReader,
        of command: Command
    ) throws(SoundError) -> [Stream] {
        // The number of values of a stream, and the places of its properties and of its pause.
        let (count, properties, pause) = command == .listPlayers ? (17, 13, 14) : (13, 11, 12)
        var streams: [Stream] = []
        while !reader.isAtEnd {
            let values = try reader.next(count)
            guard case .number(let client) = values[3], case .properties(let found) = values[properties],
                case .boolean(let isPaused) = values[pause]
            else { throw .unexpected }
            let process = number("application.process.id", in: found)
            streams.append(Stream(client: client, process: process, isPaused: isPaused))
        }
        return streams
    }

    /// Reads the processes of the clients in the answer to a list of them, by the clients' numbers.
    ///
    /// Only here is the process of a client that speaks PipeWire's own protocol. The client `own` is this process,
    /// which PipeWire's server for clients of PulseAudio forwards.
    package static func processes(
        in reader: inout SoundReader,
        own: UInt64?
    ) throws(SoundError) -> [UInt64: Int32] {
        var clients: [UInt64: [String: [UInt8]]] = [:]
        while !reader.isAtEnd {
            let values = try reader.next(5)
            guard case .number(let client) = values[0], case .properties(let found) = values[4] else {
                throw .unexpected
            }
            clients[client] = found
        }
        let server = own.flatMap { clients[$0] }.flatMap { number("pipewire.sec.pid", in: $0) }
        return clients.compactMapValues { found in
            // The kernel's word, which for a client of PulseAudio is about PipeWire's server for these.
            let process = server == nil ? nil : number("pipewire.sec.pid", in: found)
            return process == server ? number("application.process.id", in: found) : process
        }
    }

    private static func number(_ name: String, in properties: [String: [UInt8]]) -> Int32? {
        properties[name].flatMap { Int32(String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)) }
            .flatMap { $0 > 0 ? $0 : nil }
    }
}
