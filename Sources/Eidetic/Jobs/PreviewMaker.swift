import EideticCodecs
import EideticCore

/// Decodes what is there of a picture while the rest comes (L10).
///
/// One preview at a time, each of half as many bytes again as the one before: however the bytes trickle in, all previews
/// together read about three times the bytes of the picture. Each job has its own, so everybody sees the size they want.
final class PreviewMaker: Sendable {
    private struct State {
        var isBusy = false
        var isOver = false
        var next = 256
    }

    private let state = Guarded(State())
    private let pool: WorkPool
    private let context: WorkContext
    private let decode: @Sendable ([UInt8]) throws(EideticError) -> Image
    private let report: @Sendable (Image) -> Void

    init(
        _ pool: WorkPool,
        _ context: WorkContext,
        decode: @escaping @Sendable ([UInt8]) throws(EideticError) -> Image,
        report: @escaping @Sendable (Image) -> Void
    ) {
        self.pool = pool
        self.context = context
        self.decode = decode
        self.report = report
    }

    /// Says that bytes have come; returns at once.
    func bytesCame(_ bytes: ArrivingBytes) {
        let count = bytes.count
        let begins = state.withLock { state in
            guard !state.isOver, !state.isBusy, count >= state.next else { return false }
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
    func end() { state.withLock { $0.isOver = true } }

    private var isOver: Bool { context.isCancelled || state.withLock { $0.isOver } }

    private func make(of bytes: ArrivingBytes) {
        guard !isOver else { return }
        let beginning = bytes.snapshot
        state.withLock { $0.next = beginning.count + max(256, beginning.count / 2) }
        // What is there may be too little to show anything, and that is no error.
        guard let image = try? decode(beginning), image.isPartial, !isOver else { return }
        report(image)
    }
}
