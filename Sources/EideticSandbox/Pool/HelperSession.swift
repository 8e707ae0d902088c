import EideticCodecs
import EideticCore

/// One image and the process that decodes it.
final class HelperSession {
    /// An image whose header was parsed.
    struct Opened {
        let header: ImageHeader
        let layout: ResultLayout
        let workingMemory: Int
    }

    let pool: HelperPool
    let helper: HelperProcess
    let limits: DecodeLimits
    /// Called once when the requests become slow.
    var slowed: () -> Void = {}
    private let context: JobContext?
    private let threads: WorkPool?
    /// The memory that is reserved in the budget of the pool, and that which is counted as slow instead.
    private var reservedMemory = 0, slowMemory = 0
    private var isSlow = false, isReportedSlow = false
    /// The time of the requests so far.
    private var spentTime = Duration.zero

    init(pool: HelperPool, helper: HelperProcess, limits: DecodeLimits, context: JobContext?, threads: WorkPool?) {
        (self.pool, self.helper, self.limits, self.context, self.threads) = (pool, helper, limits, context, threads)
    }

    /// Releases what the session has reserved.
    func end() {
        pool.budget.release(reservedMemory)
        reservedMemory = 0
        guard isSlow else { return }
        isSlow = false
        threads?.endPause()
        pool.endSlow(memory: slowMemory)
    }

    /// The memory of a process beyond its idle state while it parses, and beyond what it has announced while it
    /// decodes: libraries keep tables, and the allocator reserves address space for each thread.
    private static let spareMemory = 768 << 20
    /// The time by which a library may miss its own limit before the process is ended.
    private static let graceTime = Duration.milliseconds(250)
    /// The largest memory of one image: 8 GiB.
    private static let maximumMemory = 8 << 30

    func header(of bytes: UnsafeRawBufferPointer, isComplete: Bool) throws(EideticError) -> ImageHeader? {
        try prepare(bytes)
        let request = HelperRequest.header(byteCount: bytes.count, isComplete: isComplete)
        guard case .header(let header) = try reply(to: request) else { throw unexpectedReply() }
        return try header.map { header throws(EideticError) in try complete(header) }
    }

    /// The largest size of metadata that the file has in compressed form.
    private static let inflatedMetadataSize = 64 << 20

    func metadata(of bytes: UnsafeRawBufferPointer) throws(EideticError) -> ImageMetadata {
        try prepare(bytes)
        // Only what is written takes memory.
        let memory = try SharedMemory(byteCount: bytes.count + Self.inflatedMetadataSize), mapped = try memory.map()
        let request = HelperRequest.metadata(byteCount: bytes.count, capacity: memory.byteCount)
        guard case .metadata(let layout) = try reply(to: request, descriptors: [memory.rawValue]),
            layout.byteCount <= mapped.byteCount
        else { throw unexpectedReply() }
        return layout.metadata(from: mapped.bytes(count: mapped.byteCount))
    }

    func open(_ bytes: UnsafeRawBufferPointer, options: DecodeOptions) throws(EideticError) -> Opened {
        guard bytes.count <= limits.encodedBytes.bytes else {
            throw EideticError(
                .limitExceeded,
                message: "the file has \(bytes.count) bytes; the limit is \(limits.encodedBytes.bytes)"
            )
        }
        try prepare(bytes)
        let request = HelperRequest.open(byteCount: bytes.count, options: options, limits: limits)
        guard case .opened(let header, let workingMemory, let layout) = try reply(to: request) else {
            throw unexpectedReply()
        }
        try check(layout, options: options)
        return Opened(header: try complete(header), layout: layout, workingMemory: workingMemory)
    }

    /// Refuses sizes that no honest process announces.
    func check(_ layout: ResultLayout, options: DecodeOptions) throws(EideticError) {
        let isAnimation = options.frames == .all && layout.frameCount > 1
        guard isAnimation || layout.frameCount == 1, layout.frameCount <= max(1, limits.frames),
            layout.size.pixelCount <= limits.pixels, max(layout.size.width, layout.size.height) <= limits.sideLength,
            !isAnimation || layout.recordOffset <= limits.animationBytes.bytes
        else { throw unexpectedReply() }
    }

    private func prepare(_ bytes: UnsafeRawBufferPointer) throws(EideticError) {
        helper.countImage()
        try helper.write(bytes)
        limit(memory: 0)
    }

    /// Limits the memory of the process beyond what it always needs, and the processor time of the next request.
    func limit(memory: Int) {
        let processors = max(1, pool.settings.idleLimit)
        helper.limit(
            memory: Self.spareMemory + memory,
            processorTime: (limits.duration + Self.graceTime) * (processors + 1)
        )
    }

    func complete(_ header: HeaderDescription) throws(EideticError) -> ImageHeader {
        header.header(durations: try durations(count: header.durationCount))
    }

    /// Reads durations from the window, once, so that they cannot change between check and use.
    func durations(count: Int) throws(EideticError) -> [Duration] {
        let bytes = helper.window.bytes(count: 8 * count)
        let numbers = (0..<count).map { bytes.loadUnaligned(fromByteOffset: 8 * $0, as: Int64.self) }
        guard numbers.allSatisfy({ $0 >= 0 }) else { throw unexpectedReply() }
        return numbers.map { .nanoseconds($0) }
    }

    func unexpectedReply() -> EideticError {
        helper.end()
        return EideticError(.decoderFailed, message: "the decoding process gave a reply that no image leads to")
    }
}

// MARK: Pixels
extension HelperSession {
    func decode(_ opened: Opened, options: DecodeOptions) throws(EideticError) -> Image {
        let plan = ResultPlan(
            layout: opened.layout,
            workingMemory: opened.workingMemory,
            format: opened.header.format,
            scale: options.scale
        )
        let image = try image(by: plan) { isInWindow, reply throws(EideticError) in
            guard case .decoded(let result) = try reply(.decode(opened.layout, isInWindow: isInWindow)) else {
                return nil
            }
            return result
        }
        guard let image else { throw unexpectedReply() }
        return image
    }

    /// The result of a request: its size, and the memory that it takes.
    struct ResultPlan {
        let layout: ResultLayout
        let workingMemory: Int
        /// The memory of what else the process keeps.
        var keptMemory = 0
        let format: ImageFormat
        let scale: Double
    }

    /// Reserves memory, and makes an image of what a request writes there.
    ///
    /// - Parameters:
    ///   - plan: The size of the image.
    ///   - request: Sends a request by the function that it is passed, and returns the result; `nil` if there is none.
    /// - Returns: The image; `nil` if `request` returns none.
    /// - Throws: The errors of `request`, `outOfMemory`, `decoderFailed` and `cancelled`.
    func image(
        by plan: ResultPlan,
        request: (
            _ isInWindow: Bool,
            _ reply: (HelperRequest) throws(EideticError) -> HelperReply
        ) throws(EideticError) -> ResultDescription?
    ) throws(EideticError) -> Image? {
        let layout = plan.layout
        guard plan.workingMemory <= Self.maximumMemory else {
            throw EideticError(.outOfMemory, message: "decoding needs \(plan.workingMemory) bytes of memory")
        }
        reservedMemory = try pool.budget.reserve(plan.workingMemory, context: context)
        limit(memory: 2 * plan.workingMemory + layout.byteCount + plan.keptMemory)
        let isInWindow = layout.byteCount <= HelperSession.copiedByteCount
        let memory = isInWindow ? nil : try pool.memories.memory(byteCount: layout.byteCount)
        let result = try request(isInWindow) { request throws(EideticError) in
            try reply(to: request, descriptors: memory.map { [$0.rawValue] } ?? [])
        }
        guard let result else { return nil }
        guard result.frameCount <= layout.frameCount else { throw unexpectedReply() }
        context?.addDetachedTime(min(result.processorTime, spentTime * 64))
        return Image(
            frames: try frames(result, in: memory, layout: layout),
            loopCount: result.loopCount,
            format: plan.format,
            sourceSize: result.sourceSize,
            scale: plan.scale,
            isPartial: result.isPartial
        )
    }

    /// The largest result that is copied out of the window; larger ones stay where they were decoded.
    static let copiedByteCount = 4 << 20

    private func records(
        _ result: ResultDescription,
        at base: UnsafeRawPointer,
        layout: ResultLayout
    ) throws(EideticError) -> [FrameRecord] {
        let size = ResultLayout.recordSize
        // A copy, so that what is checked is what is used.
        let bytes = [UInt8](UnsafeRawBufferPointer(start: base + layout.recordOffset, count: size * result.frameCount))
        let records = bytes.withUnsafeBytes { bytes in
            (0..<result.frameCount).compactMap { index in
                FrameRecord(UnsafeRawBufferPointer(rebasing: bytes[(size * index)...].prefix(size)), layout: layout)
            }
        }
        guard records.count == result.frameCount else { throw unexpectedReply() }
        return records
    }

    private func frames(
        _ result: ResultDescription,
        in memory: SharedMemory?,
        layout: ResultLayout
    ) throws(EideticError) -> [Image.Frame] {
        guard let memory else { return try copiedFrames(result, layout: layout) }
        return try sealedFrames(result, in: memory, layout: layout)
    }

    /// Copies the frames out of the window, which the process may still change: only its own image.
    private func copiedFrames(
        _ result: ResultDescription,
        layout: ResultLayout
    ) throws(EideticError) -> [Image.Frame] {
        let base = UnsafeRawPointer(helper.window.base)
        return try records(result, at: base, layout: layout).map { record throws(EideticError) in
            let pixels = try PixelBuffer(size: layout.size, alpha: record.alpha) { target, _ in
                target.copyMemory(
                    from: UnsafeRawBufferPointer(start: base + record.part * layout.partSize, count: layout.partSize)
                )
            }
            return Image.Frame(pixels: pixels, duration: record.duration)
        }
    }

    /// Makes frames of memory that nobody can change any more.
    private func sealedFrames(
        _ result: ResultDescription,
        in memory: SharedMemory,
        layout: ResultLayout
    ) throws(EideticError) -> [Image.Frame] {
        let mapped: MappedMemory
        do throws(EideticError) {
            mapped = try memory.seal()
        } catch {
            helper.end()
            throw error
        }
        pool.memories.prepare(byteCount: memory.byteCount)
        return try records(result, at: mapped.base, layout: layout).map { record throws(EideticError) in
            let pixels = PixelBuffer(
                adopting: mapped.base + record.part * layout.partSize,
                size: layout.size,
                bytesPerRow: 4 * layout.size.width,
                alpha: record.alpha
            ) {
                // The last frame removes the mapping.
                _ = mapped
            }
            return Image.Frame(pixels: pixels, duration: record.duration)
        }
    }
}

// MARK: Waiting
extension HelperSession {
    func reply(
        to request: HelperRequest,
        descriptors: [Int32] = []
    ) throws(EideticError) -> HelperReply {
        let start = ContinuousClock.now
        defer { spentTime += start.duration(to: .now) }
        let alreadySpent = spentTime
        do throws(EideticError) {
            return try helper.reply(
                to: request,
                descriptors: descriptors,
                within: max(.zero, limits.duration + Self.graceTime - alreadySpent),
                context: context
            ) { waited in
                if alreadySpent + waited >= pool.settings.slowTime { beginSlow() }
            }
        } catch  where error.code == .limitExceeded && helper.hasEnded {
            throw EideticError(.limitExceeded, message: "decoding took longer than the limit of \(limits.duration)")
        }
    }

    /// Lets other images pass: on this thread's pool, in memory, and on the processors.
    private func beginSlow() {
        if !isReportedSlow { slowed() }
        isReportedSlow = true
        guard !isSlow, pool.beginSlow(memory: reservedMemory) else { return }
        isSlow = true
        (slowMemory, reservedMemory) = (reservedMemory, 0)
        pool.budget.release(slowMemory)
        helper.setLowered(true)
        threads?.beginPause()
    }
}
