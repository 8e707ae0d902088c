package import EideticCore
import Glibc

/// An HTTP server that sends exactly the bytes of a test's script, valid or not, at the times the test determines.
///
/// ```swift
/// let origin = try ScriptedOrigin { request in [.head(200, ["Content-Length": "10"]), .send([1, 2, 3]), .close] }
/// … origin.url + "/a.png" …
/// #expect(origin.requests.count == 1)
/// ```
///
/// It listens on a free port, by default of the loopback interface, and serves each connection on a thread of its own.
/// It stops when it is deallocated.
package final class ScriptedOrigin: Sendable {
    /// One action of the server.
    package enum Step: Sendable {
        /// Sends bytes.
        case send([UInt8])
        /// Sends bytes repeatedly, `times` times or until the client closes the connection.
        case sendRepeatedly([UInt8], times: Int = .max)
        /// Waits until the test opens the gate.
        case wait(Gate)
        /// Sends a byte every five seconds, so that no client gives up, and all others when the gate opens.
        case trickle([UInt8], until: Gate)
        /// Opens a gate that the test waits for.
        case open(Gate)
        /// Closes the connection in an orderly way (FIN).
        case close
        /// Resets the connection (RST).
        case reset
    }

    /// A request that the server received.
    package struct Request: Sendable, Hashable {
        /// The request method, such as "GET".
        package let method: String
        /// The path and query as sent.
        package let path: String
        /// The header fields, with lowercase names.
        package let headers: [String: String]
        /// The number of the connection, from 1.
        package let connection: Int
        /// The body; empty unless the server reads bodies.
        package var body: [UInt8] = []
    }

    /// A function that returns the steps for a request; called on the connection's thread.
    package typealias Script = @Sendable (Request) -> [Step]

    /// The port that the server listens on.
    package let port: Int
    /// The server's URL, `http://127.0.0.1:PORT` or `http://[::1]:PORT`, without a trailing slash.
    package let url: String

    private let listener: ListeningSocket
    private let registry = OriginRegistry()

    /// Starts the server; it accepts connections as soon as this returns.
    ///
    /// - Parameters:
    ///   - address: The address to listen on.
    ///   - readsBodies: A Boolean value indicating whether it reads the body of a request before the script is called;
    ///     false by default.
    ///   - script: The function that returns the steps for a request.
    /// - Throws: The error of listening.
    package init(
        on address: ListeningAddress = .loopback,
        readsBodies: Bool = false,
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
                    OriginConnection(descriptor: connection, number: number, readsBodies: readsBodies, registry: hall)
                        .run(script)
                    hall.closeConnection(number)
                }
            }
        }
    }

    deinit { stop() }

    /// The requests received so far, in order.
    package var requests: [Request] { registry.requests }

    /// The violations of the standards in the heads of the requests received so far.
    package var faults: [String] { registry.faults }

    /// Removes the requests received so far, so that long tests do not accumulate them; request counts restart at 0.
    package func removeRequests() { registry.removeRequests() }

    /// The number of connections accepted so far.
    package var connectionCount: Int { registry.connectionCount }

    /// Suspends until the server has received `count` requests.
    package func waitForRequests(count: Int) async { await registry.waitForRequests(count: count) }

    /// Stops listening, closes all connections and opens all gates that steps wait for.
    package func stop() {
        listener.stop()
        registry.shutDown()
    }
}

extension ScriptedOrigin.Step {
    /// Sends a status line and header fields.
    package static func head(_ status: Int, headers: KeyValuePairs<String, String> = [:]) -> Self {
        let lines = headers.map { "\($0.key): \($0.value)\r\n" }.joined()
        return .send(Array("HTTP/1.1 \(status) \(reasons[status] ?? "Status")\r\n\(lines)\r\n".utf8))
    }

    /// Sends a complete response with a Content-Length field.
    package static func response(
        _ status: Int = 200,
        headers: KeyValuePairs<String, String> = [:],
        body: [UInt8] = []
    ) -> Self {
        let lines = headers.map { "\($0.key): \($0.value)\r\n" }.joined()
        let head = "HTTP/1.1 \(status) \(reasons[status] ?? "Status")\r\n\(lines)Content-Length: \(body.count)\r\n\r\n"
        return .send(Array(head.utf8) + body)
    }

    /// Sends a chunk of a chunked body; an empty one ends the body.
    package static func chunk(_ bytes: [UInt8]) -> Self {
        .send(Array("\(String(bytes.count, radix: 16))\r\n".utf8) + bytes + Array("\r\n".utf8))
    }

    private static let reasons = [
        200: "OK", 206: "Partial Content", 301: "Moved Permanently", 302: "Found", 304: "Not Modified",
        401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 416: "Range Not Satisfiable",
        429: "Too Many Requests", 500: "Internal Server Error", 503: "Service Unavailable",
    ]
}
