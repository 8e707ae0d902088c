import EideticCore

/// The policies of a pipeline or a cache.
struct DecodePolicies: Sendable {
    /// The policy of images for which there is no other.
    var standard = DecodePolicy.automatic
    /// The policies by host, in lower case.
    var ofHost: [String: DecodePolicy] = [:]

    /// Returns the policy of a request: its own, that of its host, or the standard.
    func policy(for request: ImageRequest) -> DecodePolicy {
        let policy = request.decodePolicy ?? policyOfHost(of: request) ?? standard
        return policy.resolved(isFromNetwork: request.resource.hasRemote { _ in true })
    }

    private func policyOfHost(of request: ImageRequest) -> DecodePolicy? {
        guard !ofHost.isEmpty, let host = request.hostName else { return nil }
        return ofHost[host]
    }
}
