import EideticCore

/// The steps of a load with their times and outcomes, as the command `explain` prints them.
public struct LoadTrace: Sendable, CustomStringConvertible {
    /// A kind of step.
    public enum Stage: String, Sendable {
        /// The selection among the candidate files of an image, with the search for a cached one.
        case choice
        /// The look-up in the memory cache.
        case memory
        /// The look-up in the disk cache, with the read.
        case disk
        /// The look-up in the tier that several machines share, with the wait for another machine.
        case shared
        /// The download.
        case network
        /// The read of a file, or the call of the caller's function.
        case origin
        /// The decode, with the wait for a decoder.
        case decode
        /// The transform.
        case transform
        /// The wait until the bytes are on disk, with `waitStoreCache`.
        case store
    }

    /// One step of a load.
    public struct Step: Sendable {
        /// The kind of step.
        public let stage: Stage
        /// The duration of the step.
        public let duration: Duration
        /// The outcome: `miss`, `hit`, bytes, sizes.
        public let detail: String
    }

    /// The steps in their order; a step that several loads share is in the trace of each.
    public internal(set) var steps: [Step]

    /// The duration of all steps together.
    public var duration: Duration { steps.reduce(.zero) { $0 + $1.duration } }

    /// The steps as text, one line a step.
    public var description: String {
        steps.map { step in
            let tenths = Int((step.duration.inMilliseconds * 10).rounded())
            return "\(step.stage.rawValue): \(tenths / 10).\(tenths % 10) ms, \(step.detail)"
        }.joined(separator: "\n")
    }
}
