package import EideticCore

extension ImagePrefetcher {
    /// A prefetched image, without its pixels.
    package struct Result: Sendable {
        /// The place that the image came from.
        package let source: ImageSource
        /// The format of the encoded image.
        package let format: ImageFormat
        /// The size of the full image in upright pixels.
        package let size: PixelSize
        /// The number of encoded bytes.
        package let byteCount: ByteCount
        /// The steps of the load with their times.
        package let trace: LoadTrace
        /// The error of writing the bytes to disk; set for the destination `disk`, or if the request waits for storage.
        package let storeError: EideticError?
        /// A Boolean value indicating whether the image was already at the destination, so that nothing was loaded.
        package let wasPresent: Bool
    }
}

extension ImagePrefetcher.Result {
    init(_ response: ImageResponse, destination: ImagePrefetcher.Destination) {
        let isLoaded = response.trace.steps.contains { [.network, .origin].contains($0.stage) }
        self.init(
            source: response.source,
            format: response.image.format,
            size: response.image.sourceSize,
            byteCount: response.byteCount,
            trace: response.trace,
            storeError: response.storeError,
            wasPresent: !isLoaded && response.source == (destination == .memory ? .memory : .disk)
        )
    }
}
