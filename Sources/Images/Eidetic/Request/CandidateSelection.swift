import EideticCore
package import EideticFetch

/// The selection among the candidate files of an image: rules without a clock, a cache or a network of their own.
///
/// - The smallest file with all pixels that the rendering needs; the largest if none has them.
/// - The next smaller file, if the selected one would take longer than the limit at the measured speed of its host, and
///   the smaller one less. A host without a recent measurement counts as fast.
/// - A file that a cache has, if it has the pixels.
package struct CandidateSelection {
    /// The candidates, smallest first.
    let candidates: [ImageCandidate]
    private let best: Int
    let timeLimit: Duration
    let speed: (Origin) -> Double?

    /// Creates a selection.
    ///
    /// - Parameters:
    ///   - candidates: The candidates in any order.
    ///   - rendering: The size and changes of the image.
    ///   - timeLimit: The longest download time.
    ///   - speed: Returns the measured speed of a host in bytes a second; `nil` without a recent measurement.
    package init(
        among candidates: [ImageCandidate],
        for rendering: ImageRequest.Rendering,
        timeLimit: Duration,
        speed: @escaping (Origin) -> Double?
    ) {
        self.candidates = candidates.sorted { $0.size.pixelCount < $1.size.pixelCount }
        best = self.candidates.firstIndex { $0.covers(rendering) } ?? max(0, candidates.count - 1)
        self.timeLimit = timeLimit
        self.speed = speed
    }

    /// The candidates with all pixels that the rendering needs, smallest first; the largest if none has them.
    var sufficient: ArraySlice<ImageCandidate> { candidates[min(best, candidates.count)...] }

    /// The candidates whose image in memory is used at once: the sufficient ones, then the one that would be
    /// downloaded.
    var acceptable: [ImageCandidate] { sufficient + (affordableIndex < best ? [candidates[affordableIndex]] : []) }

    /// The candidate to be downloaded if no cache has a sufficient one.
    private var affordableIndex: Int {
        guard best > 0, let expected = expectedSeconds(at: best), expected > timeLimit.inSeconds else { return best }
        return expectedSeconds(at: best - 1) ?? 0 < expected ? best - 1 : best
    }

    /// Returns the candidates in the order in which they are tried: larger ones stand in before smaller ones do.
    package func order(isCached: (ImageCandidate) -> Bool) -> [ImageCandidate] {
        let cached = sufficient.indices.first { isCached(candidates[$0]) }
        guard let first = cached ?? (candidates.isEmpty ? nil : affordableIndex) else { return [] }
        return [candidates[first]] + candidates[(first + 1)...] + candidates[..<first].reversed()
    }

    /// Returns the expected download time in seconds; `nil` if the speed of the host is unknown.
    private func expectedSeconds(at index: Int) -> Double? {
        speed(candidates[index].request.origin).map { Double(candidates[index].byteCount.bytes) / $0 }
    }
}
