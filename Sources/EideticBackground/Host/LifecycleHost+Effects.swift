import EideticCore
import Glibc
import LifecycleCore

extension LifecycleHost {
    func perform(_ effect: LifecycleEffect) {
        switch effect {
        case .deliver(let callback, _): deliver(callback)
        case .setTaskPhase(let phase, let deadline):
            application.tasks.setPhase(phase, deadline: deadline.map { $0 + time.lost })
        case .expireTasks: expireTasks()
        case .freezeProcess: stopProcess()
        case .commitSuspension: break
        case .thawProcess: Log.write(.info, category: .background, message: "resumed")
        case .deliverNotices: deliverNotices()
        case .saveArchive: saveArchive()
        case .deleteArchive: archive?.delete()
        case .deliverMemoryWarning(let level): deliverMemoryPressure(MemoryPressure(rawValue: level) ?? .critical)
        case .extendStopTimeout(let duration): serviceManager.extendStopTimeout(by: duration)
        case .releaseSleepInhibitor: loginManager?.allowSleep()
        case .acquireSleepInhibitor: loginManager?.inhibitSleep()
        case .exitProcess: exitProcess()
        case .killProcess(let reason): killProcess(for: reason)
        // The others are effects for a supervisor: a process cannot start, throttle or report itself.
        case .spawnProcess, .refuse, .warnAboutLocks, .throttleProcess, .penalizeWake, .cancelTransfers, .reportExit:
            break
        }
    }

    private func deliverNotices() {
        application.noticeCenter.resume()
        noticeDeadline = now + configuration.rules.observerLimit
    }

    /// Delivers a callback; the return to the foreground after the observers of notices that were held meanwhile.
    private func deliver(_ callback: LifecycleCallback) {
        if callback == .willEnterForeground, noticeDeadline != nil, !application.noticeCenter.isSettled {
            postponedCallback = callback
        } else {
            settleNotices()
            deliverNow(callback)
        }
    }

    /// Waits for observers of held notices no longer when they have finished or taken too long, and delivers the
    /// callback that waits for them, with its full time.
    func checkNoticeObservers() {
        guard let deadline = noticeDeadline, deadline <= now || application.noticeCenter.isSettled else { return }
        settleNotices()
        guard let callback = postponedCallback else { return }
        postponedCallback = nil
        lifecycle.restartCallbackLimit(at: now)
        deliverNow(callback)
    }

    private func settleNotices() {
        noticeDeadline = nil
        application.noticeCenter.settle()
    }

    /// Notifies the streams and the delegate; acknowledges at once without a delegate.
    private func deliverNow(_ callback: LifecycleCallback) {
        var offered: [UInt8]?
        switch callback {
        case .didEnterBackground: post(.background)
        case .willEnterForeground: post(.foreground)
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

    private func post(_ phase: ApplicationPhase) {
        application.phaseBroadcast.post(phase)
        restartObserverLimit()
    }

    /// Calls the handlers of all open tasks: those of libraries on threads of their own, the others on the main actor
    /// in the order of the tasks.
    private func expireTasks() {
        let tasks = application.tasks
        var onThreads: [@Sendable () -> Void] = []
        var onMain: [(identifier: UInt64, body: @MainActor @Sendable () -> Void)] = []
        for (identifier, handler) in tasks.removeHandlers() {
            switch handler {
            case .observer(let body): body()
            case .anyThread(let body): onThreads.append { if tasks.isOpen(identifier) { body() } }
            case .mainActor(let body): onMain.append((identifier, body))
            case .none: break
            }
        }
        HandlerThreads.call(onThreads)
        guard !onMain.isEmpty else { return }
        // A task that ends before the main actor runs its handler is not expired.
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
    /// Calls the delegate methods of a callback, and returns the archive to save.
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
        // Only a supervisor passes these.
        case .openURL, .wake: break
        }
        return nil
    }
}
