import EideticCore
package import EideticFetch

/// Which of several files of a picture is asked for: rules without a clock, a cache or a network of their own.
///
/// - The smallest that has all pixels that are wanted; the largest where none has.
/// - The next smaller one, where that would take longer than the limit at the speed that its host was measured at, and
///   the smaller one less long. A host that was not measured of late is taken to be fast.
/// - One that a cache has, where it has the pixels that are wanted.
package struct VariantChoice {
    /// From the smallest to the largest.
    let variants: [ImageVariant]
    private let best: Int
    let limit: Duration
    let speed: (Origin) -> Double?

    package init(
        _ variants: [ImageVariant],
        _ rendering: ImageRequest.Rendering,
        limit: Duration,
        speed: @escaping (Origin) -> Double?
    ) {
        self.variants = variants.sorted { $0.size.pixelCount < $1.size.pixelCount }
        best = self.variants.firstIndex { $0.covers(rendering) } ?? max(0, variants.count - 1)
        self.limit = limit
        self.speed = speed
    }

    /// Those that have the pixels that are wanted, as far as any has, the smallest first.
    var sufficient: ArraySlice<ImageVariant> { variants[min(best, variants.count)...] }

    /// Those whose picture in memory is taken at once: the sufficient ones, then the smaller one that would be asked for.
    var acceptable: [ImageVariant] { sufficient + (affordable < best ? [variants[affordable]] : []) }

    /// The one to be asked for where no cache has any that is sufficient.
    private var affordable: Int {
        guard best > 0, let expected = wait(best), expected > limit.inSeconds else { return best }
        return wait(best - 1) ?? 0 < expected ? best - 1 : best
    }

    /// The order in which they are tried until one is there: larger ones stand in before smaller ones do.
    package func order(isCached: (ImageVariant) -> Bool) -> [ImageVariant] {
        let first = sufficient.indices.first { isCached(variants[$0]) } ?? (variants.isEmpty ? nil : affordable)
        guard let first else { return [] }
        return [variants[first]] + variants[(first + 1)...] + variants[..<first].reversed()
    }

    /// How many seconds a download would take; `nil` where the host's speed is not known.
    private func wait(_ index: Int) -> Double? {
        speed(variants[index].request.origin).map { Double(variants[index].byteCount.bytes) / $0 }
    }
}
