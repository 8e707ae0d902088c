package import EideticCore

/// An observer that records system calls, makes chosen calls fail, and runs code just before chosen calls.
///
/// ```swift
/// let plan = FaultPlan()
/// plan.fail(.write, with: ENOSPC, at: 2)              // the second write after this statement
/// plan.fail(.rename, with: EIO, count: .max)          // every rename
/// let files = FileSystem(observer: plan)
/// ```
package final class FaultPlan: SystemCallObserver {
    /// A recorded system call.
    package struct Call: Sendable, Hashable {
        package let call: SystemCall
        package let path: String?
        /// The error number that the plan injected; `nil` if the call was made.
        package let failure: Int32?
    }

    private struct Rule {
        let call: SystemCall
        let pathPart: String?
        let action: @Sendable () -> Int32?
        /// The number of matching calls to skip before the rule applies, and the number of calls that it then applies
        /// to.
        var remainingSkips: Int
        var remainingHits: Int
    }

    private let state = Guarded((rules: [Rule](), calls: [Call]()))

    package init() {}

    /// Makes calls fail.
    ///
    /// - Parameters:
    ///   - call: The system call that fails.
    ///   - number: The error number.
    ///   - position: The first matching call that fails, counted from 1 from now on.
    ///   - count: The number of matching calls that fail.
    ///   - pathContaining: A string that the path must contain; `nil` for all calls.
    package func fail(
        _ call: SystemCall,
        with number: Int32,
        at position: Int = 1,
        count: Int = 1,
        pathContaining: String? = nil
    ) {
        add(
            Rule(
                call: call,
                pathPart: pathContaining,
                action: { number },
                remainingSkips: position - 1,
                remainingHits: count
            )
        )
    }

    /// Runs `body` just before a call, on the thread that makes it; the call itself is made.
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
        add(Rule(call: call, pathPart: pathContaining, action: action, remainingSkips: position - 1, remainingHits: 1))
    }

    /// Removes all rules; keeps the recorded calls.
    package func removeAllRules() { state.withLock { $0.rules = [] } }

    /// The recorded calls, in order.
    package var calls: [Call] { state.withLock { $0.calls } }

    /// Returns the number of recorded calls of one system call.
    package func count(of call: SystemCall) -> Int { calls.count { $0.call == call } }

    /// Removes the recorded calls.
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
        if rule.remainingSkips > 0 {
            rule.remainingSkips -= 1
            return nil
        }
        guard rule.remainingHits > 0 else { return nil }
        rule.remainingHits -= 1
        return rule.action
    }
}
