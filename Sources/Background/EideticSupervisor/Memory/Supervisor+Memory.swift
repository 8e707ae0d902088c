import EideticCore
import EideticLifecycle

// Applications are warned when memory is short, and end if that is not enough: suspended ones first.
extension Supervisor {
    func relieveMemory() {
        let now = Clock.now
        let isNeeded = applications.values.contains { $0.process != nil }
        if let level = memory.read(at: now, isNeeded: isNeeded) {
            for application in applications.values where application.process != nil {
                application.handle(.memoryWarning(level: level.number))
            }
        }
        // A group that limits one application alone may be nearly full.
        for application in applications.values {
            guard let level = application.process?.watchedMemory?.read(at: now) else { continue }
            application.handle(.memoryWarning(level: level.number))
        }
        guard memory.takeChoice(at: now),
            !applications.values.contains(where: { $0.components.memory.isUnderWay(at: now) })
        else { return }
        guard let first = MemoryRelief.first(of: applications.values.compactMap(MemoryRelief.Candidate.init)),
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

extension MemoryRelief.Candidate {
    /// An application, if it may end because memory is short.
    fileprivate init?(_ application: SupervisedApplication) {
        guard let process = application.process, !MemoryEnd.spares(application.view) else { return nil }
        self.init(
            identifier: application.identifier,
            isSuspended: application.lifecycle.state == .suspended,
            residentMemory: process.residentMemory
        )
    }
}
