import EideticCodecs
import EideticCore

/// Decodes previews from the bytes received so far.
///
/// Previews are made one at a time, each from at least half as many bytes again as the one before, so that a slow
/// connection does not cause too many. Each job has its own generator, because jobs differ in size and transform.
final class PreviewGenerator: Sendable {
    typealias Decode = @Sendable ([UInt8]) throws(EideticError) -> Image?

    private static let minimumStep = 256

    private struct State {
        /// Makes a decoder for the bytes of one response; `nil` once the generator is stopped.
        var makeDecode: (@Sendable () -> Decode)?
        /// The bytes being decoded; if the first of several servers fails, the next one's replace them.
        var data: PartialData?
        /// The decoder of `data`, which holds memory from one preview to the next.
        var decode: Decode?
        var isBusy = false
        /// The number of bytes from which on the next preview is made.
        var threshold = PreviewGenerator.minimumStep
    }

    private let state: Guarded<State>
    private let stage: DecodeStage
    private let context: JobContext
    private let policy: RenditionPolicy
    private let report: @Sendable (Image) -> Void

    /// Creates the generator of a job's previews, which it reports.
    init(for job: ImageLoader.Job, stage: DecodeStage) {
        let context = job.context, report = job.report, policy = stage.policy(for: job.load)
        (self.stage, self.context, self.policy) = (stage, context, policy)
        self.report = { report(.preview($0)) }
        state = Guarded(State { stage.makePreviewDecoder(by: policy, context: context) })
    }

    /// Starts a preview if enough bytes were received since the last one; returns at once.
    func dataReceived(_ data: PartialData) {
        let count = data.count
        let (starts, replaced) = state.withLock { state -> (Bool, Decode?) in
            guard let makeDecode = state.makeDecode, !state.isBusy else { return (false, nil) }
            var replaced: Decode?
            if state.data !== data {
                replaced = state.decode
                (state.data, state.decode, state.threshold) = (data, makeDecode(), Self.minimumStep)
            }
            state.isBusy = count >= state.threshold
            return (state.isBusy, replaced)
        }
        // The replaced decoder's memory is freed outside the lock.
        _ = consume replaced
        guard starts else { return }
        stage.enqueue(decoding: data.signature, by: policy, in: context) { [self] in
            makePreview(from: data)
            state.withLock { $0.isBusy = false }
        }
    }

    /// Stops the generator, because the image itself is decoded now.
    func stop() {
        _ = state.withLock { state in
            defer { (state.makeDecode, state.decode, state.data) = (nil, nil, nil) }
            return (state.decode, state.data)
        }
    }

    private var decode: Decode? { context.isCancelled ? nil : state.withLock { $0.decode } }

    private func makePreview(from data: PartialData) {
        guard let decode else { return }
        let bytes = data.snapshot
        state.withLock { $0.threshold = bytes.count + max(Self.minimumStep, bytes.count / 2) }
        // The bytes may be too few for a preview, which is no error.
        guard let image = try? decode(bytes), image.isPartial, self.decode != nil else { return }
        report(image)
    }
}
