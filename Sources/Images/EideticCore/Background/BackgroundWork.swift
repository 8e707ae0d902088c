import Synchronization

/// A piece of work that a background task covers from its beginning to its end.
///
/// It ends when ``end()`` is called, or else when it is deallocated.
package final class BackgroundWork: Sendable {
    private let group: BackgroundWorkGroup
    private let isPending = Atomic(false)

    init(group: BackgroundWorkGroup) { self.group = group }

    deinit { end() }

    /// Records that the group counts the piece.
    func activate() { isPending.store(true, ordering: .relaxed) }

    /// Throws `cancelled` unless the background task was granted and its time has not expired.
    ///
    /// Blocks for as long as the provider takes to answer another piece of the group.
    package func waitUntilAdmitted() throws(EideticError) { try group.waitUntilAdmitted() }

    /// Ends the piece, and the background task with the last piece; has no effect if it has ended.
    package func end() {
        if isPending.exchange(false, ordering: .acquiringAndReleasing) { group.end(self) }
    }
}
