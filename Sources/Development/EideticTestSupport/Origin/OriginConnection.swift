import EideticCore
import Glibc

/// One connection to a scripted origin, served on a thread of its own.
struct OriginConnection {
    private let descriptor: Int32
    private let number: Int
    private let readsBodies: Bool
    private let registry: OriginRegistry

    init(descriptor: Int32, number: Int, readsBodies: Bool, registry: OriginRegistry) {
        self.readsBodies = readsBodies
        self.descriptor = descriptor
        self.number = number
        self.registry = registry
    }

    /// Reads requests and performs the script's steps, until the client or a step ends the connection.
    func run(_ script: ScriptedOrigin.Script) {
        while let request = readRequest() {
            registry.record(request)
            for step in script(request) where !perform(step) { return }
        }
    }

    /// Performs a step.
    ///
    /// - Returns: `false` if the connection has ended; otherwise, `true`.
    private func perform(_ step: ScriptedOrigin.Step) -> Bool {
        switch step {
        case .send(let bytes): return send(bytes)
        case .sendRepeatedly(let bytes, let times):
            for _ in 0..<times where !send(bytes) { return false }
            return true
        case .wait(let gate): registry.block(until: gate)
        case .trickle(let bytes, let gate):
            guard registry.opensWhenStopped(gate) else { return false }
            var rest = bytes[...]
            while !gate.isOpen, let byte = rest.popFirst() {
                guard send([byte]) else { return false }
                gate.block(for: .seconds(5))
            }
            gate.block()
            return send(Array(rest))
        case .open(let gate): gate.open()
        case .close: return false
        case .reset:
            var now = linger(l_onoff: 1, l_linger: 0)
            setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &now, socklen_t(MemoryLayout<linger>.size))
            return false
        }
        return true
    }

    private func send(_ bytes: [UInt8]) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes { buffer in
                Glibc.send(descriptor, buffer.baseAddress.map { $0 + sent }, buffer.count - sent, Int32(MSG_NOSIGNAL))
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }

    private func readRequest() -> ScriptedOrigin.Request? {
        var head: [UInt8] = []
        var byte: [UInt8] = [0]
        while !head.suffix(4).elementsEqual(Array("\r\n\r\n".utf8)) {
            let count = recv(descriptor, &byte, 1, 0)
            if count < 0, errno == EINTR { continue }
            guard count == 1, head.count < 1 << 20 else { return nil }
            head.append(byte[0])
        }
        registry.record(faultsIn: head)
        var lines = String(decoding: head, as: UTF8.self).split(separator: "\r\n").map(String.init)
        guard !lines.isEmpty else { return nil }
        let words = lines.removeFirst().split(separator: " ").map(String.init)
        guard words.count == 3 else { return nil }
        var headers: [String: String] = [:]
        for line in lines {
            guard let colon = line.firstIndex(of: ":") else { continue }
            let value = line[line.index(after: colon)...].drop(while: \.isWhitespace)
            headers[line[..<colon].lowercased()] = String(value)
        }
        var request = ScriptedOrigin.Request(method: words[0], path: words[1], headers: headers, connection: number)
        guard readsBodies, let length = headers["content-length"].flatMap({ Int($0) }) else { return request }
        if headers["expect"] == "100-continue", !send(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)) { return nil }
        guard let body = readBody(length: length) else { return nil }
        request.body = body
        return request
    }

    private func readBody(length: Int) -> [UInt8]? {
        var body = [UInt8](repeating: 0, count: length)
        var received = 0
        while received < length {
            let count = body.withUnsafeMutableBytes {
                recv(descriptor, $0.baseAddress.map { $0 + received }, length - received, 0)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return nil }
            received += count
        }
        return body
    }
}
