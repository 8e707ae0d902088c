import EideticCodecs
import EideticCore

/// Decodes what is there of a picture while the rest comes (L10).
///
/// One preview at a time, each of half as many bytes again as the one before: however the bytes trickle in, there are not
/// too many. Each job has its own, so everybody sees the size they want.
final class PreviewMaker: Sendable {
    typealias Decode = @Sendable ([UInt8]) throws(EideticError) -> Image?

    private struct State {
        /// Goes at the end, with the memory that it keeps.
        var decode: Decode?
        var isBusy = false
        var next = 256
    }

    private let state: Guarded<State>
    private let pool: WorkPool
    private let context: WorkContext
    private let report: @Sendable (Image) -> Void

    init(
        _ pool: WorkPool,
        _ context: WorkContext,
        decode: @escaping Decode,
        report: @escaping @Sendable (Image) -> Void
    ) {
        self.pool = pool
        self.context = context
        state = Guarded(State(decode: decode))
        self.report = report
    }

    /// Says that bytes have come; returns at once.
    func bytesCame(_ bytes: ArrivingBytes) {
        let count = bytes.count
        let begins = state.withLock { state in
            guard state.decode != nil, !state.isBusy, count >= state.next else { return false }
            state.isBusy = true
            return true
        }
        guard begins else { return }
        pool.enqueue(context) { [self] in
            make(of: bytes)
            state.withLock { $0.isBusy = false }
        }
    }

    /// Says that the picture itself is decoded now.
    func end() {
        // What it keeps goes when the lock is free again.
        _ = state.withLock { state in
            defer { state.decode = nil }
            return state.decode
        }
    }

    private var decode: Decode? { context.isCancelled ? nil : state.withLock { $0.decode } }

    private func make(of bytes: ArrivingBytes) {
        guard let decode else { return }
        let beginning = bytes.snapshot
        state.withLock { $0.next = beginning.count + max(256, beginning.count / 2) }
        // What is there may be too little to show anything, and that is no error.
        guard let image = try? decode(beginning), image.isPartial, self.decode != nil else { return }
        report(image)
    }
}
