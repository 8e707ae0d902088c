import EideticCore
import EideticLifecycle

// Applications are warned when memory is short, and end if that is not enough: suspended ones first.
extension Supervisor {
    func relieveMemory() {
        let now = Clock.now
        let isNeeded = applications.values.contains { $0.process != nil }
        if let level = memory.read(at: now, isNeeded: isNeeded) {
            for application in applications.values where application.process != nil {
                application.handle(.memoryWarning(level: level.rawValue))
            }
        }
        for application in applications.values { application.readMemory(at: now) }
        guard memory.takeChoice(at: now),
            !applications.values.contains(where: { $0.components.memory.isUnderWay(at: now) })
        else { return }
        guard let first = MemoryRelief.first(of: applications.values.compactMap(\.memoryCandidate)),
            let application = applications[first.identifier]
        else { return }
        let effects = application.components.memory.begin(
            at: memory.level,
            residentMemory: first.residentMemory,
            in: application.view
        )
        application.perform(effects)
    }
}

extension SupervisedApplication {
    /// The groups that limit this application alone, while it runs; a suspended one uses no more than it has.
    var watchedMemory: ApplicationMemory? { process.flatMap { $0.suspensions.start == nil ? $0.memory : nil } }

    /// Warns the application if a group that limits it alone is nearly full.
    fileprivate func readMemory(at now: Duration) {
        guard let level = watchedMemory?.read(at: now) else { return }
        handle(.memoryWarning(level: level.rawValue))
    }

    /// The application, if it may end because memory is short.
    fileprivate var memoryCandidate: MemoryRelief.Candidate? {
        guard let process, !MemoryEnd.spares(view) else { return nil }
        return MemoryRelief.Candidate(
            identifier: identifier,
            isSuspended: lifecycle.state == .suspended,
            residentMemory: process.residentMemory
        )
    }
}
