#if AVIF || HEIF
import EideticCore

/// The number of coded pixels that a decode of a HEIF file's primary image and its alpha works on.
///
/// A library decodes an item again for each reference to it, and at the size of its coded frame, whatever the file
/// announces.
struct HEIFWorkload {
    /// The way in which the pixels of a coded item are counted.
    enum Basis {
        /// The size that the file announces, for a library that refuses larger frames.
        case announcedSize
        /// The size in the coded data.
        case codedSize
    }

    /// The number of pixels of all references, as large as necessary.
    private(set) var pixelCount = 0
    /// The number of pixels of the largest coded item.
    private(set) var largestItem = 0
    /// The number of different coded items.
    private(set) var codedItemCount = 0

    /// A Boolean value indicating whether the primary image is made of tiles.
    var isGrid: Bool { index.isType("grid", item: index.primaryItem) }

    /// A Boolean value indicating whether the tiles of a grid stand in another order than their items.
    var hasReorderedGrid: Bool { index.hasReorderedGrid }

    private let index: HEIFItemIndex
    private let basis: Basis
    private var counts: [Int: Int] = [:]

    /// The maximum depth of images that are made from others.
    private static let maximumDepth = 8

    /// A number of pixels beyond any limit.
    private static let unlimited = 1 << 50

    /// Counts the pixels; `nil` if the file has no primary item.
    ///
    /// - Throws: `limitExceeded` if the file's tables are too long; `corrupt` if the size of a coded item is unknown.
    init?(_ bytes: UnsafeRawBufferPointer, basis: Basis) throws(EideticError) {
        guard let index = try HEIFItemIndex(bytes) else { return nil }
        self.index = index
        self.basis = basis
        pixelCount = try count(of: index.primaryItem, depth: 0)
    }

    /// Throws `limitExceeded` if there are more coded pixels than an image of `limit` pixels and its alpha have; a
    /// million are always allowed, because tiles reach beyond the image.
    func check(limit: Int, format: ImageFormat) throws(EideticError) {
        let limit = max(2 * min(limit, Self.unlimited), 1 << 20)
        guard pixelCount > limit else { return }
        let actual = "the parts of the image have \(pixelCount) coded pixels"
        throw EideticError(.limitExceeded, message: "\(format.rawValue): \(actual); the limit is \(limit)")
    }

    private mutating func count(of item: Int, depth: Int) throws(EideticError) -> Int {
        if let known = counts[item] { return known }
        guard depth < Self.maximumDepth else {
            throw EideticError(.limitExceeded, message: "HEIF: images are made from others too many times")
        }
        var sum = 0
        // A coded item may refer to others as well; a library ignores that and decodes its own frame.
        if !index.isDerived(item) {
            sum = try pixelCount(ofCodedItem: item)
            largestItem = max(largestItem, sum)
            codedItemCount += 1
        }
        // A tile may have an alpha of its own, which is decoded as often as the tile.
        for part in index.parts(of: item) + index.alphaItems(of: item) {
            sum = min(sum + (try count(of: part, depth: depth + 1)), Self.unlimited)
        }
        counts[item] = sum
        return sum
    }

    private func pixelCount(ofCodedItem item: Int) throws(EideticError) -> Int {
        // An alpha need not announce a size.
        let announced = basis == .announcedSize ? index.announcedSize(of: item) : nil
        let size = if let announced { announced } else { try codedSize(of: item) }
        guard let size else {
            throw EideticError(.corrupt, message: "HEIF: the size of item \(item) is unknown")
        }
        return min(size.pixelCount, Self.unlimited)
    }

    private func codedSize(of item: Int) throws(EideticError) -> PixelSize? {
        guard let data = index.data(of: item) else { return nil }
        if index.isType("av01", item: item) {
            return data.withUnsafeBytes { AV1SequenceHeader.maximumFrameSize(in: $0) }
        }
        #if HEIF
        let sizes = index.properties(of: item, named: "hvcC").flatMap { configuration in
            let lengthSize = (configuration.uint8(at: 21) ?? 0) & 3 + 1
            // libheif's decoder reads lengths of 4 bytes whatever the configuration announces.
            return [HEVCParameterSet.maximumFrameSize(inConfiguration: configuration)]
                + Set([lengthSize, 4]).map { size in
                    data.withUnsafeBytes { HEVCParameterSet.maximumFrameSize(in: $0, lengthSize: size) }
                }
        }
        return sizes.compactMap { $0 }.max { $0.pixelCount < $1.pixelCount }
        #else
        return nil
        #endif
    }
}
#endif
