import EideticCodecs
import EideticCore
import Glibc

/// Decodes previews from the bytes received so far.
///
/// Previews are made one at a time, each from at least half as many bytes again as the one before, so that a slow
/// connection does not cause too many. The frames of an animation are looked for in all bytes as they are received.
/// Each job has its own generator, because jobs differ in size and transform.
final class PreviewGenerator: Sendable {
    typealias Decode = @Sendable ([UInt8]) throws(EideticError) -> Image?

    private static let minimumStep = 256

    /// The range of the distance between two attempts to decode the first frame of an animation.
    private static let attemptSteps = 1_024...65_536

    /// A way to find the first frame of an animation.
    private enum Search {
        /// The format is not known yet.
        case undetermined
        /// The bytes are no animation, or do not continue the one that was reported.
        case ended
        /// A scanner finds the frame.
        case scanning(FrameScanner)
        /// The frame is found by attempts to decode it.
        case attempting
    }

    private struct State {
        /// Makes a decoder for the bytes of one response; `nil` once the generator is stopped.
        var makeDecode: (@Sendable () -> Decode)?
        /// The bytes being decoded; if the first of several servers fails, the next one's replace them.
        var data: PartialData?
        /// The bytes that were received last, while others may still be decoded.
        var latest: PartialData?
        /// The decoder of `data`, which holds memory from one preview to the next.
        var decode: Decode?
        var isBusy = false
        /// The number of bytes from which on the next preview is made.
        var threshold = PreviewGenerator.minimumStep
        /// A Boolean value indicating whether animations are to be found.
        let streamsAnimations: Bool
        var search: Search
        /// The number of bytes in which frames were looked for.
        var searchedByteCount = 0
        /// The number of bytes from which on the first frame is decoded in the next attempt.
        var attemptThreshold = 0
        /// The animation whose first frame was reported, and the number of bytes that it has.
        var animation: Image?
        var animationByteCount = 0
        /// The bytes of which the animation has the first ones.
        var animationData: PartialData?
        /// A Boolean value indicating whether all bytes have arrived, or no more will.
        var isFinished = false

        init(streamsAnimations: Bool, makeDecode: @escaping @Sendable () -> Decode) {
            (self.streamsAnimations, self.makeDecode) = (streamsAnimations, makeDecode)
            search = streamsAnimations ? .undetermined : .ended
        }

        /// A Boolean value indicating whether frames are looked for.
        var seeksFrames: Bool { if case .ended = search { false } else { true } }

        /// The number of bytes from which on there is something to do.
        var nextByteCount: Int {
            switch search {
            case .ended: animation == nil ? threshold : .max
            case .attempting where animation == nil: min(threshold, attemptThreshold)
            case .undetermined, .scanning, .attempting: searchedByteCount + 1
            }
        }

        /// Records that the bytes do not contain what is searched for yet.
        mutating func recordAttempt(byteCount: Int) {
            let steps = PreviewGenerator.attemptSteps
            attemptThreshold = byteCount + min(max(byteCount / 8, steps.lowerBound), steps.upperBound)
        }

        /// Begins again with the bytes of another response; its frames do not continue an animation.
        mutating func restart(with data: PartialData, decode: @escaping Decode) {
            (self.data, self.decode) = (data, decode)
            threshold = PreviewGenerator.minimumStep
            (searchedByteCount, attemptThreshold) = (0, 0)
            search = streamsAnimations && animation == nil ? .undetermined : .ended
        }
    }

    private let state: Guarded<State>
    private let stage: DecodeStage
    private let context: JobContext
    private let policy: RenditionPolicy
    private let report: @Sendable (Image) -> Void

    /// Creates the generator of a job's previews, which it reports.
    init(for job: ImageJob) {
        let context = job.context, report = job.report, policy = job.policy, stage = job.loader.stage
        (self.stage, self.context, self.policy) = (stage, context, policy)
        self.report = { report(.preview($0)) }
        state = Guarded(
            State(streamsAnimations: policy.streamsAnimations) {
                stage.makePreviewDecoder(by: policy, context: context)
            }
        )
    }

    /// Starts a preview if enough bytes were received since the last one; returns at once.
    func dataReceived(_ data: PartialData) {
        let count = data.count
        let (starts, replaced) = state.withLock { state -> (Bool, Decode?) in
            guard let makeDecode = state.makeDecode else { return (false, nil) }
            state.latest = data
            guard !state.isBusy else { return (false, nil) }
            var replaced: Decode?
            if state.data !== data {
                replaced = state.decode
                state.restart(with: data, decode: makeDecode())
            }
            state.isBusy = count >= state.nextByteCount
            return (state.isBusy, replaced)
        }
        // The replaced decoder's memory is freed outside the lock.
        _ = consume replaced
        guard starts else { return }
        stage.enqueue(decoding: data.signature, by: policy, in: context) { [self] in
            makePreview(from: data)
            let latest = state.withLock { state in
                state.isBusy = false
                return state.latest
            }
            // What has arrived meanwhile, perhaps in another response, does not wait for more bytes.
            if !context.isCancelled, let latest { dataReceived(latest) }
        }
    }

    /// Stops the generator, because the image itself is decoded now.
    func stop() {
        _ = state.withLock { state in
            defer {
                (state.makeDecode, state.decode) = (nil, nil)
                (state.data, state.latest, state.animationData) = (nil, nil, nil)
            }
            return (state.decode, state.data, state.latest, state.animationData)
        }
    }

    /// Ends the animation that was reported, if there is one: with the rest of its bytes, or after an error.
    ///
    /// - Returns: The image of the animation, if it has the bytes and goes on.
    func finish(with result: Result<EncodedImage, EideticError>) -> Image? {
        let (image, data, count) = state.withLock { state in
            state.isFinished = true
            return (state.animation, state.animationData, state.animationByteCount)
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
            if let data { animation.append(data.bytes(from: count), isComplete: false) }
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
        let finding = seekFrames(in: data)
        if finding == .animation, startAnimation(with: data) { return }
        let count = data.count
        let isDue = state.withLock { state in
            guard count >= state.threshold || finding == .image else { return false }
            state.threshold = count + max(Self.minimumStep, count / 2)
            return true
        }
        // The bytes may be too few for a preview, which is no error.
        guard isDue, var image = try? decode(data.snapshot), image.isPartial || finding == .image, self.decode != nil
        else { return }
        image.attributes.isPartial = true
        report(image)
    }
}

// MARK: Animations
extension PreviewGenerator {
    /// The result of a search in the bytes that have arrived since the last one.
    private enum Finding {
        case nothing
        /// The first frame of what may be an animation.
        case image
        /// The first frame of an animation, perhaps.
        case animation
    }

    /// Appends the bytes that have arrived since to the animation; returns `false` if there is none.
    private func continueAnimation(with data: PartialData) -> Bool {
        state.withLock { state in
            guard let animation = state.animation?.streamed else { return false }
            guard state.seeksFrames, !state.isFinished else {
                state.search = .ended
                return true
            }
            let bytes = data.bytes(from: state.animationByteCount)
            state.animationByteCount += bytes.count
            state.searchedByteCount = state.animationByteCount
            animation.append(bytes, isComplete: false)
            return true
        }
    }

    /// Looks for the first frame in the bytes that have arrived since the last look.
    private func seekFrames(in data: PartialData) -> Finding {
        switch search(for: data) {
        case .undetermined, .ended: return .nothing
        case .attempting: return .animation
        case .scanning(let scanner):
            let count = data.withUnsafeBytes { bytes in
                scanner.update(bytes)
                return bytes.count
            }
            state.withLock { $0.searchedByteCount = count }
            if scanner.isStill { state.withLock { $0.search = .ended } }
            return scanner.hasFrame ? .animation : scanner.findsImage() ? .image : .nothing
        }
    }

    /// Returns the way to find frames in the bytes, as far as they tell their format.
    private func search(for data: PartialData) -> Search {
        let search = state.withLock { state in
            state.searchedByteCount = max(state.searchedByteCount, data.count)
            return state.search
        }
        guard case .undetermined = search else { return search }
        let found = Self.search(for: data, isSandboxed: policy.decodePolicy.isSandboxed)
        state.withLock { $0.search = found }
        return found
    }

    private static func search(for data: PartialData, isSandboxed: Bool) -> Search {
        switch ImageFormat.detect(in: data.signature) {
        case .needsMoreBytes: return .undetermined
        case .unknown: return .ended
        case .format(let format):
            if let scanner = FrameScanner(format) { return .scanning(scanner) }
            // A library must not read what the sandbox is for.
            guard !isSandboxed else { return .ended }
            // Others tell it within their first kilobytes.
            guard let isAnimation = AnimationDecoder.isAnimation(data.prefix(headerByteCount)) else {
                return data.count < headerByteCount ? .undetermined : .ended
            }
            return isAnimation ? .attempting : .ended
        }
    }

    /// The number of bytes that tell whether a file is an animation.
    private static let headerByteCount = 4_096

    /// Reports an animation whose first frame has arrived; returns `true` if it did.
    private func startAnimation(with data: PartialData) -> Bool {
        let bytes = data.snapshot
        let image = try? stage.openAnimation(bytes, isComplete: false, by: policy, context: context)?.image
        let isReported = state.withLock { state in
            guard let image, !state.isFinished, state.makeDecode != nil else {
                state.recordAttempt(byteCount: bytes.count)
                // What a scanner has found does not become an animation by more bytes.
                if case .scanning = state.search { state.search = .ended }
                return false
            }
            (state.animation, state.animationByteCount, state.animationData) = (image, bytes.count, data)
            return true
        }
        if isReported, let image { report(image) }
        return isReported
    }
}
