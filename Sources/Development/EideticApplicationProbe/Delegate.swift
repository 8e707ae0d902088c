import EideticBackground
import EideticCore
import EideticProbeWords
import Glibc

/// Records the times of callbacks.
@MainActor
final class Delegate: ApplicationDelegate {
    private let plan: ApplicationPlan
    private var isMeasured = false

    init(plan: ApplicationPlan) { self.plan = plan }

    func application(_ application: Application, didFinishLaunchingWith options: LaunchOptions) {
        plan.words[ProbeWord.didFinishLaunching] = currentTime
    }

    func applicationDidBecomeActive(_ application: Application) {
        if plan.exitsAfterLaunch { exit(0) }
        if isMeasured { return }
        isMeasured = true
        if plan.measuresPairs { PairMeasurement(words: plan.words, application: application).start() }
        if plan.pairCount > 0 { PairCount(count: plan.pairCount, application: application).start() }
    }

    func applicationDidEnterBackground(_ application: Application) {
        guard plan.opensTaskInBackground else { return }
        let task = application.beginBackgroundTask(withName: "background")
        let words = plan.words
        Thread.start(name: "task") {
            // After the shortest time between two reports that no task is open.
            usleep(50_000)
            words[ProbeWord.taskEnd] = currentTime
            application.endBackgroundTask(task)
        }
    }

    func applicationWillEnterForeground(_ application: Application) {
        plan.words[ProbeWord.willEnterForeground] = currentTime
    }
}
