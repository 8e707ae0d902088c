/// The ends of an application that keep it from being launched or woken again.
package struct LaunchHistory: Sendable, Hashable {
    /// A Boolean value indicating whether the user ended the application; only the user starts it again.
    package var wasForceQuit = false
    /// The number of crashes during launch since the last successful one.
    package var launchCrashCount = 0
    /// The number of processes that ended during wakes of a kind, since the last one that completed such a wake.
    package var wakeCrashCounts: [WakeReason.Kind: Int] = [:]

    /// Adds what a record knows to what another one does.
    package mutating func restore(wasForceQuit: Bool, wakeCrashCounts counts: [WakeReason.Kind: UInt32]) {
        self.wasForceQuit = self.wasForceQuit || wasForceQuit
        wakeCrashCounts.merge(counts.mapValues { Int($0) }) { max($0, $1) }
    }

    /// Counts the end of a process in the middle of wakes.
    mutating func recordEnd(during kinds: Set<WakeReason.Kind>) {
        for kind in kinds { wakeCrashCounts[kind, default: 0] += 1 }
    }

    /// Returns a Boolean value indicating whether the application has ended so often during wakes of a kind that it is
    /// not woken for them until the user uses it.
    func isCrashing(in kind: WakeReason.Kind, under rules: LifecycleRules) -> Bool {
        wakeCrashCounts[kind, default: 0] > rules.wakeCrashLimit
    }

    /// Returns the reason for which the application is not woken for a kind.
    func obstacle(
        toWakesFor kind: WakeReason.Kind,
        isRunning: Bool,
        under rules: LifecycleRules
    ) -> LifecycleEffect.Refusal? {
        if wasForceQuit { return .forceQuit }
        if isCrashing(in: kind, under: rules) { return .repeatedWakeCrashes }
        return !isRunning && isCrashingAtLaunch(under: rules) ? .repeatedLaunchCrashes : nil
    }

    /// Returns a Boolean value indicating whether only the user starts the application, as it has crashed too often.
    func isCrashingAtLaunch(under rules: LifecycleRules) -> Bool { launchCrashCount > rules.launchCrashLimit }
}
