import EideticCore
import Glibc
import EideticLifecycle

extension StandaloneHost {
    /// Performs an effect of the state machine.
    func perform(_ effect: LifecycleEffect) {
        switch effect {
        case .deliver(let callback, _): performer.deliver(callback, at: now)
        case .setTaskPhase(let phase, let deadline):
            application.tasks.setPhase(phase, deadline: deadline.map { $0 + time.lost })
        case .expireTasks: performer.expireTasks()
        case .freezeProcess: stopProcess()
        case .commitSuspension: break
        case .thawProcess: Log.write(.info, category: .background, message: "resumed")
        case .deliverNotices: performer.deliverNotices(at: now)
        case .saveArchive: performer.saveArchive()
        case .deleteArchive: performer.archive?.delete()
        case .deliverMemoryWarning(let level):
            performer.deliverMemoryPressure(MemoryPressure(number: level))
        case .extendStopTimeout(let duration): performer.serviceManager.extendStopTimeout(by: duration)
        case .releaseSleepInhibitor: loginManager?.allowSleep()
        case .acquireSleepInhibitor: loginManager?.inhibitSleep()
        case .exitProcess: performer.exitProcess()
        case .killProcess(let reason): killProcess(for: reason)
        // The others are effects for a supervisor: a process cannot start, throttle or report itself.
        case .spawnProcess, .refuse, .warnAboutLocks, .throttleProcess, .penalizeWake, .cancelTransfers, .reportExit,
            .reportWake, .reportURL:
            break
        }
    }
}
