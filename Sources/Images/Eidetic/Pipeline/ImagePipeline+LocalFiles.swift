import EideticCore

/// Requests for files whose state each load looks up.
extension ImagePipeline {
    /// Returns the request with the present state of its file.
    ///
    /// - Throws: The errors of ``LocalFile/init(path:)``.
    func examined(_ request: ImageRequest) async throws(EideticError) -> ImageRequest {
        guard case .file(let file) = request.resource, file.version == nil else { return request }
        let examined = try await dataLoader.source.examined(file)
        localFiles.record(examined)
        return request.replacingResource(with: .file(examined))
    }

    /// Returns the request with the state that the newest load found, which may be outdated.
    func recentlyExamined(_ request: ImageRequest) -> ImageRequest {
        recentState(of: request).map { request.replacingResource(with: .file($0)) } ?? request
    }

    /// Returns the state of the request's file that the newest load found; `nil` for other requests.
    func recentState(of request: borrowing ImageRequest) -> LocalFile? {
        guard case .file(let file) = request.resource, file.version == nil else { return nil }
        return localFiles[file.path]
    }
}

/// The files that loads have looked at, with the newest state of each.
final class LocalFileStates: Sendable {
    private static let limit = 4_096

    private let files = Guarded<[String: LocalFile]>([:])

    subscript(path: String) -> LocalFile? { files.withLock { $0[path] } }

    /// Records the state of a file; when there are too many, all others are forgotten.
    func record(_ file: LocalFile) {
        files.withLock { files in
            if files.count >= Self.limit { files = [:] }
            files[file.path] = file
        }
    }
}

extension ImageRequest {
    fileprivate func replacingResource(with resource: Resource) -> ImageRequest {
        var request = self
        request.resource = resource
        return request
    }
}
