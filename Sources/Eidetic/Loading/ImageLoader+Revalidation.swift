import EideticCore
import EideticFetch

extension ImageLoader {
    /// The result of a revalidation.
    enum Revalidation: Sendable {
        /// The displayed image is still valid; `isTransferred` if the server sent its bytes again.
        case unchanged(LoadTrace.Step, isTransferred: Bool)
        /// The server has another image.
        case changed(Output)
    }

    /// Revalidates a displayed image with its server, and decodes the new one if it has changed.
    ///
    /// - Parameters:
    ///   - request: The request for the image.
    ///   - displayed: The image as it is displayed.
    ///   - isReload: A Boolean value indicating whether caches on the way have to revalidate as well.
    ///   - context: The priority of the caller.
    ///   - onProgress: Called as bytes are received.
    /// - Returns: The result.
    /// - Throws: The errors of the source and of the decoder.
    func revalidate(
        _ request: ImageRequest,
        displayed: Image,
        isReload: Bool,
        context: JobContext,
        onProgress: (@Sendable (FetchProgress) -> Void)?
    ) async throws(EideticError) -> Revalidation {
        let checksum = displayed.encodedChecksum
        let key = RevalidationKey(
            imageKey: request.imageKey,
            dataKey: request.dataKey,
            displayed: checksum,
            isReload: isReload
        )
        return try await revalidations.value(for: key, context: context, onProgress: onProgress) {
            job throws(EideticError) in
            let dataJob = ImageDataLoader.Job(request: request, cachePolicy: .sourceOnly, context: job.context) {
                if $0.isReported { job.report($0.progress) }
            }
            return try await self.revalidate(dataJob, key: key)
        }
    }

    private func revalidate(
        _ job: ImageDataLoader.Job,
        key: RevalidationKey
    ) async throws(EideticError) -> Revalidation {
        try await gate.waitUntilOpen(for: job.context)
        let start = renditions.startLoad(of: job.request.resourceKey)
        defer { renditions.endLoad(of: job.request.resourceKey) }
        switch try await dataLoader.revalidate(job, displayed: key.displayed, isReload: key.isReload) {
        case .unchanged(let step, let isTransferred): return .unchanged(step, isTransferred: isTransferred)
        case .changed(let encodedImage):
            // Decoded whatever the options: only bytes that have proved to be an image replace others.
            let rendering = Job(
                request: job.request.decodingImmediately,
                cachePolicy: job.cachePolicy,
                context: job.context,
                report: { _ in },
                start: start
            )
            return .changed(try await render(encodedImage, for: rendering))
        }
    }
}
