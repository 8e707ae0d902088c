import EideticLifecycle

// Events of the first process, the only one in most tests.
extension LifecycleEvent {
    static func callbackAcknowledged(_ callback: LifecycleCallback) -> LifecycleEvent {
        .callbackAcknowledged(callback, process: .first)
    }

    static func openTaskCountChanged(_ count: Int) -> LifecycleEvent { .openTaskCountChanged(count, process: .first) }

    static func wakeCompleted(_ id: UInt64) -> LifecycleEvent { .wakeCompleted(id, .newData, process: .first) }

    static func processFrozen(openTasks: Int, blocksOthers: Bool) -> LifecycleEvent {
        .processFrozen(.first, openTasks: openTasks, blocksOthers: blocksOthers)
    }

    static func processExited(status: Int32) -> LifecycleEvent { .processExited(.first, status: status) }

    static func openURL(_ text: String) -> LifecycleEvent { .openURL(IncomingURL(text, id: 1)) }
}

extension LifecycleCallback {
    static func openURL(_ text: String) -> LifecycleCallback { .openURL(IncomingURL(text, id: 1)) }
}

extension LaunchReason {
    static func url(_ text: String) -> LaunchReason { .url(IncomingURL(text, id: 1)) }
}
