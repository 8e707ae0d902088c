package import EideticCodecs
package import EideticCore

/// Decodes progressive previews of an image that is being downloaded, in a decoding process.
///
/// The process keeps the incremental decoder, and gets each byte once, as `PreviewDecoder` does in this process.
///
/// Unchecked, because its user decodes the previews of one image one after the other.
package final class SandboxedPreview: @unchecked Sendable {
    private let options: DecodeOptions
    private let limits: DecodeLimits
    private let context: JobContext
    private let pool: HelperPool
    private let threads: WorkPool?
    private var decoder: RemoteDecoder?
    /// The memory of the incremental decoder; `nil` before the first preview.
    private var reservedMemory: Int?
    private var isIncremental = true

    /// The bytes that the process has decoded for all previews; more than those of the image if some were decoded
    /// repeatedly.
    package private(set) var decodedByteCount = 0

    package init(
        options: DecodeOptions,
        limits: DecodeLimits,
        pool: HelperPool,
        context: JobContext,
        pausing threads: WorkPool? = nil
    ) {
        self.options = PreviewDecoder.options(for: options)
        self.limits = limits
        self.pool = pool
        self.context = context
        self.threads = threads
    }

    deinit { release() }

    /// Returns a preview from the first bytes of an image: those of the previous call, and the bytes since.
    ///
    /// - Returns: The preview; `nil` if nothing is visible yet.
    /// - Throws: The errors of `ImageDecoder.decode`, `sandboxUnavailable` and `decoderFailed`.
    package func preview(of bytes: [UInt8]) throws(EideticError) -> Image? {
        guard isIncremental else { return try wholePreview(of: bytes) }
        let decoder = try decoder(for: bytes)
        let image = try decoder.call(context: context, pausing: threads) { call throws(EideticError) in
            try preview(by: call)
        }
        // The process gives no second preview of bytes that it has, and this one may be asked for again.
        if image?.isPartial == false { release() }
        guard isIncremental else { return try wholePreview(of: bytes) }
        return image
    }

    private func decoder(for bytes: [UInt8]) throws(EideticError) -> RemoteDecoder {
        let current = if let decoder { decoder } else { try makeDecoder(byteCount: bytes.count) }
        decoder = current
        try bytes.span.withUnsafeBytes { bytes throws(EideticError) in
            try current.append(UnsafeRawBufferPointer(rebasing: bytes.dropFirst(current.byteCount)), isComplete: false)
        }
        return current
    }

    private func makeDecoder(byteCount: Int) throws(EideticError) -> RemoteDecoder {
        try RemoteDecoder(
            .preview,
            byteCount: byteCount,
            isComplete: false,
            options: options,
            limits: limits,
            pool: pool
        )
    }

    private func preview(by call: RemoteDecoder.Call) throws(EideticError) -> Image? {
        guard let properties = call.properties else { return nil }
        guard case .opened(let header, let memory, let layout) = properties else {
            throw call.session.unexpectedReply()
        }
        try call.session.check(layout, options: options)
        guard reserve(memory.kept) else { return nil }
        decoder?.recordMemory(workingMemory: memory.working)
        let plan = HelperSession.ResultPlan(
            layout: layout,
            workingMemory: memory.working,
            keptMemory: call.keptMemory,
            format: header.format,
            scale: options.scale
        )
        return try call.session.image(by: plan) { isInWindow, reply throws(EideticError) in
            let request = HelperRequest.frame(call.decoder, index: 0, layout, isInWindow: isInWindow)
            guard case .frame(let result, let usage) = try reply(request) else { throw call.session.unexpectedReply() }
            decodedByteCount = usage.decodedByteCount
            return result
        }
    }

    /// Reserves the memory of the incremental decoder; without it, each preview is decoded from the start.
    private func reserve(_ memory: Int) -> Bool {
        guard reservedMemory == nil else { return true }
        isIncremental = DecodeMemoryBudget.previews.tryReserve(memory)
        if isIncremental { reservedMemory = memory }
        return isIncremental
    }

    private func wholePreview(of bytes: [UInt8]) throws(EideticError) -> Image {
        release()
        return try pool.decode(bytes, options: options, limits: limits, context: context, pausing: threads).image
    }

    private func release() {
        decoder = nil
        if let reservedMemory { DecodeMemoryBudget.previews.release(reservedMemory) }
        reservedMemory = nil
    }
}
