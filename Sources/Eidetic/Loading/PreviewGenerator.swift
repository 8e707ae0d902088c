import EideticCodecs
import EideticCore
import Glibc

/// Decodes previews from the bytes received so far.
///
/// Previews are made one at a time, each from at least half as many bytes again as the one before, so that a slow
/// connection does not cause too many. Each job has its own generator, because jobs differ in size and transform.
final class PreviewGenerator: Sendable {
    typealias Decode = @Sendable ([UInt8]) throws(EideticError) -> Image?

    private static let minimumStep = 256
    /// The range of the distance between two looks at the frames of an animation.
    private static let animationSteps = 1_024...65_536

    /// The number of bytes that show whether a file is an animation.
    private static let headerByteCount = 4_096

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
        /// The number of bytes from which on new frames of an animation are looked for.
        var animationThreshold = PreviewGenerator.minimumStep
        /// The animation whose first frame was reported, and the number of bytes that it has.
        var animation: Image?
        var animationByteCount = 0
        /// A Boolean value indicating whether the bytes can be an animation; `nil` before the first look.
        var mayBeAnimated: Bool?
        /// A Boolean value indicating whether all bytes have arrived, or no more will.
        var isFinished = false

        /// Records how many bytes the animation has, and when it gets the next ones.
        mutating func recordAnimation(byteCount: Int) {
            animationByteCount = byteCount
            let steps = PreviewGenerator.animationSteps
            animationThreshold = byteCount + min(max(byteCount / 8, steps.lowerBound), steps.upperBound)
        }
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
                // Frames of another response do not continue the animation.
                state.mayBeAnimated = state.animation == nil ? nil : false
                state.animationThreshold = Self.minimumStep
            }
            let seeksFrames = state.mayBeAnimated ?? policy.streamsAnimations
            state.isBusy = count >= (seeksFrames ? state.animationThreshold : state.threshold)
            return (state.isBusy, replaced)
        }
        // The replaced decoder's memory is freed outside the lock.
        _ = consume replaced
        guard starts else { return }
        stage.enqueue(decoding: data.signature, by: policy, in: context) { [self] in
            makePreview(from: data)
            let isAnimation = state.withLock { state in
                state.isBusy = false
                return state.animation != nil || state.mayBeAnimated == true
            }
            // Frames that arrived meanwhile do not wait for more bytes.
            if isAnimation { dataReceived(data) }
        }
    }

    /// Stops the generator, because the image itself is decoded now.
    func stop() {
        _ = state.withLock { state in
            defer { (state.makeDecode, state.decode, state.data) = (nil, nil, nil) }
            return (state.decode, state.data)
        }
    }

    /// Ends the animation that was reported, if there is one: with the rest of its bytes, or after an error.
    ///
    /// - Returns: The image of the animation, if it has the bytes and goes on.
    func finish(with result: Result<EncodedImage, EideticError>) -> Image? {
        let (image, data, count) = state.withLock { state in
            state.isFinished = true
            return (state.animation, state.data, state.animationByteCount)
        }
        guard let image, let animation = image.streamed else { return nil }
        switch result {
        case .success(let encodedImage):
            let bytes = encodedImage.bytes
            // A decryptor or a second server may have made other bytes of it.
            guard let data, Self.hasSameBeginning(data.snapshot, as: bytes, count: count) else {
                animation.end(
                    after: EideticError(.corrupt, message: "other bytes have replaced those of the animation")
                )
                return nil
            }
            animation.append(Array(bytes.dropFirst(count)), isComplete: true)
            return image
        case .failure(let error):
            animation.end(after: error)
            return nil
        }
    }

    private static func hasSameBeginning(_ first: [UInt8], as second: [UInt8], count: Int) -> Bool {
        guard first.count >= count, second.count >= count else { return false }
        return first.withUnsafeBytes { first in
            second.withUnsafeBytes { second in
                guard let first = first.baseAddress, let second = second.baseAddress else { return true }
                return memcmp(first, second, count) == 0
            }
        }
    }

    private var decode: Decode? { context.isCancelled ? nil : state.withLock { $0.decode } }

    private func makePreview(from data: PartialData) {
        guard let decode else { return }
        if continueAnimation(with: data) { return }
        let bytes = data.snapshot
        if startAnimation(with: bytes) { return }
        guard state.withLock({ bytes.count >= $0.threshold }) else { return }
        state.withLock { $0.threshold = bytes.count + max(Self.minimumStep, bytes.count / 2) }
        // The bytes may be too few for a preview, which is no error.
        guard let image = try? decode(bytes), image.isPartial, self.decode != nil else { return }
        report(image)
    }

    /// Appends the bytes that have arrived since to the animation; returns `false` if there is none.
    private func continueAnimation(with data: PartialData) -> Bool {
        state.withLock { state in
            guard let animation = state.animation?.streamed else { return false }
            guard state.mayBeAnimated == true, !state.isFinished else { return true }
            let bytes = data.bytes(from: state.animationByteCount)
            state.recordAnimation(byteCount: state.animationByteCount + bytes.count)
            animation.append(bytes, isComplete: false)
            return true
        }
    }

    /// Reports an animation as soon as its first frame has arrived; returns `true` if it did.
    private func startAnimation(with bytes: [UInt8]) -> Bool {
        let mayBeAnimated =
            state.withLock { $0.mayBeAnimated }
            ?? (policy.streamsAnimations && AnimationDecoder.mayBeAnimated(bytes))
        // A PNG says behind its header that it is animated.
        if mayBeAnimated || bytes.count >= Self.headerByteCount {
            state.withLock { $0.mayBeAnimated = mayBeAnimated }
        } else {
            state.withLock { $0.animationThreshold = bytes.count + Self.minimumStep }
        }
        guard mayBeAnimated else { return false }
        state.withLock { $0.recordAnimation(byteCount: bytes.count) }
        guard
            let image = try? stage.animation(of: bytes, isComplete: false, by: policy, context: context)?.image
        else { return false }
        let isReported = state.withLock { state in
            guard !state.isFinished, state.makeDecode != nil else { return false }
            state.animation = image
            return true
        }
        if isReported { report(image) }
        return isReported
    }
}
