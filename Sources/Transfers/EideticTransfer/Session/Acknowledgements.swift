/// The acknowledgements of events on their way to the transfer process, which confirms them.
struct Acknowledgements {
    private var numbers: [UInt64] = []
    private var unconfirmedCount = 0
    /// The transfers of events that were handled, by their numbers, until the transfer process has confirmed that.
    ///
    /// It lists them until then, and they are no new tasks.
    private var transfers: [UInt64: TransferIdentifier] = [:]

    /// A Boolean value indicating whether none is to be sent.
    var isEmpty: Bool { numbers.isEmpty }

    /// A Boolean value indicating whether the transfer process has confirmed all.
    var areConfirmed: Bool { unconfirmedCount == 0 }

    /// Returns whether the event of a transfer was handled, which the transfer process may not know yet.
    func contains(_ transfer: TransferIdentifier) -> Bool { transfers.values.contains(transfer) }

    mutating func add(_ number: UInt64, of transfer: TransferIdentifier? = nil) {
        numbers.append(number)
        unconfirmedCount += 1
        if let transfer { transfers[number] = transfer }
    }

    mutating func take() -> [UInt64] {
        defer { numbers = [] }
        return numbers
    }

    /// Keeps those that could not be sent for the next connection.
    mutating func restore(_ unsent: [UInt64]) { numbers = unsent + numbers }

    mutating func confirm(_ sent: [UInt64]) {
        unconfirmedCount -= sent.count
        for number in sent { transfers[number] = nil }
    }

    /// Leaves those that were not sent to the next process.
    mutating func drop() { numbers = [] }
}
