/// Remembers how often what was evicted lately had been used: four bits in a cell of four bytes.
///
/// Each hash has one place, and who comes later takes it: so the table forgets by itself, at no cost. A wrong answer,
/// one in some thousands, does no harm: one entry seems to have been used before.
struct GhostTable: Sendable {
    /// 28 bits of the hash and 4 bits of uses; no use means that the cell is free.
    private var cells: [UInt32] = []

    /// The most uses that can be remembered.
    static let maximumUses = 15

    /// Makes room for two cells for each of `count` entries; keeps what is remembered.
    mutating func reserve(entryCount count: Int) {
        if cells.isEmpty { cells = [UInt32](repeating: 0, count: 64) }
        while cells.count < 2 * count { cells += cells }
    }

    /// Remembers that an entry goes.
    mutating func insert(_ hash: UInt32, uses: Int) {
        guard !cells.isEmpty else { return }
        cells[index(of: hash)] = hash & ~15 | UInt32(min(uses, Self.maximumUses))
    }

    /// How often an entry that comes had been used when it went, which is then forgotten; 0 where that is not known.
    mutating func consumeUses(of hash: UInt32) -> Int {
        guard !cells.isEmpty, (cells[index(of: hash)] ^ hash) & ~15 == 0 else { return 0 }
        defer { cells[index(of: hash)] = 0 }
        return Int(cells[index(of: hash)] & 15)
    }

    /// The lowest bits go with the place, the highest into the cell.
    private func index(of hash: UInt32) -> Int { Int(hash) & (cells.count - 1) }
}
