package import EideticCore
package import EideticHTTP

/// The header fields by which a server may select one of several variants (`Vary`).
extension Downloader {
    /// Returns the fields that a request is sent with, after the hook.
    package func selectingFields(for request: FetchRequest) async throws(EideticError) -> [HTTPField] {
        selectingFields(ofSent: try await modifiedRequest(for: request))
    }

    /// Returns the fields that a request is sent with, in which credentials stand for the field that they lead to.
    ///
    /// - Parameter request: The request as it is sent, after the hook.
    /// - Returns: The fields.
    package func selectingFields(ofSent request: FetchRequest) -> [HTTPField] {
        var fields = commonHeaders.merging(request.headers)
        if fields["User-Agent"] == nil { fields["User-Agent"] = configuration.userAgent }
        if fields["Accept-Encoding"] == nil { fields["Accept-Encoding"] = BodyDecoder.Coding.accepted }
        if let credentials = request.credentials ?? configuration.credentials?(request.origin) {
            fields["Authorization"] = "\(credentials)"
        }
        return fields.fields
    }

    /// A Boolean value indicating whether hooks may change the fields of equal requests from time to time.
    package var changesFields: Bool { configuration.requestModifier != nil || configuration.credentials != nil }

    /// A Boolean value indicating whether fields of a request are known only after a hook that suspends.
    package var modifiesRequests: Bool { configuration.requestModifier != nil }
}
