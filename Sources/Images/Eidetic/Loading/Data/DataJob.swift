import EideticCore
import EideticFetch
import EideticStore

/// One load of encoded bytes, as its stages hand it along.
struct DataJob: Sendable {
    /// The progress of a load.
    struct Update: Sendable {
        let progress: LoadProgress
        /// A Boolean value indicating whether the last report is old enough for another one.
        var isReported = true
        /// The bytes received so far; `nil` unless previews are requested.
        var partialData: PartialData?
    }

    let load: Load
    let context: JobContext
    let report: @Sendable (Update) -> Void

    var request: ImageRequest { load.request }
    var tiers: LoadTiers { load.policy.tiers }
    var reads: ImageRequest.CachePolicy.Tiers { load.policy.reads }
}

extension EideticError {
    /// The error of a load that may use no source, and whose image no cache has.
    static func cacheMiss(of request: ImageRequest) -> EideticError {
        EideticError(.cacheMiss, message: "no cache has \(request.name), and the network may not be used")
    }
}

/// A place where a job looks for bytes.
protocol DataStage: Sendable {
    /// Looks for the bytes of a job.
    nonisolated(nonsending) func find(_ job: DataJob, after search: DataSearch) async throws(EideticError) -> DataLookup
}

/// The findings of the stages so far about the bytes of a job.
struct DataSearch: Sendable {
    var steps: [LoadTrace.Step] = []
    /// The entry on disk that the server must confirm first.
    var stale: StoredEntry?
    /// The part of the bytes on disk that an earlier load has left.
    var part: DiskCache.Entry?
    /// The lease under which this process loads from the source.
    var lease: HeldLease?
}

/// The result of a stage.
enum DataLookup: Sendable {
    case found(EncodedImage)
    case missing(DataSearch)
}
