/// The transfers that give way to others: to applications with fewer connections than their share, and slow ones to
/// others of their application.
struct ConnectionShares {
    /// A transfer with a connection.
    struct Candidate: Sendable, Hashable {
        var number: UInt64
        var connection: TransferQueue.Connection
        var startTime: Duration
        var priority: Int8 = 0
        /// The number of times that it gave way to others of its application.
        var turns: UInt8 = 0
        var isSlow = false
        /// A Boolean value indicating whether a later attempt continues what this one has transferred.
        var canContinue = false
    }

    /// The time between two looks at the shares.
    private static let interval: Duration = .seconds(1)
    /// The time after which any transfer of an application with more than its share gives way.
    private static let longestTurn: Duration = .seconds(60)

    private var nextCheck: Duration = .zero

    /// Returns whether it is time to look at the shares.
    mutating func isDue(at now: Duration) -> Bool {
        guard now >= nextCheck else { return false }
        nextCheck = now + Self.interval
        return true
    }

    /// Returns the slow transfer that gives way to another one of its application; `nil` if there is none.
    ///
    /// One that gave way before has a minute, so that transfers which are all slow do not only change places.
    static func slowTransfer(
        before blockage: TransferQueue.Blockage,
        of running: [Candidate],
        at now: Duration
    ) -> UInt64? {
        let candidates = running.filter { transfer in
            transfer.connection.application == blockage.application && transfer.isSlow && transfer.canContinue
                && (blockage.host == nil || transfer.connection.host == blockage.host)
                && transfer.priority <= blockage.priority
                && (transfer.turns == 0 || now - transfer.startTime >= longestTurn)
        }
        return candidates.min { ($0.startTime, $0.number) < ($1.startTime, $1.number) }?.number
    }

    /// Returns the transfer whose connection is given to another application; `nil` if none has had its turn.
    ///
    /// Transfers that can be continued come first, the oldest of them. Of the others the youngest one loses least.
    ///
    /// - Parameters:
    ///   - shortage: The application that lacks a connection.
    ///   - running: The transfers with a connection.
    ///   - now: The uptime.
    ///   - lead: A function that returns the connections of an application beyond those of the one that lacks one.
    /// - Returns: The number of the transfer.
    static func transferToYield(
        for shortage: TransferQueue.Shortage,
        of running: [Candidate],
        at now: Duration,
        lead: (_ application: Int) -> Int
    ) -> UInt64? {
        let candidates = running.filter { transfer in
            guard shortage.host == nil || transfer.connection.host == shortage.host else { return false }
            return hasHadTurn(transfer, lead: lead(transfer.connection.application), at: now)
        }
        return candidates.min { left, right in
            if left.canContinue != right.canContinue { return left.canContinue }
            let isOlder = (left.startTime, left.number) < (right.startTime, right.number)
            return left.canContinue ? isOlder : !isOlder
        }?.number
    }

    /// Returns a Boolean value indicating whether a transfer is to give way to an application with fewer connections.
    ///
    /// With one connection more, the applications take turns, which only helps if the transfer can be continued.
    private static func hasHadTurn(_ transfer: Candidate, lead: Int, at now: Duration) -> Bool {
        if lead > 1, transfer.isSlow { return true }
        return (lead > 1 || lead == 1 && transfer.canContinue) && now - transfer.startTime >= longestTurn
    }
}
