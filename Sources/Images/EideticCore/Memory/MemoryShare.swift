/// The memory that a control group, or the machine, allows this process, in bytes.
package struct MemoryShare: Sendable, Hashable {
    /// The memory that can still be used, including reclaimable caches: 0 to `limit`.
    package let available: Int
    package let limit: Int
    /// The memory that counts against the limit, including reclaimable caches.
    package let usage: Int

    package init(available: Int, limit: Int, usage: Int) {
        self.available = min(max(0, available), max(0, limit))
        self.limit = max(0, limit)
        self.usage = usage
    }

    /// The available fraction, from 0 to 1; 1 if the limit is unknown.
    package var availableFraction: Double { limit == 0 ? 1 : Double(available) / Double(limit) }

    package var pressure: MemoryPressure { MemoryPressureRules.pressure(availableFraction: availableFraction) }

    /// The memory that can be used before the pressure is a level higher; before none is left at the highest.
    package var distance: Int {
        let next = MemoryPressureRules.thresholds.first { $0 <= availableFraction } ?? 0
        return available - Int(next * Double(limit))
    }
}
