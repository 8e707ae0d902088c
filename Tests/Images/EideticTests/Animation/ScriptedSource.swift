import Eidetic
import EideticCore
import EideticTestSupport

/// A source of plain frames that records what is decoded, and fails when it is told to.
///
/// A composed one draws each frame on the one before, and begins anew to go back.
final class ScriptedSource: FrameSource, Sendable {
    fileprivate struct State {
        var info: AnimationInfo
        var drawnIndex = -1
        var decoded: [Int] = []
        var drawCount = 0
        var errors: [Int: [EideticError]] = [:]
    }

    let isComposed: Bool
    let retainedByteLimit = 0
    private let state: Guarded<State>

    init(frameCount: Int, duration: Duration = .milliseconds(50), isComposed: Bool = true, isComplete: Bool = true) {
        let size = PixelSize(width: 2, height: 2)
        self.isComposed = isComposed
        let info = AnimationInfo(
            format: .gif,
            size: size,
            sourceSize: size,
            durations: Array(repeating: duration, count: frameCount),
            loopCount: nil,
            isComplete: isComplete
        )
        state = Guarded(State(info: info))
    }

    var info: AnimationInfo { state.withLock { $0.info } }
    /// The frames that were asked for.
    var decoded: [Int] { state.withLock { $0.decoded } }
    /// The number of frames that were drawn.
    var drawCount: Int { state.withLock { $0.drawCount } }

    /// Lets the drawing of a frame fail with these errors, one for each attempt; with one, each time.
    func fail(at index: Int, with errors: [EideticError]) { state.withLock { $0.errors[index] = errors } }

    /// Adds one frame for each byte.
    func append(_ bytes: [UInt8], isComplete: Bool) throws(EideticError) -> AnimationInfo {
        state.withLock { state in
            state.info.durations += bytes.map { _ in .milliseconds(50) }
            state.info.isComplete = isComplete
            return state.info
        }
    }

    func firstFrameDrawn(for index: Int) -> Int {
        state.withLock { state in isComposed ? (index > state.drawnIndex ? state.drawnIndex + 1 : 0) : index }
    }

    func frame(at index: Int, context: JobContext) throws(EideticError) -> PixelBuffer {
        let start = min(index, firstFrameDrawn(for: index))
        let error = state.withLock { state -> EideticError? in
            state.decoded.append(index)
            for next in start...index {
                if let error = state.takeError(at: next) { return error }
                state.drawnIndex = next
                state.drawCount += 1
            }
            return nil
        }
        if let error { throw error }
        return try PixelBuffer(size: info.size, alpha: .opaque) { _ in SIMD4(UInt8(index % 256), 0, 0, 255) }
    }
}

extension ScriptedSource.State {
    fileprivate mutating func takeError(at index: Int) -> EideticError? {
        guard let error = errors[index]?.first else { return nil }
        if errors[index]?.count ?? 0 > 1 { errors[index]?.removeFirst() }
        return error
    }
}

/// The work of animations, which a test runs step by step.
final class ManualQueue: Sendable {
    private struct Job {
        let context: JobContext
        let operation: @Sendable () -> Void
    }

    private let jobs = Guarded<[Job]>([])

    /// The priorities of the jobs that wait.
    var priorities: [LoadPriority] { jobs.withLock { $0.map(\.context.priority) } }

    func enqueue(_ context: JobContext, _ operation: @escaping @Sendable () -> Void) {
        jobs.withLock { $0.append(Job(context: context, operation: operation)) }
    }

    /// Runs the most urgent job; returns `false` if there is none.
    @discardableResult
    func runNext() -> Bool {
        let job = jobs.withLock { jobs -> Job? in
            let priority = jobs.map(\.context.priority).max()
            return jobs.firstIndex { $0.context.priority == priority }.map { jobs.remove(at: $0) }
        }
        guard let job else { return false }
        job.operation()
        return true
    }

    /// Runs jobs until there are none, at most `limit`; returns whether there are none.
    @discardableResult
    func run(limit: Int = 1_000) -> Bool {
        for _ in 0..<limit where !runNext() { return true }
        return false
    }
}

extension AnimatedImage {
    /// An animation of a source, whose window has room for a number of frames, and whose work the queue has.
    convenience init(
        _ source: ScriptedSource,
        frames: Int = 1_000,
        queue: ManualQueue,
        time: any TimeSource = SystemTime()
    ) throws {
        let poster = try PixelBuffer(size: source.info.size, alpha: .opaque) { _ in SIMD4(0, 0, 0, 255) }
        self.init(source: source, poster: poster, window: ByteCount(frames * 16), time: time) { context, operation in
            queue.enqueue(context, operation)
        }
    }
}
