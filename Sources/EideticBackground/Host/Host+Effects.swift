import EideticCore
import Glibc
import LifecycleCore

extension Host {
    func perform(_ effect: LifecycleEffect) {
        switch effect {
        case .deliver(let callback, _): deliver(callback)
        case .phase(let phase, let deadline): application.tasks.setPhase(phase, deadline: deadline)
        case .expireTasks: expireTasks()
        case .freeze: stopSelf()
        case .commitSuspension: break
        case .thaw: Log.write(.info, .background, "goes on")
        case .deliverNotices: application.notices.deliver()
        case .saveArchive: saveArchive()
        case .deleteArchive: archive?.delete()
        case .memoryWarning(let level): warn(MemoryPressure(rawValue: level) ?? .critical)
        case .extendStop(let duration): service.extendStop(by: duration)
        case .releaseSleep: login?.release()
        case .holdSleep: login?.hold()
        case .finish: finish()
        case .kill(let reason): endNow(reason)
        // The rest is a supervisor's: this process cannot start, throttle or report itself.
        case .spawn, .refuse, .warnOfLocks, .throttle, .penalize, .cancelTransfers, .report: break
        }
    }

    /// Tells streams and delegate; without a delegate there is nobody to wait for.
    private func deliver(_ callback: Callback) {
        var offered: [UInt8]?
        switch callback {
        case .didEnterBackground: application.phaseStream.post(.background)
        case .willEnterForeground: application.phaseStream.post(.foreground)
        case .willTerminate: application.stateStream.finish()
        case .launch:
            application.setPreviousExit(archive?.takeReport())
            offered = archive?.beginLaunch()
        default: break
        }
        guard let delegate else { return inbox.acknowledge(callback) }
        Task { @MainActor [application, inbox, offered] in
            inbox.acknowledge(callback, archive: delegate.perform(callback, for: application, offered))
        }
    }

    /// All handlers of the application's together on the main actor, in the order of their tasks.
    private func expireTasks() {
        let tasks = application.tasks
        var onMain: [(identifier: UInt64, body: @MainActor @Sendable () -> Void)] = []
        for (identifier, handler) in tasks.takeHandlers() {
            switch handler {
            case .anywhere(let body): if tasks.isOpen(identifier) { body() }
            case .main(let body): onMain.append((identifier, body))
            case .none: break
            }
        }
        guard !onMain.isEmpty else { return }
        // What has ended by the time the main actor comes to it is not told that its time is up.
        Task { @MainActor [onMain] in
            for (identifier, body) in onMain where tasks.isOpen(identifier) { body() }
        }
    }

    private func warn(_ level: MemoryPressure) {
        application.pressureStream.post(level)
        guard let delegate else { return }
        Task { @MainActor [application] in delegate.application(application, didReceiveMemoryPressure: level) }
    }
}

extension ApplicationDelegate {
    /// Calls the methods that a callback stands for; gives what is to be saved.
    fileprivate func perform(_ callback: Callback, for application: Application, _ archive: [UInt8]?) -> [UInt8]? {
        switch callback {
        case .launch, .launchInBackground:
            applicationWillFinishLaunching(application)
            self.application(application, didFinishLaunchingWith: archive)
        case .didBecomeActive: applicationDidBecomeActive(application)
        case .willResignActive: applicationWillResignActive(application)
        case .didEnterBackground:
            applicationDidEnterBackground(application)
            return applicationArchive(application)
        case .willEnterForeground: applicationWillEnterForeground(application)
        case .willTerminate: applicationWillTerminate(application)
        // Only a supervisor hands these over.
        case .openURL, .wake: break
        }
        return nil
    }
}
