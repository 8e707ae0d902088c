/// The exchanges with received bytes that are still to be decoded, in later turns of the engine.
///
/// It is used on the engine's thread only.
final class DecodingList {
    private var exchanges: [UInt64: Exchange] = [:]

    /// The exchanges that can be continued: those that are paused for no other reason.
    var ready: [Exchange] {
        exchanges.isEmpty ? [] : exchanges.values.filter { $0.pauseReasons == .decoding }
    }

    /// A Boolean value indicating whether an exchange can be continued.
    var hasReady: Bool { !exchanges.isEmpty && exchanges.values.contains { $0.pauseReasons == .decoding } }

    func insert(_ exchange: Exchange) { exchanges[exchange.request.id] = exchange }

    func remove(_ exchange: Exchange) { if !exchanges.isEmpty { exchanges[exchange.request.id] = nil } }
}
