import EideticCore
import EideticHTTP

/// The results of the `requestModifier` for the requests of one load, so that it is called once for each of them.
///
/// A load may need the request before it is sent: the fields select a variant in the cache. All values are equal,
/// because they do not change what is requested.
package final class RequestModifications: Sendable, Hashable {
    private let modified = Guarded<[FetchRequest: FetchRequest]>([:])

    package init() {}

    /// Returns the earlier result for a request; otherwise that of `modify`, which is recorded.
    func modified(
        _ request: FetchRequest,
        by modify: (FetchRequest) async throws(EideticError) -> FetchRequest
    ) async throws(EideticError) -> FetchRequest {
        var plain = request
        // Its own reference would keep this object alive for ever.
        plain.conditions = HTTPHeaders()
        plain.redirectEntries = nil
        plain.modifications = nil
        if let known = modified.withLock({ $0[plain] }) { return known }
        let result = try await modify(plain)
        modified.withLock { $0[plain] = result }
        return result
    }

    package static func == (left: RequestModifications, right: RequestModifications) -> Bool { true }

    package func hash(into hasher: inout Hasher) {}
}
