/// The environment of everything that was given none: that of the application of this process, once it has started.
///
/// Until an application starts, the process is in the foreground, nothing expires, and memory pressure is not reported.
/// An application that starts takes over the background tasks that are open, and the streams that were created before.
/// Pass a ``ForegroundEnvironment`` to a pipeline or cache that does not depend on the application.
package final class DefaultEnvironment: ApplicationEnvironment {
    package static let shared = DefaultEnvironment()

    /// A background task that was opened before the application started.
    private struct EarlyTask {
        let name: String
        let expirationHandler: @Sendable () -> Void
    }

    private struct State {
        var application: (any ApplicationEnvironment)?
        var earlyTasks: [BackgroundTaskIdentifier: EarlyTask] = [:]
        /// The application's identifiers of early tasks that it has taken over.
        var adoptedTasks: [BackgroundTaskIdentifier: BackgroundTaskIdentifier] = [:]
        var earlyTaskCount: UInt64 = 0
    }

    private let state = Guarded(State())
    private let phaseRelay = StreamRelay<ApplicationPhase>()
    private let pressureRelay = StreamRelay<MemoryPressure>()

    package init() {}

    /// Makes an application's environment the one that is used from now on.
    ///
    /// - Returns: `false`, with no effect, if there is one already.
    @discardableResult
    package func install(_ application: any ApplicationEnvironment) -> Bool {
        let earlyTasks = state.withLock { state -> [BackgroundTaskIdentifier: EarlyTask]? in
            guard state.application == nil else { return nil }
            state.application = application
            return state.earlyTasks
        }
        guard let earlyTasks else { return false }
        phaseRelay.connect { application.phases }
        pressureRelay.connect { application.memoryPressure }
        for (identifier, task) in earlyTasks { adopt(task, identifier: identifier, by: application) }
        return true
    }

    /// Opens a background task of the application; without one, the task has no effect until one starts.
    package func beginBackgroundTask(
        named name: String,
        expirationHandler: @escaping @Sendable () -> Void
    ) -> BackgroundTaskIdentifier {
        let early = EarlyTask(name: name, expirationHandler: expirationHandler)
        var identifier = BackgroundTaskIdentifier.invalid
        let application = state.withLock { state -> (any ApplicationEnvironment)? in
            if state.application == nil { identifier = Self.insert(early, into: &state) }
            return state.application
        }
        return application?.beginBackgroundTask(named: name, expirationHandler: expirationHandler) ?? identifier
    }

    /// Ends a background task; has no effect for a task that has ended, and for `.invalid`.
    package func endBackgroundTask(_ identifier: BackgroundTaskIdentifier) {
        var adopted = identifier
        let application = state.withLock { state -> (any ApplicationEnvironment)? in
            if Self.isEarly(identifier) {
                state.earlyTasks[identifier] = nil
                adopted = state.adoptedTasks.removeValue(forKey: identifier) ?? .invalid
            }
            return state.application
        }
        if adopted != .invalid { application?.endBackgroundTask(adopted) }
    }

    /// The phases of the application, when it has started.
    package var phases: AsyncStream<ApplicationPhase> { phaseRelay.stream() }

    /// The memory pressure that the application reports, when it has started.
    package var memoryPressure: AsyncStream<MemoryPressure> { pressureRelay.stream() }
}

// MARK: Tasks that were opened before the application started
extension DefaultEnvironment {
    /// Inserts a task under an identifier whose lower half is 0, which no application uses.
    private static func insert(_ task: EarlyTask, into state: inout State) -> BackgroundTaskIdentifier {
        state.earlyTaskCount += 1
        let identifier = BackgroundTaskIdentifier(rawValue: state.earlyTaskCount << 32)
        state.earlyTasks[identifier] = task
        return identifier
    }

    private static func isEarly(_ identifier: BackgroundTaskIdentifier) -> Bool {
        identifier != .invalid && UInt32(truncatingIfNeeded: identifier.rawValue) == 0
    }

    /// Opens the application's task for an early one, unless that has ended in the meantime.
    ///
    /// If the application refuses the task, it expires.
    private func adopt(
        _ task: EarlyTask,
        identifier: BackgroundTaskIdentifier,
        by application: any ApplicationEnvironment
    ) {
        let adopted = application.beginBackgroundTask(named: task.name, expirationHandler: task.expirationHandler)
        let hasEnded = state.withLock { state in
            guard state.earlyTasks.removeValue(forKey: identifier) != nil else { return true }
            if adopted != .invalid { state.adoptedTasks[identifier] = adopted }
            return false
        }
        if hasEnded { return application.endBackgroundTask(adopted) }
        if adopted == .invalid { task.expirationHandler() }
    }
}
