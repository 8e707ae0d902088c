/// A URL that an application is asked to open.
package struct IncomingURL: Sendable, Hashable {
    /// The identifier to which the answer refers; unique for the application.
    package let id: UInt64
    package let text: String

    package init(_ text: String, id: UInt64) { (self.text, self.id) = (text, id) }

    /// The result of a request to open a URL; each request has one.
    package enum Outcome: Sendable, Hashable {
        case handled
        /// The application does not open URLs of this kind.
        case notHandled
        /// The application was not asked.
        case refused(LifecycleEffect.Refusal)
    }
}
