import EideticCore
import Foundation
import Synchronization

/// A minimal cache: a lock, open addressing, and a mark on each used entry.
final class BareTable<Value: Sendable>: Sendable {
    private struct Entry {
        var key = CacheKey("")
        var value: Value?
        var isUsed = false
    }

    private struct State {
        var entries: [Entry]
    }

    private let mask: Int
    private let state: Mutex<State>

    init(capacity: Int = 16_384) {
        mask = capacity - 1
        state = Mutex(State(entries: Array(repeating: Entry(), count: capacity)))
    }

    func insert(_ value: Value, for key: CacheKey) {
        state.withLock { state in
            var slot = Int(truncatingIfNeeded: key.low) & mask
            while state.entries[slot].value != nil { slot = (slot + 1) & mask }
            state.entries[slot] = Entry(key: key, value: value)
        }
    }

    func value(for key: CacheKey) -> Value? {
        state.withLock { state in
            var slot = Int(truncatingIfNeeded: key.low) & mask
            while let value = state.entries[slot].value {
                if state.entries[slot].key == key {
                    state.entries[slot].isUsed = true
                    return value
                }
                slot = (slot + 1) & mask
            }
            return nil
        }
    }
}

/// A dictionary with `String` keys behind a lock.
final class LockedDictionary<Value: Sendable>: Sendable {
    private let values = Mutex<[String: Value]>([:])

    func insert(_ value: Value, for key: String) { values.withLock { $0[key] = value } }

    func value(for key: String) -> Value? { values.withLock { $0[key] } }
}

/// Foundation's `NSCache`.
struct FoundationCache: @unchecked Sendable {
    // Safe to send: `NSCache` has a lock of its own.
    private let cache = NSCache<NSString, AnyObject>()

    init(costLimit: Int = 0) { cache.totalCostLimit = costLimit }

    func insert(_ value: AnyObject, for key: NSString, cost: Int) { cache.setObject(value, forKey: key, cost: cost) }

    func value(for key: NSString) -> AnyObject? { cache.object(forKey: key) }
}
