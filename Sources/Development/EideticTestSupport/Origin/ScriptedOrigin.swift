package import EideticCore
import Glibc

/// A server that answers with exactly the bytes a test wants, good or bad, when the test wants.
///
/// ```swift
/// let origin = try ScriptedOrigin { request in [.head(200, ["Content-Length": "10"]), .send([1, 2, 3]), .close] }
/// … origin.url + "/a.png" …
/// #expect(origin.requests.count == 1)
/// ```
///
/// It listens on a free port, of the loopback interface where nothing else is said, and has a thread for each connection. It stops when it is given up.
package final class ScriptedOrigin: Sendable {
    /// One thing that the server does.
    package enum Step: Sendable {
        /// Sends bytes.
        case send([UInt8])
        /// Sends bytes again and again, so many times or until the client has had enough.
        case sendRepeatedly([UInt8], times: Int = .max)
        /// Goes on when the test opens the gate.
        case wait(Gate)
        /// Tells the test that this place was reached.
        case open(Gate)
        /// Ends the connection in good order.
        case close
        /// Breaks the connection off (RST).
        case reset
    }

    /// What a client asked.
    package struct Request: Sendable, Hashable {
        /// "GET" and the like.
        package let method: String
        /// The path and query as sent.
        package let path: String
        /// The header fields, their names in lower case.
        package let headers: [String: String]
        /// The number of the connection, from 1.
        package let connection: Int
    }

    /// Gives the steps for a request; called on the connection's thread.
    package typealias Script = @Sendable (Request) -> [Step]

    /// The port it listens on.
    package let port: Int
    /// `http://127.0.0.1:PORT` or `http://[::1]:PORT`, without a slash at the end.
    package let url: String

    private let listener: ListeningSocket
    private let registry = OriginRegistry()

    /// Starts the server; it accepts connections when this returns.
    package init(
        on address: ListeningAddress = .loopback,
        script: @escaping Script
    ) throws(EideticError) {
        listener = try ListeningSocket(on: address)
        port = listener.port
        if case .loopback6 = address { url = "http://[::1]:\(port)" } else { url = "http://127.0.0.1:\(port)" }
        let (listener, hall) = (listener, registry)
        Thread.start(name: "origin") {
            while let connection = listener.accept() {
                guard let number = hall.register(connection) else { continue }
                Thread.start(name: "origin-\(number)") {
                    OriginConnection(descriptor: connection, number: number, registry: hall).run(script)
                    hall.closeConnection(number)
                }
            }
        }
    }

    deinit { stop() }

    /// What was asked so far, in order.
    package var requests: [Request] { registry.requests }

    /// Forgets what was asked so far, so that long tests need no memory for it; counts begin anew.
    package func removeRequests() { registry.removeRequests() }

    /// How many connections were made so far.
    package var connectionCount: Int { registry.connectionCount }

    /// Suspends until so many requests have come.
    package func waitForRequests(count: Int) async { await registry.waitForRequests(count: count) }

    /// Stops listening, cuts all connections and opens all gates that its steps wait for.
    package func stop() {
        listener.stop()
        registry.shutDown()
    }
}

extension ScriptedOrigin.Step {
    /// A status line and header fields.
    package static func head(_ status: Int, headers: KeyValuePairs<String, String> = [:]) -> Self {
        let lines = headers.map { "\($0.key): \($0.value)\r\n" }.joined()
        return .send(Array("HTTP/1.1 \(status) \(reasons[status] ?? "Status")\r\n\(lines)\r\n".utf8))
    }

    /// A complete answer of known length.
    package static func response(
        _ status: Int = 200,
        headers: KeyValuePairs<String, String> = [:],
        body: [UInt8] = []
    ) -> Self {
        let lines = headers.map { "\($0.key): \($0.value)\r\n" }.joined()
        let head = "HTTP/1.1 \(status) \(reasons[status] ?? "Status")\r\n\(lines)Content-Length: \(body.count)\r\n\r\n"
        return .send(Array(head.utf8) + body)
    }

    /// A piece of a chunked body; an empty one ends it.
    package static func chunk(_ bytes: [UInt8]) -> Self {
        .send(Array("\(String(bytes.count, radix: 16))\r\n".utf8) + bytes + Array("\r\n".utf8))
    }

    private static let reasons = [
        200: "OK", 206: "Partial Content", 301: "Moved Permanently", 302: "Found", 304: "Not Modified",
        401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 416: "Range Not Satisfiable",
        429: "Too Many Requests", 500: "Internal Server Error", 503: "Service Unavailable",
    ]
}
