/// A picture whose pixels are made when somebody uses them: once, for all who hold it (`avoidDecode`).
package final class DeferredImage: Sendable {
    /// Decodes on the calling thread; with a context it may wait there for its turn, and ends when that is cancelled.
    package typealias DecodeFunction = @Sendable (JobContext?) throws(EideticError) -> Image

    /// Has it decoded elsewhere, together with all who want the same.
    package typealias SharedDecodeFunction = @Sendable (DeferredImage) async throws(EideticError) -> Image

    private enum State {
        case pending
        case decoding
        case finished(Result<Image, EideticError>)
    }

    /// The size in pixels that it will have.
    package let size: PixelSize

    private let decode: DecodeFunction
    private let decodeShared: SharedDecodeFunction
    private let state = Monitor(State.pending)
    /// What is shown in place of a picture that cannot be decoded; made only where somebody shows it.
    private let placeholder = Guarded<Image?>(nil)

    package init(size: PixelSize, decode: @escaping DecodeFunction, decodeShared: @escaping SharedDecodeFunction) {
        self.size = size
        self.decode = decode
        self.decodeShared = decodeShared
    }

    /// Whether the pixels are there; never where they cannot be made.
    var isDecoded: Bool { state.withLock { if case .finished(.success) = $0 { true } else { false } } }

    /// The frames; transparent ones where the picture cannot be decoded.
    var frames: [Image.Frame] { ((try? image()) ?? transparentImage).frames }

    /// Decodes on the calling thread, or waits for the thread that does so already.
    package func image(context: JobContext? = nil) throws(EideticError) -> Image { try result(context: context).get() }

    /// Has it decoded where that disturbs nobody.
    func imageAsynchronously() async throws(EideticError) -> Image {
        try await isDecoded ? image() : decodeShared(self)
    }

    /// Takes over what another one has made of the same bytes.
    package func fulfill(with image: Image) {
        state.withLock { state in
            if case .pending = state { state = .finished(.success(image)) }
        }
        state.broadcast()
    }

    /// Blocks whoever asked for the pixels, also a thread of the cooperative pool; who decodes already may wait for memory
    /// that other decodes hold, and for nothing else.
    private func result(context: JobContext?) -> Result<Image, EideticError> {
        let known: Result<Image, EideticError>?? = state.wait { state in
            switch state {
            case .finished(let result): return .some(result)
            case .decoding: return nil
            case .pending:
                state = .decoding
                return .some(nil)
            }
        }
        if let known = known ?? nil { return known }
        do throws(EideticError) {
            let image = try decode(context)
            transition(to: .finished(.success(image)))
            return .success(image)
        } catch {
            // Whoever comes next may want it all the same.
            guard error.code != .cancelled else { transition(to: .pending); return .failure(error) }
            Log.write(
                .error,
                category: .codecs,
                message: "a picture that was delivered without being decoded: \(error)"
            )
            transition(to: .finished(.failure(error)))
            return .failure(error)
        }
    }

    private var transparentImage: Image {
        placeholder.withLock { [size] standIn in
            let image = standIn ?? .transparent(size: size)
            standIn = image
            return image
        }
    }

    private func transition(to end: State) {
        state.withLock { $0 = end }
        state.broadcast()
    }
}

extension Image {
    fileprivate static func transparent(size: PixelSize) -> Image {
        Image(frames: [Frame(pixels: .transparent(size: size))], format: .png, sourceSize: size)
    }
}
