package import EideticCodecs
public import EideticCore
package import EideticHTTP
import EideticStore
public import FoundationEssentials

/// A loaded image, with its source and the trace of the load.
public struct ImageResponse: Sendable {
    /// The image, decoded; it can be drawn without further work.
    ///
    /// With `avoidDecode` an image that was not in memory is decoded on first use; see `Image.decoded()`.
    public internal(set) var image: Image

    /// The header of an image loaded with `avoidDecode`; otherwise `nil`.
    package internal(set) var header: ImageHeader?

    /// The place that the image came from.
    public let source: ImageSource

    /// The number of encoded bytes.
    public let byteCount: ByteCount

    /// The encoded bytes; `nil` for an image from memory, unless the request includes them and a cache has them.
    public internal(set) var encodedBytes: [UInt8]?

    /// The error of writing the bytes to disk; set only if the request waits for storage.
    public internal(set) var storeError: EideticError?

    /// The result of revalidating the cached image; `nil` without `refreshCached`, or if no cache had the image.
    public internal(set) var revalidation: Revalidation?

    /// The steps of the load with their times.
    public internal(set) var trace: LoadTrace

    /// The header fields of the response that brought the bytes, as the disk cache keeps them; none for an image from
    /// memory.
    package internal(set) var fields: [HTTPField] = []

    /// A Boolean value indicating whether a server sent the bytes although they were those of the cached image.
    var isTransferred = false

    /// A Boolean value indicating whether the disk had the image in its size and transformed.
    var isDerived = false

    /// A Boolean value indicating whether the image is the displayed one, which is still valid.
    var isUnchanged = false

    /// The bytes, until the load ends: they may still be on their way to the disk.
    ///
    /// `nil` if the image was in memory, or made from another one.
    var data: EncodedImage?

    /// The result of revalidating a cached image with its server.
    public enum Revalidation: Sendable {
        /// The cached image is still valid.
        case unchanged
        /// The server sent a new image, which the response contains.
        case changed
        /// The revalidation failed; the response contains the cached image.
        case failed(EideticError)
    }
}

extension ImageResponse {
    /// Creates a response, for an ``ImageInterceptor`` that responds itself.
    ///
    /// - Parameters:
    ///   - image: The image.
    ///   - source: The place that the image came from.
    ///   - encodedBytes: The encoded bytes; without them ``byteCount`` is the encoded size that the image records.
    public init(_ image: Image, source: ImageSource, encodedBytes: (any ContiguousBytes)? = nil) {
        let encodedBytes = encodedBytes?.array
        self.init(
            image: image,
            source: source,
            byteCount: encodedBytes.map { ByteCount($0.count) } ?? image.encodedSize,
            encodedBytes: encodedBytes,
            trace: LoadTrace(steps: [])
        )
    }
}

extension ImageResponse {
    /// Creates the response for an image that was made by these steps, from `data` if they were needed.
    init(
        _ image: Image,
        source: ImageSource,
        data: EncodedImage? = nil,
        steps: [LoadTrace.Step],
        header: ImageHeader? = nil
    ) {
        self.init(
            image: image,
            header: header,
            source: source,
            byteCount: image.encodedSize,
            encodedBytes: data?.bytes,
            trace: LoadTrace(steps: (data?.steps ?? []) + steps),
            fields: data?.facts.fields ?? [],
            data: data
        )
    }
}

extension ImageResponse: CustomStringConvertible {
    /// The response on one line, as in `jpeg 400x300 of 4000x3000, 1.2 MB from the network in 84.5 ms`.
    ///
    /// The outcome of a revalidation and an error of the disk cache follow, if there are any.
    public var description: String {
        ["\(image)", "\(byteCount) \(source.phrase) in \(trace.duration.millisecondText)", revalidation?.phrase]
            .compactMap(\.self)
            .joined(separator: ", ") + (storeError.map { ", not stored: \($0.message)" } ?? "")
    }
}

extension ImageResponse {
    func log(to request: ImageRequest) {
        Log.write(.info, category: .pipeline, message: "\(request.name): \(image.size) from \(source)")
        Log.write(
            .debug,
            category: .pipeline,
            message: "\(request.name): \(trace.description.split(separator: "\n").joined(separator: "; "))"
        )
    }
}

extension ImageSource {
    fileprivate var phrase: String {
        switch self {
        case .memory: "from memory"
        case .disk: "from disk"
        case .provider: "from its provider"
        case .shared: "from a shared cache"
        case .network: "from the network"
        }
    }
}

extension ImageResponse.Revalidation {
    fileprivate var phrase: String {
        switch self {
        case .unchanged: "unchanged"
        case .changed: "changed"
        case .failed(let error): "not revalidated: \(error.message)"
        }
    }
}
