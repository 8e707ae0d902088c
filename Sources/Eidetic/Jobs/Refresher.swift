import EideticCore
import EideticFetch
import EideticStore

/// Asks the server whether a cached picture is still right, once for all who want to know (L11).
final class Refresher: Sendable {
    /// What the server said.
    enum Outcome: Sendable {
        /// The cached picture is still right.
        case unchanged(LoadRecord.Step)
        /// There is another one.
        case changed(LoadedPicture)
    }

    private let disk: DiskCache?
    private let originals: OriginalLoader
    private let pictures: PictureLoader
    private let jobs = SharedWork<CacheKey, FetchProgress, Outcome>()

    init(_ configuration: ImagePipeline.Configuration, _ originals: OriginalLoader, _ pictures: PictureLoader) {
        disk = configuration.diskCache
        self.originals = originals
        self.pictures = pictures
    }

    func outcome(
        for request: ImageRequest,
        context: WorkContext,
        onProgress: (@Sendable (FetchProgress) -> Void)?
    ) async throws(EideticError) -> Outcome {
        try await jobs.value(for: request.pictureKey, context: context, onProgress: onProgress) {
            job throws(EideticError) in
            try await self.ask(request, job.context, job.report)
        }
    }

    private func ask(
        _ request: ImageRequest,
        _ context: WorkContext,
        _ report: @escaping @Sendable (FetchProgress) -> Void
    ) async throws(EideticError) -> Outcome {
        let entry = try? await disk?.value(for: request.originalKey, allowingExpired: true)
        let answer = try await originals.ask(request, entry, context, report)
        guard let bytes = answer.bytes else {
            if let entry { await originals.keepOn(entry, answer.fields, request) }
            return .unchanged(answer.step)
        }
        if let entry, entry.bytes == bytes {
            await originals.keepOn(entry, answer.fields, request)
            return .unchanged(answer.step)
        }
        let original = originals.original(bytes, answer, request)
        return .changed(try await pictures.render(request, original, context))
    }
}
