/// A history of the uses of recently evicted entries: four bits in a cell of four bytes.
///
/// Each hash has one cell, which a later hash overwrites, so the table forgets without any work. About one look-up in
/// some thousands finds the wrong entry, which does no harm: an entry then seems to have been used before.
struct GhostTable: Sendable {
    /// The cells: 28 bits of the hash and 4 bits of uses; zero uses mark a free cell.
    private var cells: [UInt32] = []

    /// The largest number of uses that a cell can hold.
    static let maximumUses = 15

    /// Makes room for two cells for each of `entryCount` entries; the content stays.
    mutating func reserve(entryCount: Int) {
        if cells.isEmpty { cells = [UInt32](repeating: 0, count: 64) }
        while cells.count < 2 * entryCount { cells += cells }
    }

    /// Records the uses of an evicted entry.
    mutating func insert(_ hash: UInt32, uses: Int) {
        guard !cells.isEmpty else { return }
        cells[index(of: hash)] = hash & ~15 | UInt32(min(uses, Self.maximumUses))
    }

    /// Returns the uses of an entry at its eviction, and removes them; 0 if they are not known.
    mutating func consumeUses(of hash: UInt32) -> Int {
        guard !cells.isEmpty, (cells[index(of: hash)] ^ hash) & ~15 == 0 else { return 0 }
        defer { cells[index(of: hash)] = 0 }
        return Int(cells[index(of: hash)] & 15)
    }

    /// Returns the cell of a hash, which its lowest bits select; its highest bits are stored in the cell.
    private func index(of hash: UInt32) -> Int { Int(hash) & (cells.count - 1) }
}
