import EideticCore
import EideticHTTP

/// The moment at which a download began: its part is kept with the fields that were sent, unless all parts were removed
/// after it.
package struct PartOrigin: Sendable {
    /// The number of removals of all parts.
    let generation: UInt64
    /// The header fields of all requests.
    let headers: HTTPHeaders
}

/// The parts of bodies whose downloads were cancelled or failed, in memory until the next download of the same request.
///
/// Cancellations are announced before their caller knows of them, so that a download which begins right afterwards
/// waits for the part, and finds it. It does not wait for one that does not end, because a hook of it hangs.
package final class PartialBodies: Sendable {
    private struct State {
        /// The parts by their keys, and these and the uptimes of their expiry in the order of their insertion.
        var parts: [String: PartialBody] = [:]
        var keys: [String] = []
        var expirations: [Duration] = []
        var size = 0
        /// The number of removals of all parts.
        var generation: UInt64 = 0
        /// The number of announcements so far.
        var announcementCount: UInt64 = 0
        /// The numbers of the cancelled downloads that have not ended yet, by the keys of their parts.
        var ending: [String: Set<UInt64>] = [:]
        var waiters: [String: [Waiter<Bool>]] = [:]

        mutating func insert(_ part: PartialBody, for key: String, at uptime: Duration) {
            removePart(for: key)
            parts[key] = part
            keys.append(key)
            expirations.append(uptime + PartialBodies.lifetime)
            size += part.bytes.count
            while size > PartialBodies.sizeLimit { removePart(for: keys[0]) }
        }

        mutating func removePart(for key: String) {
            guard let part = parts.removeValue(forKey: key), let index = keys.firstIndex(of: key) else { return }
            size -= part.bytes.count
            keys.remove(at: index)
            expirations.remove(at: index)
        }

        mutating func removeExpired(at uptime: Duration) {
            while let expiration = expirations.first, expiration <= uptime { removePart(for: keys[0]) }
        }

        /// Removes announcements; returns those who waited for the last one.
        mutating func end(_ announcements: Set<UInt64>, for key: String) -> [Waiter<Bool>] {
            guard let rest = ending[key]?.subtracting(announcements) else { return [] }
            ending[key] = rest.isEmpty ? nil : rest
            return rest.isEmpty ? waiters.removeValue(forKey: key) ?? [] : []
        }

        mutating func remove(_ waiter: Waiter<Bool>, for key: String) {
            waiters[key]?.removeAll { $0 === waiter }
            if waiters[key]?.isEmpty == true { waiters[key] = nil }
        }
    }

    private let state = Guarded(State())
    private let time: any TimeSource
    private let clock: any RetryClock

    /// Creates an empty store.
    ///
    /// - Parameters:
    ///   - time: The clock by whose uptime parts expire.
    ///   - clock: The clock by which waiting for a cancelled download ends.
    init(time: any TimeSource, clock: any RetryClock) {
        self.time = time
        self.clock = clock
    }

    /// The time for which a part is kept.
    package static let lifetime: Duration = .seconds(86_400)
    /// The longest time for which a download waits for the end of a cancelled one.
    private static let endLimit: Duration = .seconds(2)

    /// The size below which loading a body again is hardly slower than resuming it.
    package static let minimumSize = 65_536
    /// The largest size of all parts in memory together, and of a single one.
    package static let sizeLimit = 32 << 20

    /// Calls a function with the state of now, without parts that have expired.
    private func withCurrentState<Value>(_ body: (inout State) -> Value) -> Value {
        state.withLock { state in
            state.removeExpired(at: time.uptime)
            return body(&state)
        }
    }

    /// A Boolean value indicating whether no part is here or announced.
    var isEmpty: Bool { withCurrentState { $0.parts.isEmpty && $0.ending.isEmpty } }

    package var usage: (count: Int, bytes: Int) { state.withLock { ($0.parts.count, $0.size) } }

    /// The number of removals of all parts so far.
    package var generation: UInt64 { state.withLock { $0.generation } }

    /// Inserts a part, and removes the oldest ones beyond the limit.
    ///
    /// One that is too small or too large is not kept, nor one of a download that began before all parts were removed.
    func insert(_ part: PartialBody, for key: String, since generation: UInt64) {
        guard (Self.minimumSize...Self.sizeLimit).contains(part.bytes.count) else { return }
        withCurrentState { state in
            guard state.generation == generation else { return }
            state.insert(part, for: key, at: time.uptime)
        }
    }

    /// Inserts a part that a cache has, unless a longer one is here.
    func offer(_ part: PartialBody, for key: String) {
        guard (Self.minimumSize...Self.sizeLimit).contains(part.bytes.count) else { return }
        withCurrentState { state in
            guard state.parts[key]?.bytes.count ?? 0 < part.bytes.count else { return }
            state.insert(part, for: key, at: time.uptime)
        }
    }

    /// Returns the part for a key, after the cancelled downloads of it have ended.
    ///
    /// One that does not end in time is not waited for again.
    ///
    /// - Returns: The part; `nil` if there is none, another download is cancelled meanwhile, or the task is.
    func part(for key: String, isRemoved: Bool) async -> PartialBody? {
        while true {
            let waiter = Waiter<Bool>()
            let (part, ending) = withCurrentState { state -> (PartialBody?, Set<UInt64>?) in
                if let ending = state.ending[key] {
                    state.waiters[key, default: []].append(waiter)
                    return (nil, ending)
                }
                defer { if isRemoved { state.removePart(for: key) } }
                return (state.parts[key], nil)
            }
            guard let ending else { return part }
            let limit = Task { [clock] in
                await clock.wait(for: Self.endLimit)
                if !Task.isCancelled { end(ending, for: key) }
                waiter.resume(returning: false)
            }
            let hasEnded = await waiter.value(ifCancelled: false)
            limit.cancel()
            if hasEnded { continue }
            state.withLock { $0.remove(waiter, for: key) }
            return nil
        }
    }

    /// Returns whether a part is here or announced.
    func mayHavePart(for key: String) -> Bool {
        withCurrentState { $0.parts[key] != nil || $0.ending[key] != nil }
    }

    /// Removes a part; returns `false` if it is not here any more, or has been replaced.
    func remove(_ part: PartialBody, for key: String) -> Bool {
        state.withLock { state in
            guard state.parts[key]?.bytes.count == part.bytes.count else { return false }
            state.removePart(for: key)
            return true
        }
    }

    /// Removes all parts; those of downloads that run now are not kept.
    package func removeAll() {
        state.withLock { state in
            state.parts = [:]
            state.keys = []
            state.expirations = []
            state.size = 0
            state.generation += 1
        }
    }

    /// Announces that a download has been cancelled, and is about to end; returns the number of the announcement.
    func announceEnd(for key: String) -> UInt64 {
        state.withLock { state in
            state.announcementCount += 1
            state.ending[key, default: []].insert(state.announcementCount)
            return state.announcementCount
        }
    }

    func end(_ announcements: Set<UInt64>, for key: String) {
        for waiter in state.withLock({ $0.end(announcements, for: key) }) { waiter.resume(returning: true) }
    }
}

/// The end of one download that may be cancelled: its cancellation is announced until it has ended.
package final class CancelledEnd: Sendable {
    private struct State {
        var hasEnded = false
        var announcement: (key: String, number: UInt64)?
    }

    private let parts: PartialBodies
    private let state = Guarded(State())

    init(in parts: PartialBodies) { self.parts = parts }

    /// Announces the end of the download; has no effect after its end.
    func announce(for key: String) {
        state.withLock { [parts] state in
            guard !state.hasEnded, state.announcement == nil else { return }
            state.announcement = (key, parts.announceEnd(for: key))
        }
    }

    /// Ends the download; its part has been kept, if there is one.
    package func end() {
        let announcement = state.withLock { state in
            state.hasEnded = true
            return state.announcement
        }
        if let announcement { parts.end([announcement.number], for: announcement.key) }
    }
}
