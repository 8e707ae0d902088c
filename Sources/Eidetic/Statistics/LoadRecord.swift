import EideticCore

/// Why a load took the way it took, and how long each step was: what `explain` shows.
public struct LoadTrace: Sendable, CustomStringConvertible {
    /// Something that a load does.
    public enum Stage: String, Sendable {
        /// The choice among several files of the picture, with the look whether a cache has one.
        case choice
        /// The look into the memory cache.
        case memory
        /// The look into the disk cache, with reading.
        case disk
        /// The download.
        case network
        /// Reading a file, or calling the caller's function.
        case origin
        /// Decoding, with the wait for a decoder.
        case decode
        /// The transform.
        case transform
        /// The wait until the original is on disk, with `waitStoreCache`.
        case store
    }

    /// One step of a load.
    public struct Step: Sendable {
        /// What was done.
        public let stage: Stage
        /// How long it took.
        public let duration: Duration
        /// How it ended: `miss`, `hit`, bytes, sizes.
        public let detail: String
    }

    /// The steps in their order; those that were shared with other callers are told to each of them.
    public internal(set) var steps: [Step]

    /// How long all steps took together.
    public var duration: Duration { steps.reduce(.zero) { $0 + $1.duration } }

    /// One line a step.
    public var description: String {
        steps.map { step in
            let tenths = Int((step.duration.inMilliseconds * 10).rounded())
            return "\(step.stage.rawValue): \(tenths / 10).\(tenths % 10) ms, \(step.detail)"
        }.joined(separator: "\n")
    }
}

/// Measures the steps of a load.
struct StepTimer {
    private let start = SystemTime().uptime

    var elapsed: Duration { SystemTime().uptime - start }

    func step(_ stage: LoadTrace.Stage, detail note: String) -> LoadTrace.Step {
        LoadTrace.Step(stage: stage, duration: elapsed, note: note)
    }
}
