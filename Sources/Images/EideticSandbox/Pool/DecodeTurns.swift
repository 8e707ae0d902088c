package import EideticCore

/// The order in which images are decoded in the sandbox: by their origin, and by the memory that they need.
///
/// - An origin has at most ``Settings/originLimit`` images in progress, so that others find processes.
/// - An image that needs more than a little memory waits until it is free, and the one that needs the least goes first.
///   It may be overtaken ``Settings/overtakingLimit`` times; then none that came later goes before it.
/// - An origin has at most ``Settings/originMemory``. An image that needs more than that takes all of it: there is one
///   of these at a time, and it leaves memory for images of other origins.
///
/// An image that waits for its turn keeps neither a thread nor a process.
package final class DecodeTurns: Sendable {
    package struct Settings: Sendable {
        /// The largest number of images in progress.
        package var limit = 24
        /// The largest number of images of one origin in progress.
        package var originLimit = 12
        /// The memory of all images that wait for memory.
        package var memory = ByteCount.mebibytes(768)
        package var originMemory = ByteCount.mebibytes(512)
        /// The number of images that may overtake one that waits for memory.
        package var overtakingLimit = 32

        package init() {}
    }

    /// A wait of an image to begin, or for its memory.
    private struct Waiting {
        let number: Int
        let origin: String
        /// The memory; `nil` for one that waits to begin.
        let memory: Int?
        let context: JobContext
        var overtakingCount = 0
        let resume: @Sendable () -> Void
    }

    /// The images of an origin in progress, and their memory.
    private struct Share {
        var count = 0
        var memory = 0
    }

    private struct State {
        var count = 0
        var availableMemory: Int
        /// The origins with images in progress.
        var shares: [String: Share] = [:]
        var waiting: [Waiting] = []
        var lastNumber = 0
    }

    package let settings: Settings
    private let state: Guarded<State>

    package init(settings: Settings = Settings()) {
        self.settings = settings
        state = Guarded(State(availableMemory: settings.memory.bytes))
    }

    package var count: Int { state.withLock { $0.count } }

    /// The memory that is not reserved; negative while images that do not wait exceed it.
    package var availableMemory: Int { state.withLock { $0.availableMemory } }

    package var waitingCount: Int { state.withLock { $0.waiting.count { $0.memory == nil } } }

    package var memoryWaitingCount: Int { state.withLock { $0.waiting.count { $0.memory != nil } } }

    /// Begins an image; waits while its origin, or all of them, have too many in progress.
    ///
    /// - Parameters:
    ///   - origin: Scheme, host and port; empty for an image that is on no server.
    ///   - context: The job, of which the most urgent begins first.
    /// - Returns: The turn, to be ended.
    /// - Throws: `cancelled` if the task is.
    package func begin(_ origin: String, context: JobContext) async throws(EideticError) -> DecodeTurn {
        try await wait(for: nil, origin: origin, context: context)
        return DecodeTurn(of: self, origin: origin, context: context)
    }

    func end(_ origin: String, memory: Int) {
        change { state in
            state.count -= 1
            state.shares[origin, default: Share()].count -= 1
            Self.release(memory, of: origin, in: &state)
        }
    }
}

// MARK: Memory
extension DecodeTurns {
    /// Returns the memory that is reserved for a need.
    func charge(for need: Int) -> Int { min(max(0, need), settings.originMemory.bytes) }

    /// Reserves memory if nothing has to wait for it.
    func tryReserve(_ charge: Int, origin: String) -> Bool {
        state.withLock { state in
            guard isFree(charge, origin: origin, in: state), state.waiting.allSatisfy({ $0.memory == nil }) else {
                return false
            }
            Self.take(charge, for: origin, in: &state)
            return true
        }
    }

    /// Reserves memory; the task waits for it.
    func reserve(_ charge: Int, origin: String, context: JobContext) async throws(EideticError) {
        try await wait(for: charge, origin: origin, context: context)
    }

    /// Reserves memory until ``release(_:origin:)``; the thread waits for it, or without a context takes it at once.
    ///
    /// - Parameters:
    ///   - need: The memory in bytes.
    ///   - origin: Scheme, host and port; empty for an image that is on no server.
    ///   - context: Cancels the wait.
    ///   - onWait: Called before a wait.
    /// - Returns: The memory that is reserved.
    /// - Throws: `cancelled`.
    package func reserveBlocking(
        _ need: Int,
        origin: String = "",
        context: JobContext?,
        onWait: () -> Void = {}
    ) throws(EideticError) -> Int {
        try context?.checkCancellation()
        let charge = charge(for: need)
        guard let context else {
            state.withLock { Self.take(charge, for: origin, in: &$0) }
            return charge
        }
        guard !tryReserve(charge, origin: origin) else { return charge }
        onWait()
        let start = SystemTime().uptime
        defer { context.addWaitingTime(SystemTime().uptime - start) }
        let isGranted = Monitor(false)
        let number = enqueue(charge, origin: origin, context: context) {
            isGranted.withLock { $0 = true }
            isGranted.broadcast()
        }
        while isGranted.wait(for: HelperProcess.interval, until: { $0 ? () : nil }) == nil {
            if context.isCancelled, cancel(number) { throw .cancelled }
        }
        return charge
    }

    package func release(_ charge: Int, origin: String = "") {
        guard charge > 0 else { return }
        change { Self.release(charge, of: origin, in: &$0) }
    }

    private func isFree(_ charge: Int, origin: String, in state: State) -> Bool {
        charge <= state.availableMemory
            && (state.shares[origin]?.memory ?? 0) + charge <= settings.originMemory.bytes
    }

    private static func take(_ charge: Int, for origin: String, in state: inout State) {
        state.availableMemory -= charge
        state.shares[origin, default: Share()].memory += charge
    }

    private static func release(_ charge: Int, of origin: String, in state: inout State) {
        state.availableMemory += charge
        guard var share = state.shares[origin] else { return }
        share.memory -= charge
        state.shares[origin] = share.count == 0 && share.memory == 0 ? nil : share
    }
}

// MARK: Waiting
extension DecodeTurns {
    private func wait(for memory: Int?, origin: String, context: JobContext) async throws(EideticError) {
        let start = SystemTime().uptime
        let waiter = Waiter<Bool>()
        let number = enqueue(memory, origin: origin, context: context) { waiter.resume(returning: true) }
        let isGranted = await waiter.value(ifCancelled: false)
        context.addWaitingTime(SystemTime().uptime - start)
        // What was granted meanwhile is given back by its owner.
        guard !isGranted, cancel(number) else { return }
        context.cancel()
        throw .cancelled
    }

    private func enqueue(
        _ memory: Int?,
        origin: String,
        context: JobContext,
        resume: @escaping @Sendable () -> Void
    ) -> Int {
        change { state in
            state.lastNumber += 1
            let number = state.lastNumber
            state.waiting.append(
                Waiting(number: number, origin: origin, memory: memory, context: context, resume: resume)
            )
            return number
        }
    }

    /// Ends a wait; returns `false` if what it waited for was granted before.
    private func cancel(_ number: Int) -> Bool {
        change { state in
            let count = state.waiting.count
            state.waiting.removeAll { $0.number == number }
            return state.waiting.count < count
        }
    }

    /// Changes the state, and grants what is free then.
    private func change<Result>(_ body: (inout State) -> Result) -> Result {
        let (result, granted) = state.withLock { state in
            let result = body(&state)
            var granted: [Waiting] = []
            while let next = takeNext(from: &state) { granted.append(next) }
            return (result, granted)
        }
        for waiting in granted { waiting.resume() }
        return result
    }

    private func takeNext(from state: inout State) -> Waiting? {
        guard let index = nextToBegin(in: state) ?? nextOfMemory(in: state) else { return nil }
        let next = state.waiting.remove(at: index)
        if let memory = next.memory {
            for other in state.waiting.indices
            where other < index && state.waiting[other].memory != nil {
                state.waiting[other].overtakingCount += 1
            }
            Self.take(memory, for: next.origin, in: &state)
        } else {
            state.count += 1
            state.shares[next.origin, default: Share()].count += 1
        }
        return next
    }

    /// Returns the most urgent of those that may begin; among equals, the first of the origin with the fewest in
    /// progress, so that two origins with many images do not hold back a third.
    private func nextToBegin(in state: State) -> Int? {
        guard state.count < settings.limit else { return nil }
        var best: (index: Int, priority: LoadPriority, count: Int)?
        for index in state.waiting.indices where state.waiting[index].memory == nil {
            let priority = state.waiting[index].context.priority
            if let best, best.priority > priority { continue }
            let count = state.shares[state.waiting[index].origin]?.count ?? 0
            guard count < settings.originLimit else { continue }
            if let best, best.priority == priority, best.count <= count { continue }
            best = (index, priority, count)
        }
        return best?.index
    }

    /// Returns the one that needs the least memory, of those whose origin may have more.
    private func nextOfMemory(in state: State) -> Int? {
        var best: Int?
        for index in state.waiting.indices {
            let waiting = state.waiting[index]
            guard let memory = waiting.memory,
                (state.shares[waiting.origin]?.memory ?? 0) + memory <= settings.originMemory.bytes
            else { continue }
            if best.flatMap({ state.waiting[$0].memory }).map({ memory < $0 }) ?? true { best = index }
            guard waiting.overtakingCount < settings.overtakingLimit else {
                best = index
                break
            }
        }
        guard let best, let memory = state.waiting[best].memory, memory <= state.availableMemory else { return nil }
        return best
    }
}
