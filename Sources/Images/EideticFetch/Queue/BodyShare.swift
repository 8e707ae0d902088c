package import EideticCore

/// The bytes of one body in a `BodyBudget`; released at the latest with the last reference.
package final class BodyShare: Sendable {
    let context: JobContext
    private let budget: BodyBudget

    init(budget: BodyBudget, context: JobContext) {
        self.budget = budget
        self.context = context
    }

    deinit { release() }

    /// Adds received bytes; returns `false` if the body must wait until `mayGrow`.
    @discardableResult
    package func add(_ count: Int) -> Bool { budget.add(count, to: self) }

    /// A Boolean value indicating whether the body may receive more bytes.
    var mayGrow: Bool { budget.mayGrow(self) }

    /// A Boolean value indicating whether other bodies wait until this one is complete.
    package var holdsOthers: Bool { budget.holdsOthers(self) }

    /// Waits until the body may receive more bytes; throws `cancelled` if the task is cancelled meanwhile.
    package func waitUntilMayGrow() async throws(EideticError) { try await budget.waitUntilMayGrow(self) }

    /// Records that the body is complete, and waits for a decoder.
    package func markComplete() { budget.markComplete(self) }

    /// Releases the bytes, because the body was decoded or is not needed.
    package func release() { budget.release(ObjectIdentifier(self)) }
}
