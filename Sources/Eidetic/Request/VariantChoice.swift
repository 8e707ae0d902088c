import EideticCore
package import EideticFetch

/// Which of several files of a picture is asked for: rules without a clock, a cache or a network of their own.
///
/// - The smallest that has all pixels that are wanted; the largest where none has.
/// - The next smaller one, where that would take longer than the limit at the speed that its host was measured at, and
///   the smaller one less long. A host that was not measured of late is taken to be fast.
/// - One that a cache has, where it has the pixels that are wanted.
package struct CandidateSelection {
    /// From the smallest to the largest.
    let candidates: [ImageCandidate]
    private let best: Int
    let timeLimit: Duration
    let speed: (Origin) -> Double?

    package init(
        among variants: [ImageCandidate],
        for rendering: ImageRequest.Rendering,
        timeLimit: Duration,
        speed: @escaping (Origin) -> Double?
    ) {
        self.candidates = variants.sorted { $0.size.pixelCount < $1.size.pixelCount }
        best = self.candidates.firstIndex { $0.covers(rendering) } ?? max(0, variants.count - 1)
        self.timeLimit = timeLimit
        self.speed = speed
    }

    /// Those that have the pixels that are wanted, as far as any has, the smallest first.
    var sufficient: ArraySlice<ImageCandidate> { candidates[min(best, candidates.count)...] }

    /// Those whose picture in memory is taken at once: the sufficient ones, then the smaller one that would be asked for.
    var acceptable: [ImageCandidate] { sufficient + (affordableIndex < best ? [candidates[affordableIndex]] : []) }

    /// The one to be asked for where no cache has any that is sufficient.
    private var affordableIndex: Int {
        guard best > 0, let expected = expectedSeconds(at: best), expected > timeLimit.inSeconds else { return best }
        return expectedSeconds(at: best - 1) ?? 0 < expected ? best - 1 : best
    }

    /// The order in which they are tried until one is there: larger ones stand in before smaller ones do.
    package func order(isCached: (ImageCandidate) -> Bool) -> [ImageCandidate] {
        let first =
            sufficient.indices.first { isCached(candidates[$0]) } ?? (candidates.isEmpty ? nil : affordableIndex)
        guard let first else { return [] }
        return [candidates[first]] + candidates[(first + 1)...] + candidates[..<first].reversed()
    }

    /// How many seconds a download would take; `nil` where the host's speed is not known.
    private func expectedSeconds(at index: Int) -> Double? {
        speed(candidates[index].request.origin).map { Double(candidates[index].byteCount.bytes) / $0 }
    }
}
