import EideticCodecs
import EideticCore
import EideticFetch
import EideticHTTP
import EideticStore
import Synchronization

/// The encoded bytes of an image, with the source they came from, and the write to disk that is still to come.
final class EncodedImage: Sendable {
    /// A function that is called with the checksum of new bytes; `isRepeated` from the second call on.
    typealias ReplacementHandler = @Sendable (_ checksum: UInt64, _ isRepeated: Bool) -> Void

    /// A function that makes the placeholder that is stored with the bytes; `nil` if there is none.
    typealias PlaceholderMaker = @Sendable () async -> ImagePlaceholder?

    /// A function that begins to write the bytes to disk, and returns the function that completes the write.
    ///
    /// The background task that covers the write starts in the first of them, so it must be called as soon as the write
    /// is decided.
    typealias Writer = @Sendable (_ makePlaceholder: @escaping PlaceholderMaker) -> Completion
    /// A function that completes a write.
    typealias Completion = @Sendable () async throws(EideticError) -> Void

    /// A function that begins to store the bytes in the shared tier, and returns the function that completes it.
    typealias Publisher = @Sendable () -> @Sendable () async -> Void

    let bytes: [UInt8]
    /// The record of these bytes in the images that are decoded from them.
    let provenance: Image.Provenance
    let source: ImageSource
    /// The steps of the load that brought the bytes.
    let steps: [LoadTrace.Step]
    /// The uptime at which the server's response becomes stale; `nil` if freshness is not limited by the server.
    private let deadline: Duration?
    private let time: any TimeSource
    /// A Boolean value indicating whether the server must be queried while the image is shown.
    let needsRevalidation: Bool
    /// The server that sent the bytes, as the request names it.
    let server: FetchRequest?
    /// The redirects that led to the bytes, and the response that brought them; none if no server sent them.
    let responses: [ResponseFreshness.Response]
    /// The key of the disk entry that has the bytes; `nil` for the key of the request.
    let diskKey: String?
    /// A Boolean value indicating whether they are those of a disk entry that its server has confirmed.
    let isConfirmed: Bool
    /// A Boolean value indicating whether ``writer`` stores the bytes, and does not only remove older ones.
    let isWritten: Bool
    let writer: Writer?
    /// A Boolean value indicating whether the disk may keep images that are made from these bytes.
    let mayBeDerivedFrom: Bool
    let publisher: Publisher?
    /// The lease under which the bytes were loaded; `nil` without one.
    let lease: HeldLease?
    /// The end of the attempt to store the bytes in the shared tier.
    let publication = Promise<Void>()
    /// The entry of the shared tier that had the bytes; `nil` if they came from elsewhere.
    let sharedEntry: DiskCache.Entry?
    /// The share of the bytes in the limit of all bodies in memory; `nil` if they are not counted.
    let share: BodyShare?
    /// A Boolean value indicating whether the bytes have proved to be an image.
    let validation = Atomic(false)
    /// The outcome of the write: the error, `nil` if the bytes were stored.
    let storage = Promise<EideticError?>()
    private let onReplacement: ReplacementHandler?

    /// Creates an encoded image.
    ///
    /// - Parameters:
    ///   - bytes: The encoded bytes.
    ///   - source: The tier that had them.
    ///   - steps: The steps of the load that brought them.
    ///   - timeToLive: The time for which they are fresh; `nil` if the server does not limit it.
    ///   - time: The clock that counts it.
    ///   - needsRevalidation: A Boolean value indicating whether the server must be queried while the image is shown.
    ///   - server: The server that sent them.
    ///   - responses: The redirects that led to the bytes, and the response that brought them.
    ///   - diskKey: The key of the disk entry that has them; `nil` for the key of the request.
    ///   - isConfirmed: A Boolean value indicating whether the server has confirmed the entry on disk that has them.
    ///   - onReplacement: Called when new bytes have proved to be an image, and again when the disk has them.
    ///   - writer: Writes the bytes to disk, or removes older ones; `nil` if nothing on disk changes.
    ///   - publisher: Stores the bytes in the shared tier; `nil` if they are not for other machines.
    ///   - lease: The lease under which the bytes were loaded.
    ///   - isWritten: A Boolean value indicating whether `writer` writes.
    ///   - mayBeDerivedFrom: A Boolean value indicating whether the disk may keep images that are made from them.
    ///   - share: The share of the bytes in the limit of all bodies in memory, released when they have been decoded and
    ///     stored.
    ///   - sharedEntry: The entry of the shared tier that had the bytes.
    init(
        bytes: [UInt8],
        source: ImageSource,
        steps: [LoadTrace.Step],
        timeToLive: Duration? = nil,
        time: any TimeSource = SystemTime(),
        needsRevalidation: Bool = false,
        server: FetchRequest? = nil,
        responses: [ResponseFreshness.Response] = [],
        diskKey: String? = nil,
        isConfirmed: Bool = false,
        onReplacement: ReplacementHandler? = nil,
        writer: Writer? = nil,
        publisher: Publisher? = nil,
        lease: HeldLease? = nil,
        isWritten: Bool = true,
        mayBeDerivedFrom: Bool = false,
        share: BodyShare? = nil,
        sharedEntry: DiskCache.Entry? = nil
    ) {
        self.bytes = bytes
        provenance = Image.Provenance(of: bytes)
        self.source = source
        self.steps = steps
        self.time = time
        deadline = timeToLive.map { time.uptime + $0 }
        self.needsRevalidation = needsRevalidation
        self.server = server
        self.responses = responses
        self.diskKey = diskKey
        self.isConfirmed = isConfirmed
        self.isWritten = isWritten
        self.onReplacement = onReplacement
        self.writer = writer
        self.mayBeDerivedFrom = mayBeDerivedFrom
        self.publisher = publisher
        self.lease = lease
        self.sharedEntry = sharedEntry
        self.share = share
    }

    /// The time for which the server's response is still fresh; `nil` if freshness is not limited by the server.
    var timeToLive: Duration? { deadline.map { max(.zero, $0 - time.uptime) } }

    /// A Boolean value indicating whether the bytes are from the disk cache, so that the source may have better ones.
    var isFromDisk: Bool { source == .disk && steps.last?.stage != .origin }

    /// A Boolean value indicating whether the bytes are from the disk cache or the shared tier.
    var isFromCache: Bool { isFromDisk || source == .shared }

    /// The same bytes as an image that is not stored.
    var detached: EncodedImage {
        EncodedImage(bytes: bytes, source: source, steps: steps, timeToLive: timeToLive, time: time)
    }

    /// Calls the handler of replaced bytes.
    func reportReplacement(isRepeated: Bool) { onReplacement?(provenance.checksum, isRepeated) }
}
