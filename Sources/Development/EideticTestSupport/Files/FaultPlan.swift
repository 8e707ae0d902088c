package import EideticCore

/// Makes chosen system calls fail, counts all of them, and can run something just before one of them.
///
/// ```swift
/// let plan = FaultPlan()
/// plan.fail(.write, with: ENOSPC, at: 2)              // the second write from now on
/// plan.fail(.rename, with: EIO, count: .max)          // every rename
/// let files = FileSystem(observer: plan)
/// ```
package final class FaultPlan: SystemCallObserver {
    /// A call that was made or refused.
    package struct Call: Sendable, Hashable {
        package let call: SystemCall
        package let path: String?
        /// What it was made to fail with; `nil` where it was let through.
        package let failure: Int32?
    }

    private struct Rule {
        let call: SystemCall
        let pathPart: String?
        let action: @Sendable () -> Int32?
        /// Matching calls to let through first, then matching calls to act on.
        var toSkip: Int
        var toHit: Int
    }

    private let state = Guarded((rules: [Rule](), calls: [Call]()))

    package init() {}

    /// Makes calls fail.
    ///
    /// `number` is the error; `position` the first matching call that fails, counted from 1 and from now; `count` how
    /// many fail from there on; `pathPart` limits it to calls with a path that contains it.
    package func fail(
        _ call: SystemCall,
        with number: Int32,
        at position: Int = 1,
        count: Int = 1,
        pathContaining: String? = nil
    ) {
        add(Rule(call: call, pathPart: pathContaining, action: { number }, toSkip: position - 1, toHit: count))
    }

    /// Runs `body` just before a call, on the thread that makes it; then the call goes on.
    package func before(
        _ call: SystemCall,
        at position: Int = 1,
        pathContaining: String? = nil,
        run body: @escaping @Sendable () -> Void
    ) {
        let action: @Sendable () -> Int32? = {
            body()
            return nil
        }
        add(Rule(call: call, pathPart: pathContaining, action: action, toSkip: position - 1, toHit: 1))
    }

    /// Forgets all rules; the record of calls stays.
    package func removeAllRules() { state.withLock { $0.rules = [] } }

    /// All calls so far, in their order.
    package var calls: [Call] { state.withLock { $0.calls } }

    /// How many calls of one kind there were.
    package func count(of call: SystemCall) -> Int { calls.count { $0.call == call } }

    /// Forgets the calls so far.
    package func resetCalls() { state.withLock { $0.calls = [] } }

    package func willPerform(_ call: SystemCall, path: String?) -> Int32? {
        let actions = state.withLock { state in
            state.rules.indices.compactMap { Self.action(of: &state.rules[$0], for: call, path: path) }
        }
        let failure = actions.reduce(nil) { failure, action in action() ?? failure }
        state.withLock { $0.calls.append(Call(call: call, path: path, failure: failure)) }
        return failure
    }

    private func add(_ rule: Rule) { state.withLock { $0.rules.append(rule) } }

    private static func action(
        of rule: inout Rule,
        for call: SystemCall,
        path: String?
    ) -> (@Sendable () -> Int32?)? {
        guard rule.call == call, rule.pathPart.map({ path?.contains($0) == true }) ?? true else { return nil }
        if rule.toSkip > 0 {
            rule.toSkip -= 1
            return nil
        }
        guard rule.toHit > 0 else { return nil }
        rule.toHit -= 1
        return rule.action
    }
}
