#if Redis
/// A node's reply that another node has a slot.
struct Redirection: Sendable, Hashable {
    /// The node that has the slot.
    let server: RedisServer
    /// A Boolean value indicating whether the other node has the slot from now on (`MOVED`), and not only the key of
    /// this one command while the slot is on its way (`ASK`).
    let isPermanent: Bool
    let slot: Int

    /// Parses the text of an error; `nil` for one that is no redirection.
    ///
    /// - Parameters:
    ///   - text: The text, such as `MOVED 3999 127.0.0.1:6381`.
    ///   - replier: The node that has sent it; an empty host stands for its host.
    init?(_ text: String, from replier: RedisServer) {
        let parts = text.split(separator: " ")
        guard parts.count == 3, parts[0] == "MOVED" || parts[0] == "ASK", let slot = Int(parts[1]),
            (0..<KeySlot.count).contains(slot), let colon = parts[2].lastIndex(of: ":"),
            let port = Int(parts[2][parts[2].index(after: colon)...]), (1...65_535).contains(port)
        else { return nil }
        var host = String(parts[2][..<colon])
        if host.isEmpty || host == "?", case .tcp(let own, _) = replier { host = own }
        server = .tcp(host: host, port: port)
        isPermanent = parts[0] == "MOVED"
        self.slot = slot
    }
}
#endif
