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

    private let pool: HelperPool
    private let helper: HelperProcess
    private let limits: DecodeLimits
    private let context: JobContext?
    private let threads: WorkPool?
    /// The memory that is reserved in the budget of the pool, and that which is counted as slow instead.
    private var reservedMemory = 0, slowMemory = 0
    private var isSlow = false
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
    private func check(_ layout: ResultLayout, options: DecodeOptions) throws(EideticError) {
        let isAnimation = options.frames == .all && layout.frameCount > 1
        guard isAnimation || layout.frameCount == 1, layout.frameCount <= max(1, limits.frames),
            layout.size.pixelCount <= limits.pixels, max(layout.size.width, layout.size.height) <= limits.sideLength,
            !isAnimation || layout.recordOffset <= limits.animationBytes.bytes
        else { throw unexpectedReply() }
    }

    private func prepare(_ bytes: UnsafeRawBufferPointer) throws(EideticError) {
        try helper.write(bytes)
        let processors = max(1, pool.settings.idleLimit)
        helper.limit(memory: Self.spareMemory, processorTime: (limits.duration + Self.graceTime) * (processors + 1))
    }

    /// Reads the durations from the window, once, so that they cannot change between check and use.
    private func complete(_ header: HeaderDescription) throws(EideticError) -> ImageHeader {
        let bytes = helper.window.bytes(count: 8 * header.durationCount)
        let numbers = (0..<header.durationCount).map { bytes.loadUnaligned(fromByteOffset: 8 * $0, as: Int64.self) }
        guard numbers.allSatisfy({ $0 >= 0 }) else { throw unexpectedReply() }
        return header.header(durations: numbers.map { .nanoseconds($0) })
    }

    private func unexpectedReply() -> EideticError {
        helper.end()
        return EideticError(.decoderFailed, message: "the decoding process gave a reply that no image leads to")
    }
}

// MARK: Pixels
extension HelperSession {
    func decode(_ opened: Opened, options: DecodeOptions) throws(EideticError) -> Image {
        let layout = opened.layout
        guard opened.workingMemory <= Self.maximumMemory else {
            throw EideticError(.outOfMemory, message: "decoding needs \(opened.workingMemory) bytes of memory")
        }
        reservedMemory = try pool.budget.reserve(opened.workingMemory, context: context)
        helper.limit(
            memory: Self.spareMemory + 2 * opened.workingMemory + layout.byteCount,
            processorTime: (limits.duration + Self.graceTime) * (max(1, pool.settings.idleLimit) + 1)
        )
        let isInWindow = layout.byteCount <= HelperSession.copiedByteCount
        let memory = isInWindow ? nil : try pool.memories.memory(byteCount: layout.byteCount)
        let request = HelperRequest.decode(layout, isInWindow: isInWindow)
        let reply = try reply(to: request, descriptors: memory.map { [$0.rawValue] } ?? [])
        guard case .decoded(let result) = reply, result.frameCount <= layout.frameCount else { throw unexpectedReply() }
        context?.addDetachedTime(min(result.processorTime, spentTime * 64))
        return Image(
            frames: try frames(result, in: memory, layout: layout),
            loopCount: result.loopCount,
            format: opened.header.format,
            sourceSize: result.sourceSize,
            scale: options.scale,
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
    private func reply(
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
        guard !isSlow, pool.beginSlow(memory: reservedMemory) else { return }
        isSlow = true
        (slowMemory, reservedMemory) = (reservedMemory, 0)
        pool.budget.release(slowMemory)
        helper.setLowered(true)
        threads?.beginPause()
    }
}
