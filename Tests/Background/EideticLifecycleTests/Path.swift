import EideticLifecycle

/// Steps to the states from which transitions start; none takes time.
enum Path {
    static let launching: [Step] = [.now(.launch(.user))]
    static let active: [Step] = launching + [.acknowledge(.launch(.user)), .acknowledge(.didBecomeActive)]
    static let inactive: [Step] = active + [.now(.deactivate), .acknowledge(.willResignActive)]
    static let enteringBackground: [Step] = active + [.now(.enterBackground), .acknowledge(.willResignActive)]
    static let background: [Step] =
        active + [.now(.openTaskCountChanged(1)), .now(.enterBackground)]
        + [.acknowledge(.willResignActive), .acknowledge(.didEnterBackground)]
    static let suspending: [Step] = background + [.now(.openTaskCountChanged(0)), .after(.milliseconds(250))]
    static let suspended: [Step] = suspending + [.now(.processFrozen(openTasks: 0, blocksOthers: false))]
    static let expiring: [Step] = background + [.after(.seconds(600))]
}
