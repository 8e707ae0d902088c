import EideticCore
import EideticTransfer

// MARK: Shares of applications
extension TransferEngine {
    /// The time between two looks at the shares.
    private static let shareInterval: Duration = .seconds(1)
    /// The time after which any transfer of an application with more than its share gives way.
    private static let longestTurn: Duration = .seconds(60)

    /// Lets transfers give way to applications that wait and have fewer connections than their share.
    ///
    /// They continue when it is their turn again.
    func shareConnections() {
        guard time.uptime >= nextShareCheck else { return }
        nextShareCheck = time.uptime + Self.shareInterval
        for shortage in queue.shortages(isReady: isReady) {
            if let transfer = transferToYield(for: shortage) { giveWay(transfer) }
        }
        for blockage in queue.blockages(isReady: isReady) {
            guard let transfer = slowTransfer(before: blockage) else { continue }
            let count = min(255, turns(of: transfer) + 1)
            store.rows[transfer.number]?.turns = UInt8(count)
            giveWay(transfer)
        }
    }

    /// Returns the slow transfer that gives way to another one of its application; `nil` if there is none.
    ///
    /// One that gave way before has a minute, so that transfers which are all slow do not only change places.
    private func slowTransfer(before blockage: TransferQueue.Blockage) -> RunningTransfer? {
        let candidates = running.values.filter { transfer in
            transfer.connection.application == blockage.application && transfer.isSlow && transfer.canContinue
                && (blockage.host == nil || transfer.connection.host == blockage.host)
                && store.rows[transfer.number]?.priority ?? 0 <= blockage.priority
                && (turns(of: transfer) == 0 || time.uptime - transfer.startTime >= Self.longestTurn)
        }
        return candidates.min { ($0.startTime, $0.number) < ($1.startTime, $1.number) }
    }

    private func turns(of transfer: RunningTransfer) -> Int { Int(store.rows[transfer.number]?.turns ?? 0) }

    /// Returns the transfer whose connection is given to another application; `nil` if none has had its turn.
    ///
    /// Transfers that can be continued come first, the oldest of them. Of the others the youngest one loses least.
    private func transferToYield(for shortage: TransferQueue.Shortage) -> RunningTransfer? {
        let candidates = running.values.filter { transfer in
            guard shortage.host == nil || transfer.connection.host == shortage.host else { return false }
            return hasHadTurn(transfer, lead: queue.lead(of: transfer.connection.application, in: shortage))
        }
        return candidates.min { left, right in
            if left.canContinue != right.canContinue { return left.canContinue }
            let isOlder = (left.startTime, left.number) < (right.startTime, right.number)
            return left.canContinue ? isOlder : !isOlder
        }
    }

    /// Returns a Boolean value indicating whether a transfer is to give way to an application with fewer connections.
    ///
    /// With one connection more, the applications take turns, which only helps if the transfer can be continued.
    private func hasHadTurn(_ transfer: RunningTransfer, lead: Int) -> Bool {
        if lead > 1, transfer.isSlow { return true }
        return (lead > 1 || lead == 1 && transfer.canContinue) && time.uptime - transfer.startTime >= Self.longestTurn
    }

    private func giveWay(_ transfer: RunningTransfer) {
        release(transfer)
        transfer.keepPart()
        updateKeptBytes(of: transfer)
        store.rows[transfer.number]?.state = .waiting
        store.rows[transfer.number]?.waitReason = .queue
        makeReady(transfer.number)
    }
}
