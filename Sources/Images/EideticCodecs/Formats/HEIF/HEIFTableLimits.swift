#if AVIF || HEIF
import EideticCore

/// Limits on the tables of a HEIF file.
///
/// libavif and libheif search their lists from the start for each item, so that their time grows with the square of
/// these numbers, and nothing can interrupt them.
enum HEIFTableLimits {
    /// The maximum number of items, of references between them, and of properties: a grid of 128 x 128 tiles.
    static let maximumItemCount = 1 << 14

    /// The maximum number of runs in a table of an image sequence; real sequences have a few.
    static let maximumRunCount = 1 << 12

    /// Throws `limitExceeded` if a table is longer than the limits, and `corrupt` if there are two lists of items, of
    /// which a library could take either.
    static func check(_ bytes: UnsafeRawBufferPointer) throws(EideticError) {
        let lists = bytes.boxes(named: "meta")
        guard lists.count <= 1 else {
            throw EideticError(.corrupt, message: "HEIF: the file has \(lists.count) lists of items")
        }
        for meta in lists { try checkItems(in: meta) }
        for movie in bytes.boxes(named: "moov") {
            for track in movie.boxes(named: "trak") {
                for meta in track.boxes(named: "meta") { try checkItems(in: meta) }
                try checkRuns(in: track)
            }
        }
    }

    private static func checkItems(in box: UnsafeRawBufferPointer) throws(EideticError) {
        guard let meta = box.slice(at: 4, count: box.count - 4) else { return }
        for (name, counts) in [
            ("items", itemCounts(in: meta)), ("references", referenceCounts(in: meta)),
            ("properties", propertyCounts(in: meta)),
        ] {
            let count = counts.reduce(0, +)
            guard count <= maximumItemCount else {
                let limit = "the limit is \(maximumItemCount)"
                throw EideticError(.limitExceeded, message: "HEIF: the tables list \(count) \(name); \(limit)")
            }
        }
    }

    /// Returns the number of entries of each table of items; the items of several tables are usually the same.
    private static func itemCounts(in meta: UnsafeRawBufferPointer) -> [Int] {
        let named = meta.boxes(named: "iinf").map {
            $0.uint8(at: 0) == 0 ? $0.bigEndian16(at: 4) : $0.bigEndian32(at: 4)
        }
        let located = meta.boxes(named: "iloc").map {
            $0.uint8(at: 0) == 2 ? $0.bigEndian32(at: 6) : $0.bigEndian16(at: 6)
        }
        let described = meta.boxes(named: "iprp").flatMap { $0.boxes(named: "ipma") }.map { $0.bigEndian32(at: 4) }
        return [named, located, described].map { $0.reduce(0) { $0 + ($1 ?? 0) } }.max().map { [$0] } ?? []
    }

    private static func referenceCounts(in meta: UnsafeRawBufferPointer) -> [Int] {
        var counts: [Int] = []
        for table in meta.boxes(named: "iref") {
            let size = table.uint8(at: 0) == 0 ? 2 : 4
            table.slice(at: 4, count: table.count - 4)?.forEachBox { _, reference in
                counts.append(max(1, reference.bigEndian16(at: size) ?? 1))
                return counts.count <= maximumItemCount
            }
        }
        return counts
    }

    private static func propertyCounts(in meta: UnsafeRawBufferPointer) -> [Int] {
        var count = 0
        for list in meta.boxes(named: "iprp").flatMap({ $0.boxes(named: "ipco") }) {
            list.forEachBox { _, _ in
                count += 1
                return count <= maximumItemCount
            }
        }
        return [count]
    }

    /// Checks the table of chunks, which libavif searches from its end for each chunk.
    private static func checkRuns(in track: UnsafeRawBufferPointer) throws(EideticError) {
        for table in track.box("mdia", "minf", "stbl")?.boxes(named: "stsc") ?? [] {
            guard let count = table.bigEndian32(at: 4), count > maximumRunCount else { continue }
            let limit = "the limit is \(maximumRunCount)"
            throw EideticError(.limitExceeded, message: "HEIF: a table of chunks has \(count) runs; \(limit)")
        }
    }
}
#endif
