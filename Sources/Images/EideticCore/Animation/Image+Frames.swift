// MARK: All frames
extension Image {
    /// Returns the image with all frames of the animation that it is the first frame of, as an encoder needs them.
    ///
    /// - Parameter limit: The limit of the memory of all frames.
    /// - Returns: The image; it no longer plays from its bytes.
    /// - Throws: `limitExceeded`; `invalidArgument` while frames are still arriving; the error that has ended the
    ///   animation before its last frame; `cancelled`.
    nonisolated(nonsending) package func withAllFrames(within limit: ByteCount) async throws(EideticError) -> Image {
        guard let animation = streamed else { return self }
        let info = animation.info
        if let failure = animation.failure { throw failure }
        guard info.isComplete else {
            throw EideticError(.invalidArgument, message: "\(self): frames of the animation are still arriving")
        }
        let byteCount = ByteCount(animation.frameByteCount * info.frameCount)
        guard byteCount <= limit else {
            throw EideticError(.limitExceeded, message: "\(self): \(byteCount) decoded; the limit is \(limit)")
        }
        var frames: [Frame] = []
        for (index, duration) in info.durations.enumerated() {
            frames.append(Frame(pixels: try await animation.frame(at: index), duration: duration))
        }
        return replacingFrames(frames)
    }

    /// Returns the image with all frames; blocks the calling thread, which must not belong to the cooperative pool.
    package func withAllFramesSynchronously(within limit: ByteCount) throws(EideticError) -> Image {
        guard streamed != nil else { return self }
        let result = Monitor<Result<Image, EideticError>?>(nil)
        Task.detached {
            let outcome: Result<Image, EideticError>
            do throws(EideticError) { outcome = .success(try await withAllFrames(within: limit)) } catch {
                outcome = .failure(error)
            }
            result.withLock { $0 = outcome }
            result.broadcast()
        }
        return try result.wait { $0 }.get()
    }
}
