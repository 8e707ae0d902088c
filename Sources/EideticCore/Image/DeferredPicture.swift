/// A picture whose pixels are made when somebody uses them: once, for all who hold it (`avoidDecode`).
package final class DeferredPicture: Sendable {
    /// Decodes on the calling thread; with a context it may wait there for its turn, and ends when that is cancelled.
    package typealias Decode = @Sendable (WorkContext?) throws(EideticError) -> Image

    /// Has it decoded elsewhere, together with all who want the same.
    package typealias Share = @Sendable (DeferredPicture) async throws(EideticError) -> Image

    private enum State {
        case waiting
        case decoding
        case ended(Result<Image, EideticError>)
    }

    /// The size in pixels that it will have.
    package let size: PixelSize

    private let decode: Decode
    private let share: Share
    private let state = Monitor(State.waiting)
    /// What is shown in place of a picture that cannot be decoded; made only where somebody shows it.
    private let standIn = Guarded<Image?>(nil)

    package init(size: PixelSize, decode: @escaping Decode, share: @escaping Share) {
        self.size = size
        self.decode = decode
        self.share = share
    }

    /// Whether the pixels are there; never where they cannot be made.
    var isDecoded: Bool { state.withLock { if case .ended(.success) = $0 { true } else { false } } }

    /// The frames; transparent ones where the picture cannot be decoded.
    var frames: [Image.Frame] { ((try? picture()) ?? shownInstead).frames }

    /// Decodes on the calling thread, or waits for the thread that does so already.
    package func picture(_ context: WorkContext? = nil) throws(EideticError) -> Image { try outcome(context).get() }

    /// Has it decoded where that disturbs nobody.
    func pictureLater() async throws(EideticError) -> Image { try await isDecoded ? picture() : share(self) }

    /// Takes over what another one has made of the same bytes.
    package func adopt(_ image: Image) {
        state.withLock { state in
            if case .waiting = state { state = .ended(.success(image)) }
        }
        state.broadcast()
    }

    /// Blocks whoever asked for the pixels, also a thread of the cooperative pool; who decodes already may wait for memory
    /// that other decodes hold, and for nothing else.
    private func outcome(_ context: WorkContext?) -> Result<Image, EideticError> {
        let known: Result<Image, EideticError>?? = state.wait { state in
            switch state {
            case .ended(let result): return .some(result)
            case .decoding: return nil
            case .waiting:
                state = .decoding
                return .some(nil)
            }
        }
        if let known = known ?? nil { return known }
        do throws(EideticError) {
            let image = try decode(context)
            end(.ended(.success(image)))
            return .success(image)
        } catch {
            // Whoever comes next may want it all the same.
            guard error.code != .cancelled else { end(.waiting); return .failure(error) }
            Log.write(.error, .codecs, "a picture that was delivered without being decoded: \(error)")
            end(.ended(.failure(error)))
            return .failure(error)
        }
    }

    private var shownInstead: Image {
        standIn.withLock { [size] standIn in
            let image = standIn ?? .transparent(size)
            standIn = image
            return image
        }
    }

    private func end(_ end: State) {
        state.withLock { $0 = end }
        state.broadcast()
    }
}

extension Image {
    fileprivate static func transparent(_ size: PixelSize) -> Image {
        Image(frames: [Frame(pixels: .transparent(size))], format: .png, sourceSize: size)
    }
}
