package import EideticCore
package import EideticHTTP

/// Requests as they are sent.
extension Downloader {
    /// Returns the fields that a request is sent with, after the hook.
    package func selectingFields(for request: FetchRequest) async throws(EideticError) -> [HTTPField] {
        fields.selectingFields(ofSent: try await modifiedRequest(for: request))
    }

    /// A Boolean value indicating whether hooks may change the fields of equal requests from time to time.
    package var changesFields: Bool { configuration.requestModifier != nil || configuration.credentials != nil }

    /// Returns a request in the form in which another process can make it: with the fields that this downloader adds.
    ///
    /// - Returns: `nil` for a request that only this downloader can make, because of its method, a certificate that is
    ///   not verified, pinned keys, credentials that need a challenge, a proxy of its own, or hooks that change the
    ///   body.
    /// - Throws: The error of the `requestModifier`.
    package func requestForTransfer(_ request: FetchRequest) async throws(EideticError) -> FetchRequest? {
        var request = request
        if let modify = configuration.requestModifier { request = try await modify(request) }
        guard request.isGet, !hooks.transformsBodies, !request.allowsInvalidCertificates, !request.usesCookies,
            configuration.pinnedPublicKeys.isEmpty, configuration.certificateAuthorityFile == nil,
            configuration.proxy == .environment
        else { return nil }
        return fields.requestForTransfer(request)
    }
}
