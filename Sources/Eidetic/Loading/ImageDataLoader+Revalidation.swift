import EideticCore
import EideticFetch
import EideticStore

/// Conditional requests: a server confirms cached bytes, or sends others.
extension ImageDataLoader {
    /// The result of a revalidation.
    enum Revalidation {
        /// The displayed image is still valid; `isTransferred` if the server sent its bytes again.
        case unchanged(LoadTrace.Step, isTransferred: Bool)
        /// The resource has other bytes than the displayed image.
        case changed(EncodedImage)
    }

    /// Revalidates the entry on disk, and compares the result with the displayed image.
    ///
    /// The displayed image may be older than the entry: another load, or another process, may have refreshed the disk.
    ///
    /// - Parameters:
    ///   - job: The load.
    ///   - displayed: The checksum of the bytes that the displayed image was decoded from; `nil` if it is unknown.
    /// - Returns: The result of the comparison.
    /// - Throws: The errors of the source; `badResponse` for a status 304 without conditions.
    func revalidate(_ job: Job, displayed: UInt64?) async throws(EideticError) -> Revalidation {
        let request = job.request
        let entry = try? await disk?.read(request.resourceKey, allowingExpired: true)
        let response = try await response(for: job, revalidating: entry)
        let confirmed = entry.flatMap { response.bytes == nil || response.bytes == $0.bytes ? $0 : nil }
        if let confirmed { await refresh(confirmed, with: response.fields, for: request) }
        guard let bytes = response.bytes ?? confirmed?.bytes else { throw Self.unexpectedNotModified(for: request) }
        guard bytes.withUnsafeBytes({ Checksum.value(of: $0) }) == displayed else {
            return .changed(
                confirmed.map { makeImage(confirming: $0, with: response, for: request) }
                    ?? makeImage(bytes, from: response, for: request)
            )
        }
        // The disk has no entry, or other bytes.
        if confirmed == nil { makeImage(bytes, from: response, for: request).storeOnce() }
        return .unchanged(response.step, isTransferred: response.isTransferred)
    }

    /// Returns the source's response, to a conditional request if the entry has a validator.
    func response(
        for job: Job,
        revalidating entry: DiskCache.Entry?
    ) async throws(EideticError) -> ImageDataSource.Response {
        let fields = entry.map { Validators($0.metadata.headers).conditionalFields } ?? []
        let conditions = HTTPHeaders(fields.map { .init(name: $0.name, value: $0.value) })
        return try await source.response(for: job, conditions: conditions)
    }

    /// Stores the header fields of a confirmation, and restarts the entry's age; its bytes stay as they are.
    func refresh(_ entry: DiskCache.Entry, with fields: [HTTPField], for request: ImageRequest) async {
        var metadata = entry.metadata
        metadata.headers = NotModified.merge(fields, into: entry.metadata.headers)
        (metadata.storageTime, metadata.expirationTime) = (Timestamp(nanoseconds: 0), nil)
        do throws(EideticError) {
            try await disk?.replaceMetadata(of: entry, with: metadata)
        } catch {
            Log.write(.warning, category: .store, message: "\(request.name): entry not refreshed: \(error)")
        }
    }

    /// The error of a server that confirms an entry although the request had no condition.
    static func unexpectedNotModified(for request: ImageRequest) -> EideticError {
        EideticError(
            .badResponse,
            message: "\(request.name): status 304 to a request without conditions",
            httpStatus: 304
        )
    }
}
