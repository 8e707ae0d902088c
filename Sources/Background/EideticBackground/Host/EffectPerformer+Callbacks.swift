import EideticCore
import EideticLifecycle

extension EffectPerformer {
    /// Calls the delegate on the main actor; acknowledges at once without a delegate.
    func call(_ callback: LifecycleCallback, archive: [UInt8]?) {
        guard let delegate else { return acknowledgeWithoutDelegate(callback) }
        Task { @MainActor [application, inbox, wakes] in
            switch callback {
            case .openURL(let url):
                let isHandled = delegate.application(application, open: url.text, from: url.source)
                inbox.post([.urlAnswered(url.id, isHandled: isHandled, process: .first)])
            case .wake(let reason): wakes.start(reason, of: application, delegate: delegate, inbox: inbox)
            default: break
            }
            let archive = delegate.perform(callback, for: application, archive: archive)
            // Before the acknowledgement: the process may be frozen after it.
            if callback == .didEnterBackground { application.saveSnapshot() }
            inbox.acknowledge(callback, archive: archive)
        }
    }

    private func acknowledgeWithoutDelegate(_ callback: LifecycleCallback) {
        if case .wake(let reason) = callback {
            inbox.post([.wakeCompleted(reason.id, .noData, process: .first)])
        }
        guard callback == .didEnterBackground, application.keepsSnapshot else { return inbox.acknowledge(callback) }
        Task { @MainActor [application, inbox] in
            application.saveSnapshot()
            inbox.acknowledge(callback)
        }
    }

    /// Calls the handlers of all open tasks, and cancels the wakes and the work that the user has started.
    ///
    /// Handlers of libraries run on threads of their own, the others on the main actor in the order of the tasks.
    func expireTasks() {
        wakes.cancel()
        application.wakeCenter.cancelContinued()
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

    func deliverMemoryPressure(_ level: MemoryPressure) {
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
            let options = LaunchOptions(callback, archive: archive) ?? LaunchOptions(archive: archive)
            self.application(application, didFinishLaunchingWith: options)
        case .didBecomeActive: applicationDidBecomeActive(application)
        case .willResignActive: applicationWillResignActive(application)
        case .didEnterBackground:
            applicationDidEnterBackground(application)
            return applicationArchive(application)
        case .willEnterForeground: applicationWillEnterForeground(application)
        case .willTerminate: applicationWillTerminate(application)
        // Called before, with their answers.
        case .openURL, .wake: break
        }
        return nil
    }
}
