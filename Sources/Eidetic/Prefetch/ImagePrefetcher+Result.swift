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
        /// The error that kept the bytes from the disk; known for the destination `disk`, and with `waitStoreCache`.
        package let storeError: EideticError?
    }
}

extension ImagePrefetcher.Result {
    init(_ response: ImageResponse) {
        self.init(
            source: response.source,
            format: response.image.format,
            size: response.image.sourceSize,
            byteCount: response.byteCount,
            trace: response.trace,
            storeError: response.storeError
        )
    }
}
