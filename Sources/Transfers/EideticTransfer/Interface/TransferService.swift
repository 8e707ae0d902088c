package import EideticCore

/// A service that performs the background transfers of one application.
///
/// It runs in a process of its own, to which a ``TransferClient`` sends ``TransferCommand``s. Sessions, transfers and
/// events outlive both processes. All functions can be called on any thread.
package protocol TransferService: AnyObject, Sendable {
    /// Creates a session, or changes the settings of an existing one with the same identifier.
    ///
    /// - Throws: `limitExceeded` for more than 64 sessions; `invalidArgument` for a setting out of range.
    func openSession(_ configuration: TransferSessionConfiguration) async throws(EideticError)

    /// Cancels all transfers of a session, and removes it with its events and files.
    func removeSession(_ identifier: String) async throws(EideticError)

    /// Adds transfers to a session; returns after they are safe on disk, with one identifier for each.
    ///
    /// The body of an upload is copied before the function returns. Either all requests are added or none.
    ///
    /// - Throws: `limitExceeded` for more than 10,000 transfers; `invalidURL` and `invalidArgument` for a request that
    ///   cannot be sent; `notFound` for an unknown session; an error of the file system.
    func add(
        _ requests: [TransferRequest],
        to session: String
    ) async throws(EideticError) -> [TransferIdentifier]

    /// Returns the transfers of a session, or of all sessions, in the order in which they were added; also those that
    /// have ended with an event that is not acknowledged.
    func transfers(in session: String?) async throws(EideticError) -> [TransferStatus]

    /// Returns the settings of all sessions.
    func sessions() async throws(EideticError) -> [TransferSessionConfiguration]

    /// Pauses transfers; they keep what they have received. Has no effect on transfers that have ended.
    func pause(_ transfers: [TransferIdentifier]) async throws(EideticError)

    /// Resumes paused transfers, and attempts those that wait for a delay at once.
    func resume(_ transfers: [TransferIdentifier]) async throws(EideticError)

    /// Cancels transfers; each ends with the event `cancelled`, or with another one that came first.
    ///
    /// - Parameters:
    ///   - transfers: The transfers; those that have ended are ignored.
    ///   - keepsResumeData: A Boolean value indicating whether the received part of a download is kept, and the event
    ///     has the data to resume it.
    /// - Throws: The error of the service, or of the connection to it.
    func cancel(_ transfers: [TransferIdentifier], keepsResumeData: Bool) async throws(EideticError)

    /// Acknowledges events: they are not delivered again, and the files of their transfers are removed.
    ///
    /// - Parameter events: The numbers of the events; unknown ones, and those acknowledged before, are ignored.
    /// - Throws: The error of the service, or of the connection to it.
    func acknowledge(_ events: [UInt64]) async throws(EideticError)

    /// Opens the file of a finished transfer for reading, until its event is acknowledged.
    func openFile(of transfer: TransferIdentifier) async throws(EideticError) -> FileDescriptor

    /// Delivers the events of a session in order: first those that are not acknowledged, then new ones.
    ///
    /// An event may be delivered again, with the same number, until it is acknowledged. The handler is called on one
    /// thread of the service and must return quickly.
    ///
    /// - Returns: An object with whose release the delivery ends.
    func observe(
        _ session: String,
        handler: @escaping @Sendable (TransferNotification) -> Void
    ) async throws(EideticError) -> TransferObservation
}

/// A delivery of events, which ends when the object is released.
package final class TransferObservation: Sendable {
    private let onEnd: @Sendable () -> Void

    /// Creates an observation that calls `onEnd` when it is released.
    package init(onEnd: @escaping @Sendable () -> Void) { self.onEnd = onEnd }

    deinit { onEnd() }
}
