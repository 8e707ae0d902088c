import EideticCore

/// A preview feed of a format whose library cannot be interrupted, on the threads of such libraries.
///
/// Unchecked, because its user makes one call at a time, and none after an error: the call may go on without its
/// caller.
final class DetachedFeed: @unchecked Sendable {
    /// The formats that have such a feed.
    static let formats: [ImageFormat] = [.jpegxl]

    private let options: DecodeOptions
    private let limits: DecodeLimits
    private let context: JobContext
    private var feed: (any PreviewFeed)?
    private var header: ImageHeader?
    private var reservedBytes = 0

    init(options: DecodeOptions, limits: DecodeLimits, context: JobContext) {
        (self.options, self.limits, self.context) = (options, limits, context)
    }

    deinit { release() }

    /// The number of bytes that the decoder has consumed; `nil` if there is none.
    var consumedByteCount: Int? { feed?.consumedByteCount }

    /// Returns a preview from the first bytes of an image, those of the previous call among them.
    func preview(of bytes: [UInt8], by calls: DetachedCalls) throws(EideticError) -> Image? {
        var reservation = DetachedCalls.Reservation(duration: limits.duration)
        reservation.memory = try calls.run(reserving: reservation, context: context) { () throws(EideticError) in
            try self.withPlan(of: bytes) { plan throws(EideticError) in plan.workingMemory }
        }
        return try calls.run(reserving: reservation, context: context) { () throws(EideticError) in
            try self.withPlan(of: bytes) { plan throws(EideticError) in try self.preview(by: plan) }
        }
    }

    private func withPlan<Value>(
        of bytes: [UInt8],
        body: (DecodePlan) throws(EideticError) -> Value
    ) throws(EideticError) -> Value {
        try bytes.span.withUnsafeBytes { bytes throws(EideticError) in
            try body(DecodePlan(bytes: bytes, options: options, limits: limits, context: context))
        }
    }

    private func preview(by plan: DecodePlan) throws(EideticError) -> Image? {
        if header?.size != plan.header.size { try start(for: plan) }
        guard let feed else { return try plan.decode() }
        do throws(EideticError) {
            return try plan.decodePreview(from: feed)
        } catch  where error.code == .corrupt {
            // The ordinary decoder may accept bytes that the incremental one refuses, such as those of another image.
            release()
            return try plan.decode()
        }
    }

    /// Creates the decoder, if the budget for decoders of previews allows it.
    private func start(for plan: DecodePlan) throws(EideticError) {
        release()
        header = plan.header
        let memory = plan.feedMemory
        guard DecodeMemoryBudget.previews.tryReserve(memory) else { return }
        reservedBytes = memory
        feed = try plan.makeFeed()
    }

    private func release() {
        DecodeMemoryBudget.previews.release(reservedBytes)
        (feed, reservedBytes) = (nil, 0)
    }
}
