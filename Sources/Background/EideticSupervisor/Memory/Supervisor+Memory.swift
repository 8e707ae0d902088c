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
        guard memory.takeChoice(at: now), !applications.values.contains(where: \.isEndingForMemory) else { return }
        let candidates = applications.values.compactMap(\.memoryCandidate)
        guard let first = MemoryRelief.first(of: candidates) else { return }
        applications[first.identifier]?.endForMemory(at: memory.level, residentMemory: first.residentMemory)
    }
}
