package import EideticCore
import Glibc

/// A server that replies to the commands of Redis's protocol with exactly the bytes of a test's script, valid or not.
///
/// It shows what a real server does only when it fails. It stops when it is deallocated.
package final class ScriptedRedis: Sendable {
    /// A reply to a command.
    package enum Reply: Sendable {
        /// Sends bytes; none at all leave the command without a reply.
        case send(String)
        /// Sends bytes repeatedly until the client closes the connection.
        case sendEndlessly(String)
        /// Sends bytes, and closes the connection.
        case sendAndClose(String)
    }

    /// The port that the server listens on.
    package let port: Int
    /// The server's URL.
    package var url: String { "redis://127.0.0.1:\(port)" }

    /// The record of the threads of the server.
    private final class Record: Sendable {
        let commands = Guarded<[[String]]>([])
        let connections = Guarded<[Int32]>([])
    }

    private let listener: ListeningSocket
    private let record = Record()

    /// Starts the server.
    ///
    /// - Parameter script: A function that returns the reply to the words of a command; `PING` has the usual reply.
    /// - Throws: `refused` if there is no free port.
    package init(script: @escaping @Sendable ([String]) -> Reply) throws(EideticError) {
        listener = try ListeningSocket()
        port = listener.port
        Thread.start(name: "scripted") { [listener, record] in
            while let client = listener.accept() {
                record.connections.withLock { $0.append(client) }
                Thread.start(name: "scripted+") {
                    while let command = Self.readCommand(from: client) {
                        if command != ["PING"] { record.commands.withLock { $0.append(command) } }
                        guard Self.perform(command == ["PING"] ? .send("+PONG\r\n") : script(command), on: client)
                        else { break }
                    }
                    // The number stays taken until this object is gone, so that no other connection is closed instead.
                    _ = shutdown(client, Int32(SHUT_RDWR))
                }
            }
        }
    }

    deinit {
        listener.stop()
        for client in record.connections.withLock({ $0 }) { _ = shutdown(client, Int32(SHUT_RDWR)) }
    }

    /// The commands so far, without `PING`.
    package var commands: [[String]] { record.commands.withLock { $0 } }

    /// The number of connections so far.
    package var connectionCount: Int { record.connections.withLock { $0.count } }

    private static func perform(_ reply: Reply, on client: Int32) -> Bool {
        switch reply {
        case .send(let text): return send(text, to: client)
        case .sendEndlessly(let text):
            while send(text, to: client) {}
            return false
        case .sendAndClose(let text):
            _ = send(text, to: client)
            return false
        }
    }

    private static func send(_ text: String, to client: Int32) -> Bool {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.send(client, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    private static func readCommand(from client: Int32) -> [String]? {
        guard let head = readLine(from: client), head.hasPrefix("*"), let count = Int(head.dropFirst()) else {
            return nil
        }
        var words: [String] = []
        for _ in 0..<count {
            guard let line = readLine(from: client), let length = Int(line.dropFirst()),
                let word = read(length, from: client), readLine(from: client) != nil
            else { return nil }
            words.append(word)
        }
        return words
    }

    private static func readLine(from client: Int32) -> String? {
        var line = ""
        while let byte = read(1, from: client) {
            if byte == "\n" { return line }
            if byte != "\r" { line += byte }
        }
        return nil
    }

    private static func read(_ count: Int, from client: Int32) -> String? {
        var bytes = [UInt8](repeating: 0, count: count)
        var filled = 0
        while filled < count {
            let count = bytes[filled...].withUnsafeMutableBytes { recv(client, $0.baseAddress, $0.count, 0) }
            guard count > 0 else { return nil }
            filled += count
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
