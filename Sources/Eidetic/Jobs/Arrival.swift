import EideticCore
import EideticFetch

/// How far an original is on its way.
struct DataChunk: Sendable {
    let progress: FetchProgress
    /// Whether it is long enough after the last report to be told (L08).
    var isReported = true
    /// What is there of it; only where somebody wants to see it while it comes.
    var bytes: PartialData?
}

/// The beginning of an original whose rest is still to come.
///
/// Who reads gets a copy: nobody decodes from memory to which the network still adds.
final class PartialData: Sendable {
    private let bytes: Guarded<[UInt8]>

    init(expected: Int?, limit: ByteCount) {
        var empty: [UInt8] = []
        empty.reserveCapacity(min(expected ?? 65_536, limit.bytes, 16_777_216))
        bytes = Guarded(empty)
    }

    /// Adds what has come; gives the number of bytes that are there now.
    func append(_ piece: [UInt8]) -> Int {
        bytes.withLock { bytes in
            bytes.append(contentsOf: piece)
            return bytes.count
        }
    }

    var count: Int { bytes.withLock { $0.count } }

    /// What is there now.
    ///
    /// - Complexity: O(*n*), once, when more comes afterwards.
    var snapshot: [UInt8] { bytes.withLock { $0 } }
}
