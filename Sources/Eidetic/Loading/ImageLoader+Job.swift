import EideticCodecs
import EideticCore
import EideticFetch

extension ImageLoader {
    /// One load of a decoded image, as its steps hand it along.
    struct Job: Sendable {
        var request: ImageRequest
        var cachePolicy: ImageDataLoader.CachePolicy
        let context: JobContext
        let report: @Sendable (Update) -> Void
        /// The moment of the rendition index at which the load started: bytes replaced since then are not cached.
        let start: UInt64
    }

    /// A report of a load that is not finished.
    enum Update: Sendable {
        case progress(FetchProgress)
        /// A partial image.
        case preview(Image)
    }

    /// A decoded image, and its bytes, which may still be on their way to the disk.
    struct Output: Sendable {
        let image: Image
        let source: ImageSource
        /// The encoded image; `nil` if the image was in memory, or made from a larger one there.
        let encodedImage: EncodedImage?
        let steps: [LoadTrace.Step]
        /// The header of an image that is decoded when it is first used; otherwise, `nil`.
        var header: ImageHeader?
    }

    /// A decoded and transformed image, and the steps that made it.
    struct Rendition: Sendable {
        let image: Image
        let steps: [LoadTrace.Step]
    }

    /// The identity of a load: loads with equal keys are coalesced.
    struct JobKey: Hashable {
        let imageKey: CacheKey
        let defersDecoding: Bool
        let cachePolicy: ImageDataLoader.CachePolicy
        let dataKey: ImageRequest.DataKey

        init(for request: ImageRequest, cachePolicy: ImageDataLoader.CachePolicy) {
            imageKey = request.imageKey
            defersDecoding = request.defersDecoding
            self.cachePolicy = cachePolicy
            dataKey = request.dataKey
        }
    }

    /// The identity of a decode: which image is made from which bytes.
    struct DecodeKey: Hashable {
        let imageKey: CacheKey
        let checksum: UInt64

        init(for request: ImageRequest, from encodedImage: EncodedImage) {
            (imageKey, checksum) = (request.imageKey, encodedImage.checksum)
        }
    }

    /// The identity of a revalidation: which image is displayed, and how its bytes are loaded.
    struct RevalidationKey: Hashable {
        let imageKey: CacheKey
        let dataKey: ImageRequest.DataKey
        let displayed: UInt64?
        let isReload: Bool
    }
}

extension ImageLoader.Output {
    /// The output for an image that was in memory.
    init(fromMemory image: Image, steps: [LoadTrace.Step] = []) {
        self.init(image: image, source: .memory, encodedImage: nil, steps: steps)
    }

    /// The output for a rendition of an encoded image.
    init(_ rendition: ImageLoader.Rendition, of encodedImage: EncodedImage) {
        self.init(
            image: rendition.image,
            source: encodedImage.source,
            encodedImage: encodedImage,
            steps: encodedImage.steps + rendition.steps
        )
    }
}
