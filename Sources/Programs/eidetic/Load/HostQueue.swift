/// The order in which the items of a list start: that of the list, but with a limit for each host.
///
/// So a host that does not respond leaves slots for others.
struct HostQueue {
    private struct Host {
        var runningCount = 0
        /// The items that wait because the host has reached its limit, and the number of those that have started.
        var waiting: [Int] = []
        var startedCount = 0

        var hasWaiting: Bool { startedCount < waiting.count }
    }

    private let count: Int
    private let limit: Int
    private let hostName: (Int) -> String
    private var position = 0
    private var hosts: [String: Host] = [:]
    /// The hosts with waiting items that have fallen below their limit.
    private var unblocked: [String] = []

    /// Creates a queue.
    ///
    /// - Parameters:
    ///   - count: The number of items.
    ///   - limit: The largest number of items of one host that run at the same time.
    ///   - hostName: Returns the host of an item; an empty text for an item without a host, which is not limited.
    init(count: Int, limit: Int, hostName: @escaping (Int) -> String) {
        self.count = count
        self.limit = max(1, limit)
        self.hostName = hostName
    }

    /// Removes and returns the next item, which runs from now on; `nil` if none may start.
    ///
    /// - Complexity: O(1) on average over all items.
    mutating func next() -> Int? {
        while let name = unblocked.popLast() {
            if let item = startWaitingItem(of: name) { return item }
        }
        while position < count {
            defer { position += 1 }
            let name = hostName(position)
            if name.isEmpty { return position }
            if hosts[name, default: Host()].runningCount < limit {
                hosts[name, default: Host()].runningCount += 1
                return position
            }
            hosts[name, default: Host()].waiting.append(position)
        }
        return nil
    }

    /// Records that an item has ended.
    mutating func finish(_ item: Int) {
        let name = hostName(item)
        guard var host = hosts[name] else { return }
        host.runningCount -= 1
        if host.hasWaiting { unblocked.append(name) }
        hosts[name] = host.runningCount == 0 && !host.hasWaiting ? nil : host
    }

    private mutating func startWaitingItem(of name: String) -> Int? {
        guard var host = hosts[name], host.hasWaiting, host.runningCount < limit else { return nil }
        host.runningCount += 1
        host.startedCount += 1
        hosts[name] = host
        return host.waiting[host.startedCount - 1]
    }

    /// Returns the host in a URL as it is written, in lower case and without port; an empty text if there is none.
    static func host(in url: String) -> String {
        let parts = url.utf8.split(separator: UInt8(ascii: "/"), maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count >= 3, parts[1].isEmpty else { return "" }
        let authority = parts[2].prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        let sign = authority.lastIndex(of: UInt8(ascii: "@"))
        let host = authority[(sign.map { authority.index(after: $0) } ?? authority.startIndex)...]
        let colon = host.lastIndex(of: UInt8(ascii: ":")) ?? host.endIndex
        // The colons of an IPv6 address are in brackets.
        let isPort = !host[colon...].contains(UInt8(ascii: "]"))
        return Substring(isPort ? host[..<colon] : host).lowercased()
    }
}
