import EideticCore
import EideticStore

/// Why pictures left memory, so that a later miss can be explained; the newest few thousand are remembered.
final class MissReasons: Sendable {
    private static let capacity = 4_096

    private struct State {
        var reasons: [CacheKey: MemoryRemovalReason] = [:]
        var order: [CacheKey] = []
        var next = 0
    }

    private let state = Guarded(State())

    /// What a cache is to call.
    var hooks: MemoryHooks<Image> {
        var hooks = MemoryHooks<Image>()
        hooks.didRemove = { [self] key, _, reason in record(key, for: reason) }
        return hooks
    }

    /// What a record says of a picture that memory does not have.
    func explanation(for key: CacheKey) -> String {
        state.withLock { $0.reasons[key] }.map { "miss: \($0.explanation)" } ?? "miss"
    }

    private func record(_ key: CacheKey, for reason: MemoryRemovalReason) {
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
        case .costLimit: "evicted, there were more bytes than the limit allows"
        case .countLimit: "evicted, there were more pictures than the limit allows"
        case .pressure: "evicted, memory was short or the application in the background"
        case .expired: "its time was over"
        case .replaced: "replaced"
        case .removed: "removed"
        case .trimmed: "trimmed"
        }
    }
}
