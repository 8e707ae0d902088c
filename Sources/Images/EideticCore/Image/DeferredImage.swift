/// An image that is decoded on first use, once for all its holders (`avoidDecode`).
package final class DeferredImage: Sendable {
    /// Decodes on the calling thread.
    ///
    /// With a context it may first wait for its turn, and it ends when the context is cancelled.
    package typealias DecodeFunction = @Sendable (JobContext?) throws(EideticError) -> Image

    /// Decodes on another thread, coalesced with other requests for the same image.
    package typealias SharedDecodeFunction = @Sendable (DeferredImage) async throws(EideticError) -> Image

    private enum State {
        case pending
        case decoding
        case finished(Result<Image, EideticError>)
    }

    /// The size in pixels that the decoded image will have.
    package let size: PixelSize

    private let decode: DecodeFunction
    private let decodeShared: SharedDecodeFunction
    private let state = Monitor(State.pending)
    /// The replacement for an image that cannot be decoded; created only if it is displayed.
    private let placeholder = Guarded<Image?>(nil)

    package init(size: PixelSize, decode: @escaping DecodeFunction, decodeShared: @escaping SharedDecodeFunction) {
        self.size = size
        self.decode = decode
        self.decodeShared = decodeShared
    }

    /// A Boolean value indicating whether the pixels are decoded; always `false` if decoding failed.
    var isDecoded: Bool { state.withLock { if case .finished(.success) = $0 { true } else { false } } }

    /// The frames; transparent ones if the image cannot be decoded.
    var frames: [Image.Frame] { ((try? image()) ?? transparentImage).frames }

    /// Returns the decoded image: decodes on the calling thread, or waits for the thread that is already decoding.
    package func image(context: JobContext? = nil) throws(EideticError) -> Image { try result(context: context).get() }

    /// Returns the decoded image, decoded on a thread of the pool.
    func imageAsynchronously() async throws(EideticError) -> Image {
        try await isDecoded ? image() : decodeShared(self)
    }

    /// Sets the result to an image that was decoded elsewhere from the same bytes.
    package func fulfill(with image: Image) {
        state.withLock { state in
            // Nobody waits before a decode has started.
            if case .pending = state { state = .finished(.success(image)) }
        }
    }

    /// Returns the result; decodes the image, or waits for the thread that is already decoding.
    ///
    /// The calling thread may belong to the cooperative pool. A thread that is already decoding may itself wait for
    /// memory that other decodes hold, and for nothing else.
    private func result(context: JobContext?) -> Result<Image, EideticError> {
        let finished: Result<Image, EideticError>?? = state.wait { state in
            switch state {
            case .finished(let result): return .some(result)
            case .decoding: return nil
            case .pending:
                state = .decoding
                return .some(nil)
            }
        }
        if let finished = finished ?? nil { return finished }
        do throws(EideticError) {
            let image = try decode(context)
            transition(to: .finished(.success(image)))
            return .success(image)
        } catch {
            // A later caller may still decode.
            guard error.code != .cancelled else { transition(to: .pending); return .failure(error) }
            Log.write(
                .error,
                category: .codecs,
                message: "an image that was loaded with avoidDecode cannot be decoded: \(error)"
            )
            transition(to: .finished(.failure(error)))
            return .failure(error)
        }
    }

    private var transparentImage: Image {
        placeholder.withLock { [size] placeholder in
            let image = placeholder ?? .transparent(size: size)
            placeholder = image
            return image
        }
    }

    private func transition(to newState: State) {
        state.withLock { $0 = newState }
        state.broadcast()
    }
}

extension Image {
    fileprivate static func transparent(size: PixelSize) -> Image {
        Image(frames: [Frame(pixels: .transparent(size: size))], format: .png, sourceSize: size)
    }
}
