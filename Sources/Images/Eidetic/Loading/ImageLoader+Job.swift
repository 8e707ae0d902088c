import EideticCodecs
import EideticCore
import EideticFetch

extension ImageLoader {
    /// One load of a decoded image, as its steps hand it along.
    struct Job: Sendable {
        var load: Load
        /// The image that is displayed and validated; it is not decoded again if its bytes are still valid.
        let displayed: Image?
        /// The token of the rendition index, held until the image is inserted, or never will be.
        let token: RenditionIndex.LoadToken
        let context: JobContext
        let report: @Sendable (Update) -> Void
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
        /// A Boolean value indicating whether the image is the displayed one, which is still valid.
        var isUnchanged = false
        /// A Boolean value indicating whether the disk had the image in its size and transformed.
        var isDerived = false
    }

    /// The identity of a load: loads with equal keys are coalesced.
    struct JobKey: Hashable {
        let imageKey: CacheKey
        let defersDecoding: Bool
        let tiers: CachePolicy
        let displayed: UInt64?
        let dataKey: ImageRequest.DataKey
        let access: ImageRequest.CacheAccess
        let decodePolicy: DecodePolicy?

        init(for load: Load, displaying displayed: Image?) {
            imageKey = load.request.imageKey
            (defersDecoding, tiers) = (load.policy.defersDecoding, load.policy.tiers)
            self.displayed = displayed?.encodedChecksum
            (dataKey, access) = (load.request.dataKey, load.policy.access)
            decodePolicy = load.request.decodePolicy
        }
    }

    /// The identity of a decode: which image is made from which bytes.
    struct DecodeKey: Hashable {
        let imageKey: CacheKey
        let checksum: UInt64
        let decodePolicy: DecodePolicy?

        init(for load: Load, from encodedImage: EncodedImage) {
            decodePolicy = load.request.decodePolicy
            (imageKey, checksum) = (load.request.imageKey, encodedImage.provenance.checksum)
        }
    }
}

extension ImageLoader.Output {
    /// The output for an image that was in memory.
    init(fromMemory image: Image, steps: [LoadTrace.Step] = []) {
        self.init(image: image, source: .memory, encodedImage: nil, steps: steps)
    }

    /// The output for a rendition of an encoded image.
    init(_ rendition: DecodeStage.Rendition, of encodedImage: EncodedImage) {
        self.init(
            image: rendition.image,
            source: encodedImage.source,
            encodedImage: encodedImage,
            steps: encodedImage.steps + rendition.steps
        )
    }

    /// The output for an image whose bytes are still valid.
    init(unchanged image: Image, confirmedBy encodedImage: EncodedImage) {
        self.init(
            image: image,
            source: encodedImage.source,
            encodedImage: encodedImage,
            steps: encodedImage.steps,
            isUnchanged: true
        )
    }
}
