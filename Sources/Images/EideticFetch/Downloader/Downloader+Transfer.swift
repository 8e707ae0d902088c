package import EideticCore
import EideticHTTP

extension Downloader {
    /// Returns a request in the form in which another process can make it: with the fields that this downloader adds.
    ///
    /// - Returns: `nil` for a request that only this downloader can make, because of its method, a certificate that is
    ///   not verified, pinned keys, credentials that need a challenge, a proxy of its own, or hooks that change the
    ///   body.
    /// - Throws: The error of the `requestModifier`.
    package func requestForTransfer(_ request: FetchRequest) async throws(EideticError) -> FetchRequest? {
        var request = request
        if let modify = configuration.requestModifier { request = try await modify(request) }
        guard request.isGet, !transformsBodies, !request.allowsInvalidCertificates, !request.usesCookies,
            configuration.pinnedPublicKeys.isEmpty, configuration.certificateAuthorityFile == nil,
            configuration.proxy == .environment
        else { return nil }
        var fields = commonHeaders.merging(request.headers)
        if fields["User-Agent"] == nil { fields["User-Agent"] = configuration.userAgent }
        switch request.credentials ?? configuration.credentials?(request.origin) {
        case .digest?: return nil
        case .bearer(let token)?: fields["Authorization"] = "Bearer \(token)"
        case .basic(let user, let password)?:
            fields["Authorization"] = Credentials.basicField(user: user, password: password)
        case nil: break
        }
        request.headers = fields
        return request
    }
}

extension Credentials {
    /// Returns the value of the field `Authorization` for a name and a password.
    ///
    /// - SeeAlso: RFC 7617, section 2; RFC 4648, section 4.
    package static func basicField(user: String, password: String) -> String {
        let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        let bytes = Array("\(user):\(password)".utf8)
        var encoded: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let value = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
            for index in 0..<4 {
                encoded.append(index <= group.count ? digits[value >> (18 - 6 * index) & 63] : UInt8(ascii: "="))
            }
        }
        return "Basic " + String(decoding: encoded, as: UTF8.self)
    }
}
