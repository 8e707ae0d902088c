import EideticCore
import Glibc
import LifecycleCore

extension LifecycleHost {
    func perform(_ effect: LifecycleEffect) {
        switch effect {
        case .deliver(let callback, _): deliver(callback)
        case .setTaskPhase(let phase, let deadline): application.tasks.setPhase(phase, deadline: deadline)
        case .expireTasks: expireTasks()
        case .freezeProcess: stopProcess()
        case .commitSuspension: break
        case .thawProcess: Log.write(.info, category: .background, message: "goes on")
        case .deliverNotices: application.noticeCenter.resume()
        case .saveArchive: saveArchive()
        case .deleteArchive: archive?.delete()
        case .deliverMemoryWarning(let level): deliverMemoryPressure(MemoryPressure(rawValue: level) ?? .critical)
        case .extendStopTimeout(let duration): serviceManager.extendStopTimeout(by: duration)
        case .releaseSleepInhibitor: loginManager?.allowSleep()
        case .acquireSleepInhibitor: loginManager?.inhibitSleep()
        case .exitProcess: exitProcess()
        case .killProcess(let reason): killProcess(for: reason)
        // The rest is a supervisor's: this process cannot start, throttle or report itself.
        case .spawnProcess, .refuse, .warnAboutLocks, .throttleProcess, .penalizeWake, .cancelTransfers, .reportExit:
            break
        }
    }

    /// Tells streams and delegate; without a delegate there is nobody to wait for.
    private func deliver(_ callback: LifecycleCallback) {
        var offered: [UInt8]?
        switch callback {
        case .didEnterBackground: application.phaseBroadcast.post(.background)
        case .willEnterForeground: application.phaseBroadcast.post(.foreground)
        case .willTerminate: application.stateBroadcast.finish()
        case .launch:
            application.setPreviousExitReport(archive?.consumeReport())
            offered = archive?.startLaunch()
        default: break
        }
        guard let delegate else { return inbox.acknowledge(callback) }
        Task { @MainActor [application, inbox, offered] in
            inbox.acknowledge(callback, archive: delegate.perform(callback, for: application, archive: offered))
        }
    }

    /// All handlers of the application's together on the main actor, in the order of their tasks.
    private func expireTasks() {
        let tasks = application.tasks
        var onMain: [(identifier: UInt64, body: @MainActor @Sendable () -> Void)] = []
        for (identifier, handler) in tasks.removeHandlers() {
            switch handler {
            case .anyThread(let body): if tasks.isOpen(identifier) { body() }
            case .mainActor(let body): onMain.append((identifier, body))
            case .none: break
            }
        }
        guard !onMain.isEmpty else { return }
        // What has ended by the time the main actor comes to it is not told that its time is up.
        Task { @MainActor [onMain] in
            for (identifier, body) in onMain where tasks.isOpen(identifier) { body() }
        }
    }

    private func deliverMemoryPressure(_ level: MemoryPressure) {
        application.pressureBroadcast.post(level)
        guard let delegate else { return }
        Task { @MainActor [application] in delegate.application(application, didReceiveMemoryPressure: level) }
    }
}

extension ApplicationDelegate {
    /// Calls the methods that a callback stands for; gives what is to be saved.
    fileprivate func perform(_ callback: LifecycleCallback, for application: Application, archive: [UInt8]?) -> [UInt8]?
    {
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
