import EideticCodecs
import EideticCore

/// Bytes that prove to be broken when they are decoded.
extension ImageLoader {
    /// Returns the load that replaces one whose bytes proved to be broken.
    ///
    /// - Throws: `cacheMiss` if no source may be used; `error` if the bytes came from the source.
    func fallback(
        for broken: EncodedImage,
        of load: Load,
        after error: EideticError
    ) async throws(EideticError) -> Load {
        guard broken.isFromCache else { throw error }
        await dataLoader.discard(broken, for: load.request)
        guard load.policy.tiers.allowsSource else { throw ImageDataLoader.cacheMiss(for: load.request) }
        return load.from(.sourceOnly)
    }

    /// Records a failure, so that a server whose bytes no request can use is not queried again soon.
    func recordFailure(_ error: EideticError, of encodedImage: EncodedImage, for load: Load) async {
        guard !encodedImage.isValidated, await isPermanent(error, of: encodedImage, for: load) else { return }
        dataLoader.recordFailure(error, of: encodedImage, for: load)
    }

    /// Returns whether no request can get an image from these bytes, whatever its size and frames.
    private func isPermanent(_ error: EideticError, of encodedImage: EncodedImage, for load: Load) async -> Bool {
        let policy = stage.policy(for: load)
        let isBroken = error.indicatesBrokenImage || error.code == .unsupportedFormat
        if isBroken, policy.options.frames == .first { return true }
        guard isBroken || error.code == .limitExceeded else { return false }
        let cheapest = DecodeOptions(size: PixelSize(width: 1, height: 1)), bytes = encodedImage.bytes
        return await stage.isRefused(bytes, options: cheapest, by: policy)
    }
}

extension EideticError {
    /// A Boolean value indicating whether the bytes are at fault, and not the request or the machine.
    var indicatesBrokenImage: Bool { [.corrupt, .truncated, .notAnImage].contains(code) }
}
