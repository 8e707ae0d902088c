import EideticCodecs
import EideticSandbox
import EideticStore

/// The load of one image, with what its stages share.
///
/// The stages are: memory → smaller from larger in memory → derived on disk → last transforms of a chain from memory →
/// data → decode and transform → memory.
final class ImageJob: Sendable {
    let load: Load
    let loader: ImageLoader
    let policy: RenditionPolicy
    /// The image that is displayed and validated; it is not decoded again if its bytes are still valid.
    let displayed: Image?
    /// The token of the rendition index, held until the image is inserted, or never will be.
    let token: RenditionIndex.LoadToken
    let fillsMemory: Bool
    let context: JobContext
    let report: ImagePipeline.Report

    /// Creates a job, which is for as many callers as `context` has.
    init(
        _ load: Load,
        displaying displayed: Image? = nil,
        loader: ImageLoader,
        context: JobContext,
        fillsMemory: Bool = true,
        report: @escaping ImagePipeline.Report
    ) {
        self.load = load
        self.loader = loader
        self.displayed = displayed
        token = loader.renditions.startLoad(of: load.request.resourceKey)
        self.fillsMemory = fillsMemory
        self.context = context
        self.report = report
        policy = loader.stage.policy(for: load)
    }

    /// Loads the image; bytes of a cache that prove to be broken are replaced by those of the source.
    nonisolated(nonsending) func response() async throws(EideticError) -> ImageResponse {
        // An equal load may have ended since the caller's own look-up.
        if load.policy.tiers.allowsMemory, let image = loader.memory.hit(for: load.request) {
            return ImageResponse(image, source: .memory, steps: [])
        }
        if let response = try await downscaledResponse() { return response }
        if mayUseDerivedImages, let response = try await derivedResponse() { return response }
        if let response = try await transformedResponse() { return response }
        var source = load
        while true {
            let (data, animation) = try await data(of: source)
            do throws(EideticError) {
                return try await response(from: data, playing: animation)
            } catch  where error.indicatesBrokenImage && !data.isValidated {
                guard data.isFromCache else { throw error }
                await loader.dataLoader.discard(data, for: load.request)
                guard load.policy.tiers.allowsSource else { throw EideticError.cacheMiss(of: load.request) }
                source = load.from(.sourceOnly)
            }
        }
    }

    /// Loads the bytes to disk, unless they are there, and reads their header.
    func storedResponse() async throws(EideticError) -> ImageResponse {
        if mayUseDerivedImages, let response = try await derivedResponse() { return response }
        let data = try await loader.dataLoader.encodedImage(for: load, context: context, onUpdate: nil)
        var response = try await response(from: data)
        response.data = nil
        if let error = try await data.storage?.waitUntilStored() { throw error }
        guard data.storage?.isStorable == true || data.isFromDisk || !load.request.resource.isStoredOnDisk else {
            let reason = loader.dataLoader.disk.disk == nil ? "there is no disk cache" : "it must not be stored"
            throw EideticError(.refused, message: "\(load.request.name): not prefetched to disk: \(reason)")
        }
        return response
    }
}

// MARK: Stages
extension ImageJob {
    /// Returns an image made from a larger one in memory, without its bytes; `nil` if memory has none.
    nonisolated(nonsending) private func downscaledResponse() async throws(EideticError) -> ImageResponse? {
        // Where images are exact, their pixels must not depend on what was loaded before.
        guard load.policy.tiers.allowsMemory, !loader.derived.settings.isExact else { return nil }
        let request = load.request, mode = request.rendering.contentMode
        guard request.allowsMemory, let size = request.rendering.size, let base = request.baseKey else { return nil }
        // What matters is found in the pixels, so other pixels could have another crop.
        guard mode.focus != .content else { return nil }
        let found = loader.memory.largerImage(for: request.imageKey, base: base, size: size, mode: mode)
        guard let (larger, timeToLive) = found, !larger.isAnimated, larger.isDecoded else { return nil }
        return try await response(expiringIn: timeToLive) { () async throws(EideticError) in
            try await loader.stage.downscale(larger, for: policy.options, to: size, context: context)
        }
    }

    /// Returns an image made by the last transforms from one in memory, without its bytes; `nil` if memory has none.
    nonisolated(nonsending) private func transformedResponse() async throws(EideticError) -> ImageResponse? {
        guard load.policy.tiers.allowsMemory, let base = loader.memory.base(of: load.request, by: policy)
        else { return nil }
        return try await response(expiringIn: base.timeToLive) { () async throws(EideticError) in
            try await loader.stage.transform(Rendition(image: base.image), by: policy.with(base.rest), in: context)
        }
    }

    /// Returns an image that is made from another one in memory, which it must not outlive.
    nonisolated(nonsending) private func response(
        expiringIn timeToLive: Duration?,
        make: nonisolated(nonsending) () async throws(EideticError) -> Rendition
    ) async throws(EideticError) -> ImageResponse {
        let deadline = timeToLive.map { SystemTime().uptime + $0 }
        try await loader.gate.waitUntilOpen(for: context)
        let rendition = try await make()
        let remainder = deadline.map { max(.zero, $0 - SystemTime().uptime) }
        token.insert(rendition.image, for: load.request, from: .memory, timeToLive: remainder)
        loader.derived.store(downscaled: rendition, for: load)
        return ImageResponse(rendition.image, source: .memory, steps: rendition.steps)
    }

    /// Loads the bytes, and reports previews meanwhile.
    nonisolated(nonsending) private func data(of load: Load) async throws(EideticError)
        -> (EncodedImage, animation: Image?)
    {
        if policy.decodePolicy.isSandboxed, !load.policy.defersDecoding { loader.stage.host.sandbox.prepare() }
        let previews = load.policy.showsPreviews ? PreviewGenerator(for: self) : nil
        defer { previews?.stop() }
        do throws(EideticError) {
            let data = try await loader.dataLoader.encodedImage(for: load, context: context) { [report] update in
                if update.isReported { report(.progress(update.progress)) }
                if let data = update.partialData { previews?.dataReceived(data) }
            }
            return (data, previews?.finish(with: .success(data)))
        } catch {
            _ = previews?.finish(with: .failure(error))
            throw error
        }
    }

    /// Starts to store the bytes; decodes and transforms them, and inserts the image into memory, if pixels are needed.
    nonisolated(nonsending) private func response(
        from data: EncodedImage,
        playing animation: Image? = nil
    ) async throws(EideticError) -> ImageResponse {
        defer { data.storage?.releaseShare() }
        if let displayed, displayed.encodedChecksum == data.provenance.checksum {
            // The disk has no entry, or other bytes, or has to forget what it has.
            if !data.facts.isConfirmed { data.storage?.commit(isDecoded: true) }
            var response = ImageResponse(displayed, source: data.source, data: data, steps: [])
            response.isUnchanged = true
            return response
        }
        try await loader.gate.waitUntilOpen(for: context)
        do throws(EideticError) {
            guard fillsMemory, !load.policy.defersDecoding else { return try await deferredResponse(from: data) }
            let rendition = try await loader.stage.rendition(
                of: data,
                for: load.request,
                by: policy,
                playing: animation,
                from: load.policy.tiers.allowsMemory ? loader.memory : nil,
                context: context
            )
            // Another job may have decoded the same bytes. A partial image does not prove that they are whole.
            if !rendition.image.isPartial { data.storage?.commit(isDecoded: true) }
            token.insert(rendition.image, for: load.request, from: data.source, timeToLive: data.timeToLive)
            if rendition.isFromMemory {
                loader.derived.store(downscaled: rendition, for: load)
            } else if load.request.isDerived {
                loader.derived.store(rendition, of: data, for: load)
            }
            return ImageResponse(rendition.image, source: data.source, data: data, steps: rendition.steps)
        } catch {
            await record(error, of: data)
            throw error
        }
    }
}

// MARK: Failures
extension ImageJob {
    /// Records a failure, so that a server whose bytes no request can use is not queried again soon.
    private func record(_ error: EideticError, of data: EncodedImage) async {
        guard !data.isValidated, await isPermanent(error, of: data) else { return }
        loader.dataLoader.recordFailure(error, of: data, for: load)
    }

    /// Returns whether no request can get an image from these bytes, whatever its size and frames.
    private func isPermanent(_ error: EideticError, of data: EncodedImage) async -> Bool {
        let isBroken = error.indicatesBrokenImage || error.code == .unsupportedFormat
        if isBroken, policy.options.frames == .first { return true }
        guard isBroken || error.code == .limitExceeded else { return false }
        let cheapest = DecodeOptions(size: PixelSize(width: 1, height: 1))
        return await loader.stage.isRefused(data.bytes, options: cheapest, by: policy)
    }
}

extension EideticError {
    /// A Boolean value indicating whether the bytes are at fault, and not the request or the machine.
    var indicatesBrokenImage: Bool { [.corrupt, .truncated, .notAnImage].contains(code) }
}
