import EideticCodecs
import EideticCore
import EideticFetch

/// Reads the bytes of a picture where they come from: server, file, memory, or the caller's function.
struct OriginReader: Sendable {
    private let downloader: Downloader
    private let byteLimit: ByteCount
    private let files = WorkPool(name: "eidetic files", width: 4)

    init(_ configuration: ImagePipeline.Configuration) {
        downloader = configuration.downloader
        byteLimit = configuration.decodeLimits.encodedBytes
    }

    func bytes(
        of request: ImageRequest,
        _ context: WorkContext,
        _ report: @escaping @Sendable (FetchProgress) -> Void
    ) async throws(EideticError) -> ([UInt8], LoadRecord.Step) {
        let timer = StepTimer()
        switch request.origin {
        case .remote(let remote):
            return try await download(remote, request.options, context, report)
        case .firstOf(let remotes):
            return try await downloadFirst(of: remotes, request.options, context, report)
        case .file(let file):
            let limit = byteLimit
            let bytes = try await files.run(context) { _ throws(EideticError) in try file.read(limit: limit) }
            return (bytes, timer.step(.origin, "file, \(ByteCount(bytes.count))"))
        case .bytes(let bytes):
            return (bytes, timer.step(.origin, "given, \(ByteCount(bytes.count))"))
        case .provider(_, let provide):
            let bytes = try await provide()
            return (bytes, timer.step(.origin, "provided, \(ByteCount(bytes.count))"))
        }
    }

    private func download(
        _ remote: FetchRequest,
        _ options: ImageOptions,
        _ context: WorkContext,
        _ report: @escaping @Sendable (FetchProgress) -> Void
    ) async throws(EideticError) -> ([UInt8], LoadRecord.Step) {
        let timer = StepTimer()
        var remote = remote
        remote.allowsInvalidCertificates = options.contains(.allowInvalidCertificates)
        let response = try await downloader.fetch(remote, context: context, onProgress: report)
        return (response.bytes, timer.step(.network, "\(ByteCount(response.bytes.count)), \(response.metrics)"))
    }

    /// Asks one after the other until one answers; throws the last one's error.
    private func downloadFirst(
        of remotes: [FetchRequest],
        _ options: ImageOptions,
        _ context: WorkContext,
        _ report: @escaping @Sendable (FetchProgress) -> Void
    ) async throws(EideticError) -> ([UInt8], LoadRecord.Step) {
        var last = EideticError(.invalidArgument, "a list of URLs has none")
        for remote in remotes {
            do throws(EideticError) {
                return try await download(remote, options, context, report)
            } catch  where error.code != .cancelled {
                last = error
            }
        }
        throw last
    }
}
