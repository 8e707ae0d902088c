import EideticCodecs
package import EideticCore
import Glibc

/// The decoding processes of this process.
///
/// Each decodes one image at a time. One that is done waits for the next; one that ends is replaced; and after
/// ``Settings/imageLimit`` images it is replaced as well.
package final class HelperPool: Sendable {
    /// The numbers of a pool.
    package struct Settings: Sendable {
        /// The largest number of processes that wait for an image; by default that of the processors.
        package var idleLimit = max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))
        /// The largest number of images that are decoded at a time, besides slow ones and those of kept decoders.
        package var useLimit = max(2, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))
        /// The images in progress, and their memory.
        package var turns = DecodeTurns.Settings()
        /// The time after which a process that waits for an image ends.
        package var idleTime = Duration.seconds(30)
        /// The number of images after which a process is replaced.
        package var imageLimit = 500
        /// The time after which an image counts as slow: it then keeps no other one waiting.
        package var slowTime = Duration.milliseconds(50)
        /// The largest number of slow images at a time, besides those that have a turn.
        package var slowLimit = 32
        /// The largest number of processes that animations and previews have to themselves, because they are slow.
        package var aloneLimit = 16
        /// The largest number of memories of large results that serve several images, if the system allows that; each
        /// keeps a descriptor.
        package var reusableLimit = 64
        /// The number of times that a process is started that dies while it starts.
        package var startLimit = 3
        /// The longest time until a process that is started is ready.
        package var startTime = Duration.seconds(10)
        /// The time for which it is remembered that no program works on this machine.
        package var retryTime = Duration.seconds(5)
        /// The programs to try, the first one first.
        package var programs: @Sendable () -> [HelperProgram] = { HelperLocation.programs }

        package init() {}
    }

    private struct State {
        var idle: [HelperProcess] = []
        var isPrepared = false
        /// The number of processes that are started ahead of the first image.
        var preparingCount = 0
        /// The number of images that are decoded, besides slow ones.
        var useCount = 0
        /// The formats that were decoded so far, whose libraries each new process loads.
        var formats: Set<ImageFormat> = []
        /// The formats that no program has.
        var missingFormats: Set<ImageFormat> = []
        /// The process that started the first one; a copy of it, by `fork`, cannot use them.
        var owner: Int32?
        var slowCount = 0
        var startedCount = 0
        var requestCount = 0
        /// The number of restarts; processes of an earlier one are ended.
        var generation = 0
        var description: HelperDescription?
        /// The failure of the last start, if no program works on this machine, and when it was.
        var failure: (error: EideticError, time: ContinuousClock.Instant)?

        /// Takes the process that was used last, of those that can decode a format.
        mutating func takeIdle(for format: ImageFormat?) -> HelperProcess? {
            let needed = lacks(format) ? nil : format
            return idle.lastIndex { $0.canDecode(needed) }.map { idle.remove(at: $0) }
        }

        /// Returns whether no program has a decoder for a format.
        func lacks(_ format: ImageFormat?) -> Bool { format.map { missingFormats.contains($0) } ?? false }

        /// Takes the process that can decode the fewest formats, of those the last.
        mutating func takeLeastUseful() -> HelperProcess? {
            let fewest = idle.map(\.description.formats.count).min()
            return idle.lastIndex { $0.description.formats.count == fewest }.map { idle.remove(at: $0) }
        }
    }

    package static let shared = HelperPool()

    /// The order of images that threads of Eidetic decode, and the memory of large ones.
    package let turns: DecodeTurns
    let memories: ResultMemoryPool
    package let settings: Settings
    private let state = Monitor(State())
    let keptDecoders = Monitor(KeptDecoders())
    let drains = WorkPool(name: "eidetic drain", maximumThreadCount: 4)
    private let idleProcesses: IdleProcesses
    /// The threads that start processes before they are needed; one that does not answer delays no release.
    private let starts = WorkPool(name: "eidetic start", maximumThreadCount: 4)

    package init(settings: Settings = Settings()) {
        self.settings = settings
        turns = DecodeTurns(settings: settings.turns)
        memories = ResultMemoryPool(reusableLimit: settings.reusableLimit)
        idleProcesses = IdleProcesses(interval: settings.idleTime / 2)
    }

    package var startedCount: Int { state.withLock { $0.startedCount } }

    /// The number of memories that were created for large results; each serves many.
    package var createdMemoryCount: Int { memories.createdCount }

    /// The number of images that processes were asked about.
    package var requestCount: Int { state.withLock { $0.requestCount } }

    /// The processes that wait for an image.
    package var idleIdentifiers: [Int32] { state.withLock { $0.idle.map(\.identifier) } }

    package var slowCount: Int { state.withLock { $0.slowCount } }

    /// Starts the first process, unless there was one a moment ago, so that it is ready when an image has arrived;
    /// returns at once.
    package func prepare() {
        // A process that `fork` makes meanwhile must know that it is not the owner.
        guard isOwner else { return }
        let isFirst = state.withLock { state in
            guard !state.isPrepared, state.failure == nil else { return false }
            state.isPrepared = true
            state.preparingCount = state.preparingCount + 1
            return true
        }
        guard isFirst else { return }
        starts.enqueue { [self] in
            addIdle()
            state.withLock { $0.preparingCount -= 1 }
            state.broadcast()
        }
    }

    /// Returns whether no process can decode these bytes on this machine, as far as the last attempts tell.
    ///
    /// A process that died, or for which the system had no room, is no reason.
    package func isMissing(for bytes: [UInt8]) -> Bool {
        let format = bytes.withUnsafeBytes { ImageFormat.known(in: $0) }
        return !isOwner || state.withLock { $0.failure != nil || $0.lacks(format) }
    }

    /// Starts processes until as many as there are processors wait; returns at once.
    package func warmUp() {
        guard isOwner else { return }
        for _ in 0..<settings.idleLimit { starts.enqueue { [self] in addIdle() } }
    }

    private func addIdle() {
        guard state.withLock({ $0.idle.count < settings.idleLimit }), let helper = try? start() else { return }
        giveBack(helper)
    }

    /// Returns what the processes have said about themselves, and starts one if there is none.
    ///
    /// - Throws: `sandboxUnavailable`.
    package func description() throws(EideticError) -> HelperDescription {
        if let known = state.withLock({ $0.description }) { return known }
        let helper = try acquire()
        giveBack(helper)
        return helper.description
    }

    /// Returns a process for one image, started now if none waits that can decode it.
    ///
    /// - Throws: `sandboxUnavailable` if there is no program, or none with a decoder that this process has.
    func acquire(for format: ImageFormat? = nil) throws(EideticError) -> HelperProcess {
        try checkOwner()
        if let format, state.withLock({ $0.lacks(format) }), ImageDecoder.hasDecoder(for: format) {
            throw Self.missingDecoder(of: format)
        }
        while let helper = state.withLock({ $0.takeIdle(for: format) }) {
            if helper.isQuiet { return helper }
            helper.end()
        }
        return try start(for: format)
    }

    /// Waits until another image may be decoded, and counts it until ``endUse()``.
    ///
    /// A process for each image of a hundred pipelines would start a hundred of them.
    ///
    /// - Parameter context: Cancels the wait; without one the thread waits as long as an image takes that is not slow.
    /// - Throws: `cancelled`.
    func beginUse(context: JobContext?) throws(EideticError) {
        var waited = Duration.zero
        while true {
            try context?.checkCancellation()
            let isAllowed: Void? = state.wait(for: HelperProcess.interval) { state -> Void? in
                let isReady = state.preparingCount == 0 || !state.idle.isEmpty
                guard isReady, state.useCount < settings.useLimit else { return nil }
                state.useCount += 1
                return ()
            }
            if isAllowed != nil { return }
            waited += HelperProcess.interval
            guard context == nil, waited >= settings.slowTime else { continue }
            return state.withLock { $0.useCount += 1 }
        }
    }

    /// Ends what ``beginUse(context:)`` has begun.
    func endUse() {
        state.withLock { $0.useCount -= 1 }
        state.broadcast()
    }

    /// Refuses the use of processes by a copy of the process that has started them.
    func checkOwner() throws(EideticError) {
        guard isOwner else {
            let message = "images cannot be decoded in the sandbox: its processes are those of the parent process"
            throw EideticError(.sandboxUnavailable, message: message)
        }
    }

    /// A Boolean value indicating whether this process is the first one that has asked; it is the owner from then on.
    private var isOwner: Bool {
        let identifier = getpid()
        return state.withLock { state in
            state.owner = state.owner ?? identifier
            return state.owner == identifier
        }
    }

    private static func missingDecoder(of format: ImageFormat) -> EideticError {
        let message = "images cannot be decoded in the sandbox: its program has no decoder for \(format)"
        return EideticError(.sandboxUnavailable, message: message)
    }

    private func start(for format: ImageFormat? = nil) throws(EideticError) -> HelperProcess {
        try checkOwner()
        // Not for each image the directories are searched again.
        if let failure = state.withLock({ $0.failure }), failure.time + settings.retryTime > .now {
            throw failure.error
        }
        var reason = HelperLocation.absence
        let (generation, formats) = state.withLock { state in
            if let format, ImageDecoder.loadedFormats.contains(format) { state.formats.insert(format) }
            return (state.generation, state.formats)
        }
        var other: HelperProcess?, isPermanent = true
        for program in settings.programs() {
            do throws(HelperStartFailure) {
                let helper = try process(of: program.loading(formats), generation: generation)
                recordStart(of: helper)
                if helper.canDecode(format) { return helper }
                other = other ?? helper
            } catch {
                reason = error.message
                isPermanent = isPermanent && error.kind == .permanent
            }
        }
        if let format, let other, isPermanent { return try use(other, withoutDecoderFor: format) }
        if let other { giveBack(other) }
        let message = "images cannot be decoded in the sandbox: \(reason)"
        let error = EideticError(.sandboxUnavailable, message: message)
        state.withLock { if $0.generation == generation { $0.failure = isPermanent ? (error, .now) : nil } }
        throw error
    }

    /// Starts a process; one that dies meanwhile is started again.
    private func process(of program: HelperProgram, generation: Int) throws(HelperStartFailure) -> HelperProcess {
        var count = 1
        while true {
            do throws(HelperStartFailure) {
                return try HelperProcess(starting: program, generation: generation, within: settings.startTime)
            } catch {
                guard error.kind == .momentary, count < settings.startLimit else { throw error }
                count += 1
            }
        }
    }

    private func recordStart(of helper: HelperProcess) {
        state.withLock { state in
            state.startedCount += 1
            // A process that was started before a restart says nothing about the programs of now.
            guard state.generation == helper.generation else { return }
            state.description = helper.description
            state.failure = nil
        }
    }

    /// Returns a process without a decoder that this process does not have either; others serve other images.
    private func use(
        _ helper: HelperProcess,
        withoutDecoderFor format: ImageFormat
    ) throws(EideticError) -> HelperProcess {
        state.withLock { if $0.generation == helper.generation { $0.missingFormats.insert(format) } }
        guard ImageDecoder.hasDecoder(for: format) else { return helper }
        giveBack(helper)
        throw Self.missingDecoder(of: format)
    }

    /// Returns a process after an image; one that still works on a cancelled image gets a little time to end it.
    func giveBack(_ helper: HelperProcess) {
        guard helper.isBusy else { return keep(helper) }
        drains.enqueue { [self] in
            if helper.drain(within: .milliseconds(200)) { keep(helper) } else { helper.end() }
        }
    }

    private func keep(_ helper: HelperProcess) {
        guard helper.isQuiet, helper.imageCount < settings.imageLimit, helper.setLowered(false) else {
            // One that is of no use before its first image would be replaced without end.
            return helper.imageCount > 0 ? replace(helper) : helper.end()
        }
        let surplus = state.withLock { state -> HelperProcess? in
            guard state.generation == helper.generation else { return helper }
            helper.idleSince = .now
            state.idle.append(helper)
            return state.idle.count > settings.idleLimit ? state.takeLeastUseful() : nil
        }
        state.broadcast()
        if let surplus { surplus.end() }
        if surplus !== helper { idleProcesses.start(for: self) }
    }

    /// Ends processes that have waited for an image long enough; returns `true` if others wait.
    func endIdleProcesses() -> Bool {
        let (unused, hasOthers) = state.withLock { state -> ([HelperProcess], Bool) in
            let end = ContinuousClock.now - settings.idleTime
            let unused = state.idle.filter { $0.idleSince <= end }
            state.idle.removeAll { $0.idleSince <= end }
            state.isPrepared = state.isPrepared && !state.idle.isEmpty
            return (unused, !state.idle.isEmpty)
        }
        for helper in unused { helper.end() }
        return hasOthers
    }

    /// Returns whether a process was started since the last restart.
    func isCurrent(_ helper: HelperProcess) -> Bool { state.withLock { $0.generation == helper.generation } }

    /// Ends a process, and starts another one, so that the next image does not wait for it; returns at once.
    func replace(_ helper: HelperProcess) {
        helper.end()
        starts.enqueue { [self] in addIdle() }
    }

    /// Ends the processes that wait, and forgets that there was no program.
    package func restart() {
        state.withLock { state in
            state.generation += 1
            state.missingFormats = []
            state.failure = nil
            state.description = nil
            state.isPrepared = false
        }
        for helper in state.withLock({ state in
            defer { state.idle = [] }
            return state.idle
        }) { helper.end() }
        for process in keptDecoders.withLock({ $0.takeAll() }) { removeProcess(process) }
    }
}

// MARK: Slow images
extension HelperPool {
    func countRequest() { state.withLock { $0.requestCount += 1 } }

    /// Counts an image as slow; returns `false` if too many are, unless their number is limited by turns.
    func beginSlow(hasTurn: Bool) -> Bool {
        state.withLock { state in
            let isAllowed = hasTurn || state.slowCount < settings.slowLimit
            if isAllowed { state.slowCount += 1 }
            return isAllowed
        }
    }

    func endSlow() { state.withLock { $0.slowCount -= 1 } }
}
