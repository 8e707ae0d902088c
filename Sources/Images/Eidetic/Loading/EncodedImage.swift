import EideticStore

/// The encoded bytes of an image, with the source they came from, and what is still to be stored of them.
struct EncodedImage: Sendable {
    /// The bytes and their origin; an object, because each stage of a load hands it along.
    private final class Content: Sendable {
        let bytes: [UInt8]
        let provenance: Image.Provenance
        let source: ImageSource
        let steps: [LoadTrace.Step]
        let facts: Facts

        init(_ bytes: [UInt8], from source: ImageSource, steps: [LoadTrace.Step], facts: Facts) {
            self.bytes = bytes
            provenance = Image.Provenance(of: bytes)
            self.source = source
            self.steps = steps
            self.facts = facts
        }
    }

    /// The facts that the place tells in which the bytes were found.
    struct Facts: Sendable {
        var freshness = Freshness(nil)
        /// A Boolean value indicating whether the server must be queried while the image is shown.
        var needsRevalidation = false
        var isTransferred = false
        /// The redirects that led to the bytes, and the response that brought them; none if no server sent them.
        var responses: [ResponseFreshness.Response] = []
        /// The header fields of the response that brought the bytes, now or before; none if no server sent them.
        var fields: [HTTPField] = []
        /// The key of the disk entry that has the bytes; `nil` for the key of the request.
        var diskKey: String?
        /// A Boolean value indicating whether they are those of a disk entry that its server has confirmed.
        var isConfirmed = false
        /// A Boolean value indicating whether the disk may keep images that are made from these bytes.
        var mayBeDerivedFrom = false
        /// The entry of the shared tier that had the bytes; `nil` if they came from elsewhere.
        var sharedEntry: DiskCache.Entry?
    }

    private let content: Content
    /// The plan of what is stored of the bytes, which all copies share; `nil` if they do not belong to a load.
    var storage: StoragePlan?

    /// Creates an encoded image, of which nothing is to be stored.
    init(
        _ bytes: [UInt8],
        from source: ImageSource,
        steps: [LoadTrace.Step] = [],
        facts: Facts = Facts()
    ) {
        content = Content(bytes, from: source, steps: steps, facts: facts)
    }

    var bytes: [UInt8] { content.bytes }

    var provenance: Image.Provenance { content.provenance }

    var source: ImageSource { content.source }

    var steps: [LoadTrace.Step] { content.steps }

    var facts: Facts { content.facts }

    /// The time for which the server's response is still fresh; `nil` if freshness is not limited by the server.
    var timeToLive: Duration? { facts.freshness.remainder }

    /// A Boolean value indicating whether the bytes are from the disk cache, so that the source may have better ones.
    var isFromDisk: Bool { source == .disk && steps.last?.stage != .origin }

    var isFromCache: Bool { isFromDisk || source == .shared }

    /// A Boolean value indicating whether the bytes have proved to be an image.
    var isValidated: Bool { storage?.isCommitted ?? false }

    /// The same bytes as an image that is not stored.
    var detached: EncodedImage {
        var image = self
        image.storage = nil
        return image
    }

    /// A time for which bytes are fresh.
    struct Freshness: Sendable {
        private let deadline: Duration?
        private let time: any TimeSource

        /// Begins a time; `nil` if the server does not limit it.
        init(_ timeToLive: Duration?, time: any TimeSource = SystemTime()) {
            self.time = time
            deadline = timeToLive.map { time.uptime + $0 }
        }

        var remainder: Duration? { deadline.map { max(.zero, $0 - time.uptime) } }
    }
}
