/// A delivery of events, which ends when the object is released.
package final class TransferObservation: Sendable {
    private let onEnd: @Sendable () -> Void

    /// Creates an observation that calls `onEnd` when it is released.
    package init(onEnd: @escaping @Sendable () -> Void) { self.onEnd = onEnd }

    deinit { onEnd() }
}
