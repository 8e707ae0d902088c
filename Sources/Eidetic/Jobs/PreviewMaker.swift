import EideticCodecs
import EideticCore

/// Decodes what is there of a picture while the rest comes (L10).
///
/// One preview at a time, each of half as many bytes again as the one before: however the bytes trickle in, there are not
/// too many. Each job has its own, so everybody sees the size they want.
final class PreviewGenerator: Sendable {
    typealias Decode = @Sendable ([UInt8]) throws(EideticError) -> Image?

    private struct State {
        /// Makes a decoder for the bytes of one answer; goes at the end.
        var makeDecode: (@Sendable () -> Decode)?
        /// What is decoded: where the first of several servers breaks off, the next one's bytes are others.
        var bytes: PartialData?
        /// Goes with its bytes, and the memory that it keeps with it.
        var decode: Decode?
        var isBusy = false
        var next = 256
    }

    private let state: Guarded<State>
    private let pool: WorkPool
    private let context: JobContext
    private let report: @Sendable (Image) -> Void

    init(
        _ pool: WorkPool,
        _ context: JobContext,
        makeDecode: @escaping @Sendable () -> Decode,
        report: @escaping @Sendable (Image) -> Void
    ) {
        self.pool = pool
        self.context = context
        state = Guarded(State(makeDecode: makeDecode))
        self.report = report
    }

    /// Says that bytes have come; returns at once.
    func bytesCame(_ bytes: PartialData) {
        let count = bytes.count
        let (begins, old) = state.withLock { state -> (Bool, Decode?) in
            guard let makeDecode = state.makeDecode, !state.isBusy else { return (false, nil) }
            var old: Decode?
            if state.bytes !== bytes {
                old = state.decode
                (state.bytes, state.decode, state.next) = (bytes, makeDecode(), 256)
            }
            state.isBusy = count >= state.next
            return (state.isBusy, old)
        }
        // What it keeps goes when the lock is free again.
        _ = consume old
        guard begins else { return }
        pool.enqueue(in: context) { [self] in
            make(of: bytes)
            state.withLock { $0.isBusy = false }
        }
    }

    /// Says that the picture itself is decoded now.
    func end() {
        _ = state.withLock { state in
            defer { (state.makeDecode, state.decode, state.bytes) = (nil, nil, nil) }
            return (state.decode, state.bytes)
        }
    }

    private var decode: Decode? { context.isCancelled ? nil : state.withLock { $0.decode } }

    private func make(of bytes: PartialData) {
        guard let decode else { return }
        let beginning = bytes.snapshot
        state.withLock { $0.next = beginning.count + max(256, beginning.count / 2) }
        // What is there may be too little to show anything, and that is no error.
        guard let image = try? decode(beginning), image.isPartial, self.decode != nil else { return }
        report(image)
    }
}
