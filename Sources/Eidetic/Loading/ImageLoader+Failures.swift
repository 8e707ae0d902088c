import EideticCodecs
import EideticCore

extension ImageLoader {
    /// Records a failure, so that a server whose bytes no request can use is not queried again soon.
    func recordFailure(_ error: EideticError, of encodedImage: EncodedImage, for request: ImageRequest) {
        guard !encodedImage.isValidated, isPermanent(error, of: encodedImage, for: request) else { return }
        dataLoader.recordFailure(error, of: encodedImage, for: request)
    }

    /// Returns whether no request can get an image from these bytes, whatever its size and frames.
    private func isPermanent(_ error: EideticError, of encodedImage: EncodedImage, for request: ImageRequest) -> Bool {
        let isBroken = error.indicatesBrokenImage || error.code == .unsupportedFormat
        if isBroken, !request.options.contains(.preloadAllFrames) { return true }
        guard isBroken || error.code == .limitExceeded else { return false }
        var cheapest = DecodeOptions()
        cheapest.size = PixelSize(width: 1, height: 1)
        return (try? ImageDecoder.workingMemory(for: encodedImage.bytes, options: cheapest, limits: decodeLimits))
            == nil
    }
}

extension EideticError {
    /// A Boolean value indicating whether the bytes are at fault, and not the request or the machine.
    var indicatesBrokenImage: Bool { [.corrupt, .truncated, .notAnImage].contains(code) }
}
