import EideticStore

/// The reasons for which images left memory, so that the trace of a later miss can name them; the newest 4,096 are
/// kept.
final class MissReasons: Sendable {
    private static let capacity = 4_096

    private struct State {
        var reasons: [CacheKey: MemoryRemovalReason] = [:]
        var order: [CacheKey] = []
        var next = 0
    }

    private let state = Guarded(State())

    /// The hooks by which a memory cache reports removals.
    var hooks: MemoryHooks<Image> {
        var hooks = MemoryHooks<Image>()
        hooks.didRemove = { [self] key, _, reason in record(reason, for: key) }
        return hooks
    }

    func explanation(for key: CacheKey) -> String {
        state.withLock { $0.reasons[key] }.map { "miss: \($0.explanation)" } ?? "miss"
    }

    private func record(_ reason: MemoryRemovalReason, for key: CacheKey) {
        state.withLock { state in
            guard state.reasons.updateValue(reason, forKey: key) == nil else { return }
            if state.order.count < Self.capacity {
                state.order.append(key)
            } else {
                state.reasons[state.order[state.next]] = nil
                state.order[state.next] = key
                state.next = (state.next + 1) % Self.capacity
            }
        }
    }
}

extension MemoryRemovalReason {
    fileprivate var explanation: String {
        switch self {
        case .costLimit: "evicted, the cost limit was reached"
        case .countLimit: "evicted, the count limit was reached"
        case .pressure: "evicted, memory was short or the application in the background"
        case .expired: "expired"
        case .replaced: "replaced"
        case .removed: "removed"
        case .trimmed: "trimmed"
        }
    }
}
