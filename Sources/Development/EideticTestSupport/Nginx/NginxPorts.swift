/// The ports of one server, for HTTP and for HTTPS.
struct NginxPorts: Sendable {
    let plain: Int
    let secure: Int

    init() throws {
        plain = try LoopbackPort.unused()
        secure = try LoopbackPort.unused()
    }
}
