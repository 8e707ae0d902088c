import EideticCore

/// The conversions used last, since the images of one device or program have the same profile.
struct RecentShapers {
    struct Entry {
        fileprivate let colourSpace: ColourSpace
        fileprivate let isDeep: Bool
        /// The conversion; `nil` if the colours are those of sRGB.
        let shaper: MatrixShaper?
    }

    /// The entries, the one used last at the end.
    private var entries: [Entry] = []

    /// The maximum number of entries, each with tables of 200 KB at most, and of bytes in a profile.
    static let maximumCount = 8, maximumProfileSize = 1 << 16

    private static let shared = Guarded(RecentShapers())

    /// Returns the entry of colours that a curve for each channel and a matrix describe; `nil` for others.
    static func entry(for colourSpace: ColourSpace, isDeep: Bool) -> Entry? {
        if let known = shared.withLock({ $0.find(colourSpace, isDeep: isDeep) }) { return known }
        guard let entry = Entry(colourSpace, isDeep: isDeep) else { return nil }
        shared.withLock { $0.insert(entry) }
        return entry
    }

    mutating func find(_ colourSpace: ColourSpace, isDeep: Bool) -> Entry? {
        guard let index = entries.lastIndex(where: { $0.isDeep == isDeep && $0.colourSpace == colourSpace }) else {
            return nil
        }
        let entry = entries.remove(at: index)
        entries.append(entry)
        return entry
    }

    mutating func insert(_ entry: Entry) {
        if case .profile(let bytes) = entry.colourSpace, bytes.count > Self.maximumProfileSize { return }
        // Several threads may have made the same one.
        guard find(entry.colourSpace, isDeep: entry.isDeep) == nil else { return }
        if entries.count == Self.maximumCount { entries.removeFirst() }
        entries.append(entry)
    }
}

extension RecentShapers.Entry {
    init?(_ colourSpace: ColourSpace, isDeep: Bool) {
        switch colourSpace {
        case .highDynamicRange: return nil
        case .profile(let bytes):
            guard let profile = ColourProfile(bytes),
                let shaper = profile.withMatrixColours({ MatrixShaper($0, isDeep: isDeep) })
            else { return nil }
            self.init(colourSpace: colourSpace, isDeep: isDeep, shaper: shaper)
        case .primaries(let primaries, let transfer):
            guard let matrix = ColourMatrix(from: primaries, to: .sRGB) else { return nil }
            let colours = MatrixColours(curves: Array(repeating: transfer.light, count: 3), matrix: matrix)
            self.init(colourSpace: colourSpace, isDeep: isDeep, shaper: MatrixShaper(colours, isDeep: isDeep))
        }
    }
}
