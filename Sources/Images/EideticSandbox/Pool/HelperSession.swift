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
    /// The place of the image among those that are decoded at a time; `nil` for a kept decoder.
    var place: UsePlace?
    /// Called once when the requests become slow.
    var slowed: () -> Void = {}
    private let context: JobContext?
    private let threads: WorkPool?
    /// The memory that is reserved for a decode without a turn.
    private var reservedMemory = 0
    private var isSlow = false
    private var isReportedSlow = false
    /// The time of the requests so far.
    private var spentTime = Duration.zero

    init(pool: HelperPool, helper: HelperProcess, limits: DecodeLimits, context: JobContext?, threads: WorkPool?) {
        self.pool = pool
        self.helper = helper
        self.limits = limits
        self.context = context
        self.threads = threads
    }

    /// Releases what the session has reserved.
    func end() {
        pool.turns.release(reservedMemory, origin: ownOrigin)
        reservedMemory = 0
        guard isSlow else { return }
        isSlow = false
        threads?.endPause()
        pool.endSlow()
    }

    /// The share of a decode without a turn: each process has one of its own.
    private var ownOrigin: String { "process \(helper.identifier)" }

    /// The memory of a process beyond its idle state while it parses, and beyond what it has announced while it
    /// decodes: libraries keep tables, and the allocator reserves address space for each thread.
    private static let spareMemory = 768 << 20
    /// The time by which a library may miss its own limit before the process is ended.
    private static let graceTime = Duration.milliseconds(250)
    /// The largest memory of one image: 8 GiB.
    static let maximumMemory = 8 << 30

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
        let memory = try SharedMemory(byteCount: bytes.count + Self.inflatedMetadataSize)
        let mapped = try memory.map()
        defer { withExtendedLifetime(memory) {} }
        let request = HelperRequest.metadata(byteCount: bytes.count, capacity: memory.byteCount)
        guard case .metadata(let layout) = try reply(to: request, descriptors: [memory.rawValue]),
            layout.byteCount <= mapped.byteCount
        else { throw unexpectedReply() }
        return layout.metadata(from: mapped.bytes(count: mapped.byteCount))
    }

    /// Parses the header of an image.
    func open(_ bytes: UnsafeRawBufferPointer, options: DecodeOptions) throws(EideticError) -> Opened {
        let reply = try opening(bytes, options: options, immediateMemory: 0)
        guard case .opened(let header, let memory, let layout) = reply else { throw unexpectedReply() }
        return try opened(header, workingMemory: memory.working, layout: layout, options: options)
    }

    /// Decodes an image; a small one by one request.
    func decode(
        _ bytes: UnsafeRawBufferPointer,
        options: DecodeOptions
    ) throws(EideticError) -> (image: Image, header: ImageHeader) {
        switch try opening(bytes, options: options, immediateMemory: Self.immediateMemory) {
        case .decodedAtOnce(let header, let layout, let result):
            let opened = try opened(header, workingMemory: 0, layout: layout, options: options)
            guard layout.byteCount <= Self.copiedByteCount else { throw unexpectedReply() }
            let plan = ResultPlan(layout: layout, workingMemory: 0, format: header.format, scale: options.scale)
            return (try image(result, by: plan, in: nil), opened.header)
        case .opened(let header, let memory, let layout):
            let opened = try opened(header, workingMemory: memory.working, layout: layout, options: options)
            return (try decode(opened, options: options), opened.header)
        default: throw unexpectedReply()
        }
    }

    /// The memory of a decode for which the application is not asked a second time, and which waits for none: 32 MiB.
    private static let immediateMemory = 32 << 20

    private func opening(
        _ bytes: UnsafeRawBufferPointer,
        options: DecodeOptions,
        immediateMemory: Int
    ) throws(EideticError) -> HelperReply {
        guard bytes.count <= limits.encodedBytes.bytes else {
            throw EideticError(
                .limitExceeded,
                message: "the file has \(bytes.count) bytes; the limit is \(limits.encodedBytes.bytes)"
            )
        }
        try prepare(bytes, memory: immediateMemory)
        return try reply(
            to: .open(byteCount: bytes.count, options: options, limits: limits, immediateMemory: immediateMemory)
        )
    }

    private func opened(
        _ header: HeaderDescription,
        workingMemory: Int,
        layout: ResultLayout,
        options: DecodeOptions
    ) throws(EideticError) -> Opened {
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

    private func prepare(_ bytes: UnsafeRawBufferPointer, memory: Int = 0) throws(EideticError) {
        helper.countImage()
        try helper.write(bytes)
        limit(memory: memory)
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
        try reserve(max(plan.workingMemory, layout.byteCount))
        limit(memory: 2 * plan.workingMemory + layout.byteCount + plan.keptMemory)
        let isInWindow = layout.byteCount <= HelperSession.copiedByteCount
        let memory = isInWindow ? nil : try pool.memories.memory(byteCount: layout.byteCount)
        let result = try request(isInWindow) { request throws(EideticError) in
            // Passed on, and then closed: nobody but the process can write from now on.
            var opened = try memory?.opened()
            let descriptors = opened.map { [$0.rawValue] } ?? []
            return try reply(to: request, descriptors: descriptors) { opened = nil }
        }
        guard let result else { return nil }
        return try image(result, by: plan, in: memory)
    }

    /// Reserves memory; those who share the process do not wait with this thread.
    private func reserve(_ memory: Int) throws(EideticError) {
        if let turn = DecodeTurn.current { return try turn.reserve(memory) }
        var isPausing = false
        defer { if isPausing { threads?.endPause() } }
        reservedMemory = try pool.turns.reserveBlocking(memory, origin: ownOrigin, context: context) {
            reportSlow()
            place?.end()
            threads?.beginPause()
            isPausing = true
        }
    }

    /// Makes an image of what a process has written.
    private func image(
        _ result: ResultDescription,
        by plan: ResultPlan,
        in memory: ResultMemory?
    ) throws(EideticError) -> Image {
        guard result.frameCount <= plan.layout.frameCount else { throw unexpectedReply() }
        context?.addDetachedTime(min(result.processorTime, spentTime * 64))
        return Image(
            frames: try frames(result, in: memory, layout: plan.layout),
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
        in memory: ResultMemory?,
        layout: ResultLayout
    ) throws(EideticError) -> [Image.Frame] {
        guard let memory else { return try copiedFrames(result, layout: layout) }
        return try sharedFrames(result, in: memory, layout: layout)
    }

    /// Copies the frames out of the window, which the process may still change: only its own image.
    private func copiedFrames(
        _ result: ResultDescription,
        layout: ResultLayout
    ) throws(EideticError) -> [Image.Frame] {
        let base = UnsafeRawPointer(helper.window.base)
        return try records(result, at: base, layout: layout).map { record throws(EideticError) in
            let source = UnsafeRawBufferPointer(start: base + record.part * layout.partSize, count: layout.partSize)
            let pixels = try PixelBuffer(size: layout.size, alpha: record.alpha) { target, _ in
                RowBands.copy(source, to: target, rowSize: 4 * layout.size.width)
            }
            return Image.Frame(pixels: pixels, duration: record.duration)
        }
    }

    /// Makes frames of memory that nobody can change any more.
    private func sharedFrames(
        _ result: ResultDescription,
        in memory: ResultMemory,
        layout: ResultLayout
    ) throws(EideticError) -> [Image.Frame] {
        let mapped: MappedMemory
        do throws(EideticError) {
            mapped = try memory.read()
        } catch {
            helper.end()
            throw error
        }
        pool.memories.prepare(byteCount: memory.byteCount)
        // The descriptor of one that was sealed is closed.
        let used = memory.isReusable ? UsedMemory(memory, of: pool.memories) : nil
        return try records(result, at: mapped.base, layout: layout).map { record throws(EideticError) in
            let pixels = PixelBuffer(
                adopting: mapped.base + record.part * layout.partSize,
                size: layout.size,
                bytesPerRow: 4 * layout.size.width,
                alpha: record.alpha
            ) {
                // The last frame gives the memory back; that of a sealed one is unmapped.
                _ = (mapped, used)
            }
            return Image.Frame(pixels: pixels, duration: record.duration)
        }
    }
}

// MARK: Waiting
extension HelperSession {
    func reply(
        to request: HelperRequest,
        descriptors: [Int32] = [],
        onSend: () -> Void = {}
    ) throws(EideticError) -> HelperReply {
        let start = ContinuousClock.now
        defer { spentTime += start.duration(to: .now) }
        let alreadySpent = spentTime
        do throws(EideticError) {
            return try helper.reply(
                to: request,
                descriptors: descriptors,
                within: max(.zero, limits.duration + Self.graceTime - alreadySpent),
                context: context,
                onSend: onSend
            ) { waited in
                if alreadySpent + waited >= pool.settings.slowTime { beginSlow() }
            }
        } catch  where error.code == .limitExceeded && helper.hasEnded {
            throw EideticError(.limitExceeded, message: "decoding took longer than the limit of \(limits.duration)")
        }
    }

    private func reportSlow() {
        if !isReportedSlow { slowed() }
        isReportedSlow = true
    }

    /// Lets other images pass: on this thread's pool, and on the processors.
    private func beginSlow() {
        reportSlow()
        guard !isSlow, pool.beginSlow(hasTurn: DecodeTurn.current != nil) else { return }
        isSlow = true
        place?.end()
        helper.setLowered(true)
        threads?.beginPause()
    }
}
