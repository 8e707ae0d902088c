/// The decision about which responses are returned with their bodies.
struct BodyPolicy: Sendable {
    let acceptableStatus: Set<Int>
    /// A Boolean value indicating whether the bodies of all other responses are kept, for a hook or a caller that
    /// decides about the status.
    let keepsAll: Bool

    /// Returns whether a response is returned as it is.
    ///
    /// - Parameters:
    ///   - head: The head of the response.
    ///   - isResumed: A Boolean value indicating whether the remainder of a body was requested.
    /// - Returns: `false` for a redirect, for 304, and for a status that is not in the set.
    func accepts(_ head: ResponseHead, isResumed: Bool) -> Bool {
        guard !head.isRedirect, head.status != 304 else { return false }
        return acceptableStatus.contains(head.status) || isResumed && head.status == 206
    }
}
