public import EideticCore
import EideticFetch

/// The memory cache, searched before anything else: synchronously, on the caller's thread.
extension ImagePipeline {
    /// Returns the image if it is in memory now; returns at once, on any thread.
    ///
    /// - Complexity: O(1), with one short lock and without allocation; O(*n*), with a request for each, if the image
    ///   has *n* candidate files. The configuration's request processors are called as well.
    public func cachedImage(for request: ImageRequest) -> Image? {
        guard !isPlain else {
            guard request.allowsMemory else { return nil }
            return memory.decodedImage(for: request.imageKey) ?? cachedCandidate(for: request)?.image
        }
        return (try? processed(request)).flatMap {
            $0.allowsMemory ? memory.decodedImage(for: $0.imageKey) ?? cachedCandidate(for: $0)?.image : nil
        }
    }

    /// Returns the largest image of the same bytes that is in memory now, whatever its size.
    ///
    /// It can be shown until the requested image is loaded.
    public func cachedPreview(for request: ImageRequest) -> Image? {
        guard let request = try? processed(request) else { return nil }
        return request.baseKey.flatMap { memory.largestImage(forBase: $0) } ?? cachedCandidatePreview(for: request)
    }

    /// Returns the response of a load that needs no other thread; otherwise, `nil`.
    func synchronousResponse(for request: ImageRequest) -> ImageResponse? {
        guard let request = synchronousRequest(for: request), let response = cachedResponse(for: request) else {
            return nil
        }
        counters.countLoad()
        counters.count(response)
        return response
    }

    /// Returns whether a new load would be answered from memory before its call returns.
    func respondsSynchronously(to request: ImageRequest) -> Bool {
        synchronousRequest(for: request).flatMap { try? memoryResponse(for: $0) } != nil
    }

    /// Returns the response from memory; `nil` if the image is not there.
    ///
    /// - Throws: `unsupportedFormat` if the image in memory is not animated, and the options require that.
    func memoryResponse(for request: ImageRequest) throws(EideticError) -> ImageResponse? {
        let timer = StepTimer()
        guard let image = imageInMemory(for: request) else { return nil }
        try check(image, against: request.options)
        return ImageResponse(fromMemory: image, step: timer.step(.memory, detail: "hit"))
    }

    private func imageInMemory(for request: ImageRequest) -> Image? {
        guard !request.options.contains(.fromLoaderOnly), request.allowsMemory else { return nil }
        return memory.decodedImage(for: request.imageKey) ?? cachedCandidate(for: request)?.image
    }

    /// Returns the processed request; `nil` if its load must suspend.
    private func synchronousRequest(for request: ImageRequest) -> ImageRequest? {
        guard configuration.interceptors.isEmpty, let request = try? processed(request),
            request.options.isDisjoint(with: [.queryMemoryData, .refreshCached])
        else { return nil }
        guard request.options.contains(.waitStoreCache) else { return request }
        let file = cachedCandidate(for: request)?.request ?? request
        return dataLoader.unstoredImage(for: file) == nil ? request : nil
    }

    /// Returns the response from memory or, with `queryDiskDataSync`, from disk.
    private func cachedResponse(for request: ImageRequest) -> ImageResponse? {
        if var response = try? memoryResponse(for: request) {
            if request.options.contains(.queryMemoryDataSync) {
                let file = cachedCandidate(for: request)?.request ?? request
                response.encodedBytes = dataLoader.cachedBytesSynchronously(for: file)
            }
            return response
        }
        guard request.options.contains(.queryDiskDataSync), !request.options.contains(.fromLoaderOnly),
            let output = sufficientFiles(for: request).lazy
                .compactMap({ self.imageLoader.imageSynchronously(for: $0) }).first,
            (try? check(output.image, against: request.options)) != nil
        else { return nil }
        return ImageResponse(output)
    }
}

extension ImageResponse {
    fileprivate init(fromMemory image: Image, step: LoadTrace.Step) {
        self.init(
            image: image,
            source: .memory,
            byteCount: image.encodedSize,
            encodedBytes: nil,
            trace: LoadTrace(steps: [step])
        )
    }

    /// Creates the response for a loaded image.
    init(_ output: ImageLoader.Output) {
        self.init(
            image: output.image,
            header: output.header,
            source: output.source,
            byteCount: output.image.encodedSize,
            encodedBytes: output.encodedImage?.bytes,
            trace: LoadTrace(steps: output.steps)
        )
    }
}
