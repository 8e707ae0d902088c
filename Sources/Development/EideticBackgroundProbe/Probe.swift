import EideticBackground
import EideticCore
import EideticStore
import Glibc

/// Runs a plan until the application ends.
struct Probe: Sendable {
    let plan: ProbePlan

    init(plan: ProbePlan) { self.plan = plan }

    func run() async throws(EideticError) {
        let application = Application.shared
        if plan.pairCount > 0 { runPairs(in: application) }
        if plan.skipsStart { return }
        let storm = TaskStorm()
        try application.start(plan.configuration, delegate: await ProbeDelegate(plan: plan, storm: storm))
        if plan.stopsAtStart { kill(getpid(), SIGTERM) }
        let cache = try openCache(in: application)
        await observeSystem(for: application)
        storm.start(threadCount: plan.stormThreads, application: application)
        startLoad(in: application, cache: cache)
        startLoadStorm(in: application)
        if plan.abandonsStateStream { return await abandonStateStream(of: application) }
        // One presentation after the other, each when the one before has been reached.
        var (presents, awaited) = (plan.presentations[...], ApplicationState.active)
        for await state in application.states {
            printLine("state \(state.rawValue)")
            guard state == awaited, let next = presents.popFirst() else { continue }
            awaited = next == .active ? .active : next == .inactive ? .inactive : .background
            application.setPresentation(next)
        }
        _ = cache
        await application.waitUntilTerminated()
    }

    /// Opens a disk cache and writes into it without a pause; says what is stored, and what is refused.
    private func openCache(in application: Application) throws(EideticError) -> DiskCache? {
        guard let directory = plan.cacheDirectory else { return nil }
        let cache = try DiskCache(.init(directory: directory), environment: application)
        guard plan.writesToCache else { return cache }
        Task.detached {
            for number in 0... {
                do {
                    let bytes = [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 2_000)
                    try await cache.insert(bytes, for: "key \(number)")
                    printLine("stored \(number)")
                } catch {
                    printLine("refused \(number) \(error)")
                }
            }
        }
        return cache
    }

    /// Begins and ends tasks in turn, from one thread.
    private func runPairs(in application: Application) {
        // The first ones make what stays.
        for _ in 0..<100 { runPair(in: application) }
        let before = resources
        printLine("pairs begin")
        for _ in 0..<plan.pairCount { runPair(in: application) }
        printLine("pairs end")
        printLine("pairs \(plan.pairCount) descriptors \(resources.descriptors - before.descriptors)")
        printLine("kilobytes \(resources.kilobytes - before.kilobytes)")
    }

    private func runPair(in application: Application) {
        application.endBackgroundTask(application.beginBackgroundTask(withName: "pair") {})
    }

    /// Open files, and memory that this process alone has written to, as the kernel counts it page by page.
    private var resources: (descriptors: Int, kilobytes: Int) {
        let files = FileSystem()
        let names = (try? files.entryNames(in: "/proc/self/fd").count) ?? 0
        let text = String(decoding: (try? files.contents(of: "/proc/self/smaps_rollup")) ?? [], as: UTF8.self)
        let line = text.split(separator: "\n").first { $0.hasPrefix("Anonymous:") }
        return (names, line?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0)
    }
}
