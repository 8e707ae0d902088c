import EideticCore

/// A way to the transfer process.
package protocol TransferServiceProvider: Sendable {
    /// Connects an application, and starts the process if it does not run.
    ///
    /// - Throws: `connectionLost` and `connectionRefused` if another attempt may succeed; any other error is final.
    func connect() async throws(EideticError) -> TransferClient
}
