import EideticLifecycle

// The connections by which others reach the suspended application.
extension SupervisedApplication {
    /// Watches the connections of a process that was just suspended.
    func watchCallers() {
        guard let process else { return }
        let search = CallerConnection.all(of: process.freezer.processes)
        process.callers = search.connections
        process.hasHiddenCallers = search.isRefused
        watchCallersAgain()
    }

    private func watchCallersAgain() {
        for caller in process?.callers ?? [] {
            caller.watch(with: context.poller) { [unowned self, source = caller.source] in
                perform(components.thaws.request(from: source, in: view))
            }
        }
    }

    /// The servers of which the application has something to read.
    var unreadSources: Set<ShortThaws.Source> { Set((process?.callers ?? []).filter(\.isReady).map(\.source)) }

    /// The bytes that it has not read.
    var unreadCounts: [ShortThaws.Source: Int] {
        (process?.callers ?? []).reduce(into: [:]) { $0[$1.source, default: 0] += $1.unreadCount }
    }

    func thawBriefly() {
        guard let process else { return }
        for caller in process.callers { caller.endWatch() }
        process.freezer.thaw()
    }

    /// Stops the application again; one that has opened a background task meanwhile continues.
    func endBriefThaw() {
        guard let process, lifecycle.state == .suspended else { return components.thaws.complete() }
        switch FreezeAttempt.begin(process.freezer, page: process.page) {
        case .verified:
            components.thaws.complete()
            watchCallersAgain()
        case .openTasks(let count): continueAfterBriefThaw(openTasks: count)
        case .lock:
            process.freezer.thaw()
            retryToEndBriefThaw()
        case .pending: retryToEndBriefThaw()
        }
    }

    private func retryToEndBriefThaw() {
        if !components.thaws.retry(at: Clock.now) { continueAfterBriefThaw(openTasks: 0) }
    }

    /// Continues the suspended application in the background, where it is suspended again as any other.
    func continueAfterBriefThaw(openTasks: Int) {
        components.thaws.complete()
        guard let process else { return }
        handle(.resumeInBackground)
        if openTasks > 0 { handle(.openTaskCountChanged(openTasks, process: process.identity)) }
    }
}
