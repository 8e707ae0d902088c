/// An activity for which an application runs in the background for as long as it lasts.
package enum ContinuousAssertion: UInt8, Sendable, Hashable, CaseIterable {
    /// The application plays or records sound.
    case audio
    /// The application does work that the user has started, and that makes progress.
    case continued
}
