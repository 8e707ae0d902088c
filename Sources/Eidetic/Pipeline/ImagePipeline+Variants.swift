import EideticCore
import EideticFetch

/// Pictures that are there in several files.
///
/// A request for one of them becomes a request for the file that is chosen, and has that one's identity from there on.
extension ImagePipeline {
    /// Answers with the first of the request's files that can be had; with the request itself where it names one.
    func answer(
        _ request: ImageRequest,
        _ body: (ImageRequest) async throws(EideticError) -> ImageResponse
    ) async throws(EideticError) -> ImageResponse {
        guard let choice = choice(request) else { return try await body(request) }
        let timer = StepTimer()
        let files = await inOrder(choice, request)
        var steps = [
            timer.step(.choice, detail: files.first.map { "\($0.size) of \(files.count), \(note($0))" } ?? "none")
        ]
        var last = EideticError(.invalidArgument, message: "a list of files has none")
        for file in files {
            let timer = StepTimer()
            do throws(EideticError) {
                var response = try await body(request.file(file))
                response.trace.steps.insert(contentsOf: steps, at: 0)
                return response
            } catch  where error.code != .cancelled {
                last = error
                steps.append(timer.step(.choice, detail: "\(file.size) failed: \(error)"))
            }
        }
        throw last
    }

    /// The picture in memory of a file that would be taken now, and the request for that file.
    func cachedVariant(_ request: ImageRequest) -> (file: ImageRequest, image: Image)? {
        guard let choice = choice(request) else { return nil }
        return choice.acceptable.lazy.map { request.file($0) }.compactMap { file in
            self.memory.image(for: file.imageKey).map { (file, $0) }
        }.first
    }

    /// Requests for those of the files that have the pixels that are wanted; the request itself where it names one file.
    func sufficientFiles(_ request: ImageRequest) -> [ImageRequest] {
        choice(request).map { $0.sufficient.map { request.file($0) } } ?? [request]
    }

    /// The picture of the largest of the files that memory has, in whatever size.
    func cachedVariantPreview(_ request: ImageRequest) -> Image? {
        guard let choice = choice(request) else { return nil }
        return choice.candidates.reversed().lazy.compactMap { file in
            request.file(file).baseKey.flatMap { self.memory.largestImage(forBase: $0) }
        }.first
    }

    private func choice(_ request: ImageRequest) -> CandidateSelection? {
        guard case .candidates(let variants) = request.resource else { return nil }
        return CandidateSelection(among: variants, for: request.rendering, timeLimit: configuration.candidateTimeLimit)
        { [configuration] origin in
            configuration.downloader.speed(of: origin)
        }
    }

    private func inOrder(_ choice: CandidateSelection, _ request: ImageRequest) async -> [ImageCandidate] {
        var cached: ImageCandidate?
        if !request.options.contains(.fromLoaderOnly) {
            for file in choice.sufficient where cached == nil {
                if await isCached(request.file(file)) { cached = file }
            }
        }
        return choice.order { $0 == cached }
    }

    private func isCached(_ request: ImageRequest) async -> Bool {
        let (rendering, key) = (request.rendering, request.imageKey)
        let image = request.baseKey.map {
            memory.image(for: key, base: $0, size: rendering.size, mode: rendering.contentMode)
        }
        if (image ?? memory.image(for: key)) != nil { return true }
        return (try? await configuration.diskCache?.containsValue(for: request.resourceKey)) ?? false
    }

    private func note(_ file: ImageCandidate) -> String {
        guard let speed = configuration.downloader.speed(of: file.request.origin) else {
            return "its host not measured"
        }
        return "its host at \(ByteCount(Int(speed)))/s"
    }
}

extension ImageRequest {
    /// The same for one of its files.
    fileprivate func file(_ variant: ImageCandidate) -> ImageRequest {
        var request = ImageRequest(
            .remote(variant.request),
            rendering: rendering,
            options: options,
            ignoredQueryItems: ignoredQueryItems
        )
        request.priority = priority
        return request
    }
}
