package import EideticCore

/// A limit on the bytes of bodies in memory: of those that arrive, and of those that wait for a decoder.
///
/// - While complete bodies have reached the limit, no further download starts.
/// - While all bodies have reached it, those that arrive are held, except for the first `allowance` bytes of each, and
///   except for one body: so small ones arrive all the same, and one that is larger than the limit arrives alone.
/// - A body counts only against downloads of its own priority and below, because work of low priority may wait for a
///   long time, for example while the user scrolls.
package final class BodyBudget: Sendable {
    /// The number of bytes of each body that are never held.
    package static let allowance = 1 << 20

    private let limit: Int
    private let state = Guarded(BodyBudgetState())
    private let onRelease = Guarded<(@Sendable () -> Void)?>(nil)

    /// Creates a budget of `limit` bytes; at least 1.
    package init(limit: ByteCount) { self.limit = max(1, limit.bytes) }

    /// Sets the function that is called after bytes were released that others had to wait for.
    func setReleaseHandler(_ body: @escaping @Sendable () -> Void) { onRelease.withLock { $0 = body } }

    /// The number of bytes of all bodies in memory.
    package var usedBytes: Int { state.withLock { $0.usedBytes } }

    /// The highest priority whose downloads may not start now; `nil` if all may.
    var blockedPriority: LoadPriority? {
        state.withLock { [limit] state in
            let blocked = LoadPriority.allCases.last { state.completeBytes(from: $0) >= limit }
            if blocked != nil { state.hasRefused = true }
            return blocked
        }
    }

    /// Creates the share of a body that has no bytes yet.
    package func makeShare(for context: JobContext) -> BodyShare { BodyShare(budget: self, context: context) }

    /// Returns the share of bytes that are complete and wait for a decoder.
    package func makeCompleteShare(of bytes: [UInt8], for context: JobContext) -> BodyShare {
        let share = makeShare(for: context)
        share.add(bytes.count)
        share.markComplete()
        return share
    }

    /// Waits until the bytes of complete bodies are below the limit.
    ///
    /// - Throws: `cancelled` if the task is cancelled meanwhile.
    nonisolated(nonsending) package func waitForRoom(for context: JobContext) async throws(EideticError) {
        try await wait(for: context) { [limit] in $0.completeBytes(from: context.priority) < limit }
    }

    // MARK: Shares

    func add(_ count: Int, to share: BodyShare) -> Bool {
        state.withLock { [limit] state in
            state.add(count, to: ObjectIdentifier(share), context: share.context)
            return state.mayGrow(ObjectIdentifier(share), limit: limit)
        }
    }

    func mayGrow(_ share: BodyShare) -> Bool {
        state.withLock { [limit] in $0.mayGrow(ObjectIdentifier(share), limit: limit) }
    }

    func holdsOthers(_ share: BodyShare) -> Bool { state.withLock { $0.holdsOthers(ObjectIdentifier(share)) } }

    func waitUntilMayGrow(_ share: BodyShare) async throws(EideticError) {
        let id = ObjectIdentifier(share)
        try await wait(for: share.context) { [limit] in $0.mayGrow(id, limit: limit) }
    }

    func markComplete(_ share: BodyShare) { state.withLock { $0.markComplete(ObjectIdentifier(share)) } }

    func release(_ id: ObjectIdentifier) {
        if state.withLock({ $0.remove(id) && $0.hasRefused }) { notify() }
    }

    /// Checks again whether bodies are held, after a change of a priority.
    func priorityChanged() { if state.withLock({ $0.hasRefused }) { notify() } }

    private func notify() {
        let waiters = state.withLock { state in
            state.hasRefused = false
            defer { state.waiters = [:] }
            return Array(state.waiters.values)
        }
        for waiter in waiters { waiter.resume(returning: ()) }
        onRelease.withLock { $0 }?()
    }

    // MARK: Waiting

    private func wait(
        for context: JobContext,
        until isReady: @escaping @Sendable (inout BodyBudgetState) -> Bool
    ) async throws(EideticError) {
        if state.withLock({ isReady(&$0) }) { return }
        let observer = Waiter<Void>()
        context.addPriorityObserver(observer) { [weak self] in self?.priorityChanged() }
        let start = SystemTime().uptime
        defer {
            context.removePriorityObserver(observer)
            context.addWaitingTime(SystemTime().uptime - start)
        }
        while !Task.isCancelled, !context.isCancelled {
            if await waitForChange(unless: isReady) { return }
        }
        throw .cancelled
    }

    /// Suspends the task until a notification; returns `true` at once if the condition holds.
    private func waitForChange(unless isReady: @escaping @Sendable (inout BodyBudgetState) -> Bool) async -> Bool {
        let waiter = Waiter<Void>()
        let id = ObjectIdentifier(waiter)
        let isReadyNow = state.withLock { state in
            if isReady(&state) { return true }
            state.hasRefused = true
            state.waiters[id] = waiter
            return false
        }
        if isReadyNow { return true }
        await waiter.value(ifCancelled: ())
        _ = state.withLock { $0.waiters.removeValue(forKey: id) }
        return false
    }
}
