import EideticCore
import EideticFetch
import EideticStore

/// Images with several candidate files.
///
/// A request for such an image becomes a request for the selected file, with the identity of that file.
extension ImagePipeline {
    /// Returns the image in memory of an acceptable candidate, and the request for that candidate.
    func cachedCandidate(for request: ImageRequest) -> (request: ImageRequest, image: Image)? {
        guard let selection = selection(for: request) else { return nil }
        return selection.acceptable.lazy.map { request.selecting($0) }.compactMap { request in
            self.memory.image(for: request.imageKey).map { (request, $0) }
        }.first
    }

    /// Returns requests for the candidates that are large enough, or the request itself if it names one file.
    func sufficientFiles(for request: ImageRequest) -> [ImageRequest] {
        selection(for: request).map { $0.sufficient.map { request.selecting($0) } } ?? [request]
    }

    /// Returns the image of the largest candidate in memory, whatever its size.
    func cachedCandidatePreview(for request: ImageRequest) -> Image? {
        guard let selection = selection(for: request) else { return nil }
        return selection.candidates.reversed().lazy.compactMap { candidate in
            request.selecting(candidate).baseKey.flatMap { self.memory.largestImage(forBase: $0) }
        }.first
    }

    /// Returns the selection among the candidates; `nil` if the request names one file.
    func selection(for request: ImageRequest) -> CandidateSelection? {
        guard case .candidates(let candidates) = request.resource else { return nil }
        let (rendering, timeLimit) = (request.rendering, configuration.candidateTimeLimit)
        return CandidateSelection(among: candidates, for: rendering, timeLimit: timeLimit) { [configuration] origin in
            configuration.downloader.speed(of: origin)
        }
    }

    /// Returns the candidates in the order in which they are tried.
    func order(of selection: CandidateSelection, for request: ImageRequest) async -> [ImageCandidate] {
        var cached: ImageCandidate?
        if LoadPolicy.prefersCachedCandidate(request.options) {
            for candidate in selection.sufficient where cached == nil {
                if await isCached(request.selecting(candidate)) { cached = candidate }
            }
        }
        return selection.order { $0 == cached }
    }

    private func isCached(_ request: ImageRequest) async -> Bool {
        let (rendering, key) = (request.rendering, request.imageKey)
        let image = request.baseKey.map {
            memory.image(for: key, base: $0, size: rendering.size, mode: rendering.contentMode)
        }
        if (image ?? memory.image(for: key)) != nil { return true }
        if (try? await configuration.diskCache?.contains(request.resourceKey)) == true { return true }
        return await imageLoader.hasDerivedImage(for: Load(request))
    }

    /// The measured speed of a candidate's host, for a trace.
    func speedDescription(of candidate: ImageCandidate) -> String {
        guard let speed = configuration.downloader.speed(of: candidate.request.origin) else {
            return "its host not measured"
        }
        return "its host at \(ByteCount(Int(speed)))/s"
    }
}

extension ImageRequest {
    /// Returns the request for one of the candidates.
    func selecting(_ candidate: ImageCandidate) -> ImageRequest {
        var request = ImageRequest(
            .remote(candidate.request),
            rendering: rendering,
            options: options,
            ignoredQueryItems: ignoredQueryItems
        )
        (request.priority, request.cacheAccess, request.decodePolicy) = (priority, cacheAccess, decodePolicy)
        return request
    }
}
