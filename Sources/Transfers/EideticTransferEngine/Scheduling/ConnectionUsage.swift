/// The connections in use, by application and host.
struct ConnectionUsage {
    private var counts: [TransferQueue.Connection: Int] = [:]
    private var hostCounts: [UInt32: Int] = [:]
    private(set) var count = 0

    mutating func add(_ connection: TransferQueue.Connection) {
        counts[connection, default: 0] += 1
        hostCounts[connection.host, default: 0] += 1
        count += 1
    }

    mutating func remove(_ connection: TransferQueue.Connection) {
        guard let used = counts[connection] else { return }
        counts[connection] = used == 1 ? nil : used - 1
        hostCounts[connection.host] = count(host: connection.host) == 1 ? nil : count(host: connection.host) - 1
        count -= 1
    }

    func count(host: UInt32) -> Int { hostCounts[host, default: 0] }

    func count(ofSession session: UInt32, host: UInt32) -> Int {
        counts.reduce(0) { $1.key.session == session && $1.key.host == host ? $0 + $1.value : $0 }
    }

    /// Returns the number of connections of an application to a host, or to all hosts for `nil`.
    func count(of application: Int, host: UInt32?) -> Int {
        counts.reduce(0) { sum, entry in
            let isCounted = entry.key.application == application && (host == nil || entry.key.host == host)
            return isCounted ? sum + entry.value : sum
        }
    }

    /// Returns the applications with connections to a host, or to any host for `nil`.
    func applications(host: UInt32?) -> Set<Int> {
        Set(counts.keys.filter { host == nil || $0.host == host }.map(\.application))
    }
}
