import EideticLifecycle

/// Forgets an application without a program and without a process after a while.
package struct Idleness: ApplicationComponent {
    private let limit: Duration
    package private(set) var deadline: Duration?

    package init(limit: Duration) { self.limit = limit }

    package mutating func handle(_ change: ApplicationChange, in view: ApplicationView) -> [ApplicationEffect] {
        guard !view.hasProgram, view.process == nil, !view.lifecycle.isLaunchWaiting else {
            deadline = nil
            return []
        }
        guard change == .deadline else {
            deadline = deadline ?? view.now + limit
            return []
        }
        deadline = view.now + limit
        return view.hasLeftovers ? [] : [.forget]
    }
}
