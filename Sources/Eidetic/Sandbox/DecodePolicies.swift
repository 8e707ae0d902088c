import EideticCore

/// The policies of a pipeline or a cache.
struct DecodePolicies: Sendable {
    /// The policy of images for which there is no other.
    var standard = DecodePolicy.inProcess
    /// The policies by host, in lower case.
    var ofHost: [String: DecodePolicy] = [:]

    /// Returns the policy of a request: its own, that of its host, or the standard.
    func policy(for request: ImageRequest) -> DecodePolicy {
        if let policy = request.decodePolicy { return policy }
        guard !ofHost.isEmpty, let host = request.hostName else { return standard }
        return ofHost[host] ?? standard
    }
}
