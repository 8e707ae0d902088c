import EideticCore
import EideticFetch
import EideticStore

/// Asks the server whether a cached picture is still right, once for all who want to know (L11).
final class Refresher: Sendable {
    /// What the server said.
    enum Outcome: Sendable {
        /// The cached picture is still right; `isTransferred` where the server sent it all the same.
        case unchanged(LoadTrace.Step, isTransferred: Bool)
        /// There is another one.
        case changed(Output)
    }

    private let disk: DiskCache?
    private let originals: ImageDataLoader
    private let pictures: ImageLoader
    private let gate: InteractionGate
    private let jobs = TaskCoalescer<Key, FetchProgress, Outcome>()

    private struct Key: Hashable {
        let picture: CacheKey
        let transfer: ImageRequest.DataKey
        let shown: UInt64?
    }

    init(
        _ configuration: ImagePipeline.Configuration,
        _ gate: InteractionGate,
        _ originals: ImageDataLoader,
        _ pictures: ImageLoader
    ) {
        self.gate = gate
        disk = configuration.diskCache
        self.originals = originals
        self.pictures = pictures
    }

    /// Asks, and compares with the picture that is shown: what the disk has may be newer than that.
    func outcome(
        for request: ImageRequest,
        shown: Image,
        context: JobContext,
        onProgress: (@Sendable (FetchProgress) -> Void)?
    ) async throws(EideticError) -> Outcome {
        let checksum = shown.encodedChecksum
        let key = Key(picture: request.imageKey, transfer: request.dataKey, shown: checksum)
        return try await jobs.value(for: key, context: context, onProgress: onProgress) { job throws(EideticError) in
            try await self.ask(request, checksum, job.context) { if $0.isReported { job.report($0.progress) } }
        }
    }

    /// Jobs that are under way.
    var running: Int { jobs.activeJobCount }

    private func ask(
        _ request: ImageRequest,
        _ shown: UInt64?,
        _ context: JobContext,
        _ report: @escaping @Sendable (DataChunk) -> Void
    ) async throws(EideticError) -> Outcome {
        try await gate.pass(context)
        let start = pictures.derived.begin(request.resourceKey)
        defer { pictures.derived.end(request.resourceKey) }
        let entry = try? await disk?.value(for: request.resourceKey, allowingExpired: true)
        let answer = try await originals.ask(request, entry, context, report)
        let confirmed = entry.flatMap { entry in
            answer.bytes == nil || answer.bytes == entry.bytes ? entry : nil
        }
        if let confirmed { await originals.keepOn(confirmed, answer.fields, request) }
        guard let bytes = answer.bytes ?? confirmed?.bytes else {
            throw EideticError(
                .badResponse,
                message: "\(request.name): status 304 without a condition",
                httpStatus: 304
            )
        }
        if bytes.withUnsafeBytes({ Checksum.value(of: $0) }) == shown {
            // The disk has nothing, or other bytes.
            if confirmed == nil { originals.original(bytes, answer, request).storeOnce() }
            return .unchanged(answer.step, isTransferred: answer.isTransferred)
        }
        let original =
            confirmed.map { originals.confirmed($0, answer, request) } ?? originals.original(bytes, answer, request)
        // Decoded in any case: it replaces others only when it has proved to be a picture.
        return .changed(try await pictures.render(request.decodingImmediately, original, context, since: start))
    }
}
