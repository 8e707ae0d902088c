/// The treatment of notices while the application is suspended.
public enum SuspensionBehavior: Sendable, Hashable, CaseIterable {
    /// Notices are dropped.
    case drop
    /// One notice per name and object is delivered on return: the newest, with the number of coalesced notices.
    case coalesce
    /// The newest 64 notices are delivered on return, in order; the first one indicates whether others were dropped.
    case hold
    /// Notices are delivered at once.
    case deliverImmediately
}
