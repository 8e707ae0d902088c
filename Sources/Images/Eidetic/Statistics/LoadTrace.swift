import EideticCore

/// The steps of a load with their times and outcomes, as printed by `eidetic load --explain`.
public struct LoadTrace: Sendable, CustomStringConvertible {
    package enum Stage: String, Sendable {
        /// The look-up in the memory cache.
        case memory
        /// The look-up in the disk cache, with the read.
        case disk
        /// The look-up in the tier that several machines share, with the wait for another machine.
        case shared
        case network
        /// The read of a file, or the call of the caller's function.
        case origin
        case decode
        case transform
        /// The wait until the bytes are on disk, for a request that waits for it.
        case store
    }

    package struct Step: Sendable {
        package let stage: Stage
        /// The duration of the step, with its waiting time.
        package let duration: Duration
        /// The part of the duration in which the step waited: for a thread, for memory, or in the queue of downloads.
        package let waiting: Duration
        /// Makes the text about the outcome, which is seldom read.
        fileprivate let makeDetail: @Sendable () -> String

        /// The outcome: `miss`, `hit`, bytes, sizes.
        package var detail: String { makeDetail() }
    }

    /// The steps in their order; a step that several loads share is in the trace of each.
    package internal(set) var steps: [Step]

    /// The duration of all steps together.
    public var duration: Duration { steps.reduce(.zero) { $0 + $1.duration } }

    /// The steps as text, one line a step.
    public var description: String {
        steps.map { step in
            let waiting = step.waiting < .microseconds(50) ? "" : " (\(step.waiting.millisecondText) waiting)"
            return "\(step.stage.rawValue): \(step.duration.millisecondText)\(waiting), \(step.detail)"
        }.joined(separator: "\n")
    }
}

/// A timer for one step of a load, started when it is created.
struct StepTimer {
    private let start = SystemTime().uptime
    private let context: JobContext?
    private let earlierWaitingTime: Duration

    /// Creates a timer; the waiting time of the step is that of the job with this context.
    init(_ context: JobContext? = nil) {
        self.context = context
        earlierWaitingTime = context?.waitingTime ?? .zero
    }

    var elapsed: Duration { SystemTime().uptime - start }

    func step(_ stage: LoadTrace.Stage, detail: String) -> LoadTrace.Step { step(stage) { detail } }

    /// Ends a step; the function must not hold more than a few numbers and words, because a trace may live for long.
    func step(
        _ stage: LoadTrace.Stage,
        waiting: Duration = .zero,
        makeDetail: @escaping @Sendable () -> String
    ) -> LoadTrace.Step {
        let duration = elapsed
        let ownWaitingTime = (context?.waitingTime ?? .zero) - earlierWaitingTime
        return LoadTrace.Step(
            stage: stage,
            duration: duration,
            waiting: min(duration, ownWaitingTime + waiting),
            makeDetail: makeDetail
        )
    }
}
