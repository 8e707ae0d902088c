import EideticBackground
import EideticCore
import Glibc
import Synchronization

/// Says each callback, and begins and ends the tasks of the plan.
@MainActor
final class ProbeDelegate: ApplicationDelegate {
    private let plan: Plan
    private var open: [(work: Plan.Work, identifier: BackgroundTaskIdentifier)] = []

    private let storm: Storm

    init(_ plan: Plan, _ storm: Storm) { (self.plan, self.storm) = (plan, storm) }

    func applicationWillFinishLaunching(_ application: Application) {
        told("willFinishLaunching", application)
        if plan.crashesAtLaunch { abort() }
    }

    func application(_ application: Application, didFinishLaunchingWith archive: [UInt8]?) {
        if let archive { say("archive \(String(decoding: archive, as: UTF8.self))") }
        if let report = application.previousExitReport { say("report \(report)") }
        told("didFinishLaunching", application)
        for work in plan.works { open.append((work, begin(work, application))) }
    }

    func applicationDidBecomeActive(_ application: Application) { told("didBecomeActive", application) }
    func applicationWillResignActive(_ application: Application) { told("willResignActive", application) }
    func applicationWillEnterForeground(_ application: Application) { told("willEnterForeground", application) }

    func applicationDidEnterBackground(_ application: Application) {
        told("didEnterBackground", application)
        say("remaining \(application.backgroundTimeRemaining.components.seconds)")
        for (work, identifier) in open {
            guard let duration = work.duration else { continue }
            Task {
                try? await Task.sleep(for: duration)
                say("done \(work.name)")
                application.endBackgroundTask(identifier)
            }
        }
    }

    func applicationArchive(_ application: Application) -> [UInt8]? { plan.archive }

    func applicationWillTerminate(_ application: Application) {
        if plan.stormThreads > 0 { say("inside \(storm.inside.load(ordering: .sequentiallyConsistent))") }
        told("willTerminate", application)
        say("late begin \(application.beginBackgroundTask() == .invalid ? "refused" : "granted")")
    }

    func application(_ application: Application, didReceiveMemoryPressure level: MemoryPressure) {
        say("warned \(level)")
    }

    private func told(_ name: String, _ application: Application) {
        say("\(name) \(application.state.rawValue)")
        // Blocks the main thread, as a careless application does.
        if let hang = plan.hangs[name] { usleep(UInt32(hang / .microseconds(1))) }
    }

    private func begin(_ work: Plan.Work, _ application: Application) -> BackgroundTaskIdentifier {
        let slot = open.count
        return application.beginBackgroundTask(withName: work.name) { [weak self] in
            say("expired \(work.name)")
            self?.expired(slot, application)
        }
    }

    private func expired(_ slot: Int, _ application: Application) {
        if plan.beginsAtExpiry {
            say("begin at expiry \(application.beginBackgroundTask() == .invalid ? "refused" : "granted")")
        }
        if plan.returnsAtExpiry { application.present(.active) }
        if plan.endsAllAtExpiry {
            for task in open { application.endBackgroundTask(task.identifier) }
        } else if plan.endsAtExpiry {
            application.endBackgroundTask(open[slot].identifier)
        }
    }
}
