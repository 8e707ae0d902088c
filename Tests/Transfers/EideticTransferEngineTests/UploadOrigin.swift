import EideticCore
import EideticTestSupport
import Glibc

/// A server that receives uploads, by the draft of resumable uploads or without it, and counts each byte.
final class UploadOrigin: Sendable {
    struct State {
        var received: [UInt8] = []
        /// The bytes of bodies on all connections, those that did not count included.
        var bodyBytes = 0
        var methods: [String] = []
        var headers: [[String: String]] = []
        var isComplete = false
        /// The number of connections that still read a body.
        var readerCount = 0
        /// The gates that open when a number of bytes has arrived.
        var thresholds: [(count: Int, reached: Gate, mayContinue: Gate)] = []
        var rejectsLocation = false
    }

    let port: Int
    let isResumable: Bool
    let state: Monitor<State>
    private let listener: Int32

    var url: String { "http://127.0.0.1:\(port)/upload" }

    init(isResumable: Bool) throws {
        self.isResumable = isResumable
        let state = Monitor(State())
        self.state = state
        let number = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        listener = number
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let error = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(number, $0, length) | listen(number, 64) | getsockname(number, $0, &length)
            }
        }
        guard error == 0 else { throw SystemError(.bind, errorNumber: errno) }
        port = Int(UInt16(bigEndian: address.sin_port))
        Thread.start(name: "uploads") {
            while case let client = accept(number, nil, nil), client >= 0 {
                _ = fcntl(client, F_SETFD, FD_CLOEXEC)
                Thread.start(name: "upload") {
                    Self.serve(client, state, isResumable: isResumable)
                    close(client)
                }
            }
        }
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
    }

    /// Makes the server stop reading when it has received `count` bytes.
    func pause(at count: Int) -> (reached: Gate, mayContinue: Gate) {
        let gates = (reached: Gate(), mayContinue: Gate())
        state.withLock { $0.thresholds.append((count, gates.reached, gates.mayContinue)) }
        return gates
    }

    private static func serve(_ client: Int32, _ state: Monitor<State>, isResumable: Bool) {
        while let (method, headers) = readHead(client) {
            state.withLock { state in
                state.methods.append(method)
                state.headers.append(headers)
            }
            switch method {
            case "HEAD":
                // Bytes that are still in the system's buffers belong to the offset.
                state.wait { $0.readerCount == 0 ? () : nil }
                let (offset, isComplete, isGone) = state.withLock {
                    ($0.received.count, $0.isComplete, $0.rejectsLocation)
                }
                if isGone {
                    state.withLock { $0.rejectsLocation = false }
                    send(client, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
                } else {
                    let complete = isComplete ? "?1" : "?0"
                    let fields = "Upload-Offset: \(offset)\r\nUpload-Complete: \(complete)\r\n"
                    send(client, "HTTP/1.1 204 No Content\r\n\(fields)\r\n")
                }
            default:
                let isKept = receiveBody(
                    from: client,
                    method: method,
                    headers: headers,
                    state: state,
                    isResumable: isResumable
                )
                guard isKept else { return }
                send(client, "HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\nok")
            }
        }
    }

    private static func receiveBody(
        from client: Int32,
        method: String,
        headers: [String: String],
        state: Monitor<State>,
        isResumable: Bool
    ) -> Bool {
        let length = Int(headers["content-length"] ?? "") ?? 0
        let isPart = method == "PATCH"
        if isPart, Int(headers["upload-offset"] ?? "") != state.withLock({ $0.received.count }) { return false }
        if !isPart { state.withLock { $0.received = [] } }
        state.withLock { $0.readerCount += 1 }
        defer {
            state.withLock { $0.readerCount -= 1 }
            state.broadcast()
        }
        if isResumable, !isPart, headers["upload-complete"] == "?1" {
            send(client, "HTTP/1.1 104 Upload Resumption Supported\r\nLocation: /upload/1\r\n\r\n")
        }
        if headers["expect"] == "100-continue" { send(client, "HTTP/1.1 100 Continue\r\n\r\n") }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        var rest = length
        while rest > 0 {
            let count = recv(client, &buffer, min(buffer.count, rest), 0)
            guard count > 0 else { return false }
            rest -= count
            let gates = state.withLock { state -> (reached: Gate, mayContinue: Gate)? in
                state.received += buffer[..<count]
                state.bodyBytes += count
                guard let first = state.thresholds.first, state.bodyBytes >= first.count else { return nil }
                state.thresholds.removeFirst()
                return (first.reached, first.mayContinue)
            }
            gates?.reached.open()
            gates?.mayContinue.block()
        }
        state.withLock { $0.isComplete = true }
        return true
    }

    private static func readHead(_ client: Int32) -> (method: String, headers: [String: String])? {
        var head: [UInt8] = []
        var byte: UInt8 = 0
        while !head.suffix(4).elementsEqual([13, 10, 13, 10]) {
            guard recv(client, &byte, 1, 0) == 1, head.count < 65_536 else { return nil }
            head.append(byte)
        }
        let lines = String(decoding: head, as: UTF8.self).split(separator: "\r\n").map(String.init)
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            if parts.count == 2 { headers[parts[0].lowercased()] = String(parts[1].drop { $0 == " " }) }
        }
        return (String(lines.first?.split(separator: " ").first ?? ""), headers)
    }

    private static func send(_ client: Int32, _ text: String) {
        let bytes = Array(text.utf8)
        _ = Glibc.send(client, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }
}
