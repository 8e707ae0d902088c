import EideticBackground
import EideticCore
import EideticStore
import Glibc

/// Runs a plan until the application ends.
struct Probe: Sendable {
    let plan: Plan

    init(_ plan: Plan) { self.plan = plan }

    func run() async throws(EideticError) {
        let application = Application.shared
        if plan.pairs > 0 { makePairs(application) }
        if plan.withoutStart { return }
        let storm = Storm()
        try application.start(plan.configuration, delegate: await ProbeDelegate(plan, storm))
        if plan.stopsAtStart { kill(getpid(), SIGTERM) }
        let cache = try openCache(application)
        await observe(application)
        storm.begin(plan.stormThreads, application)
        load(application, cache)
        loadStorm(application)
        if plan.keepsStates { return await keepStates(application) }
        // One presentation after the other, each when the one before has been reached.
        var (presents, awaited) = (plan.presents[...], ApplicationState.active)
        for await state in application.states {
            say("state \(state.rawValue)")
            guard state == awaited, let next = presents.popFirst() else { continue }
            awaited = next == .active ? .active : next == .inactive ? .inactive : .background
            application.present(next)
        }
        _ = cache
        await application.waitForEnd()
    }

    /// Opens a disk cache and writes into it without a pause; says what is stored, and what is refused.
    private func openCache(_ application: Application) throws(EideticError) -> DiskCache? {
        guard let directory = plan.cacheDirectory else { return nil }
        let cache = try DiskCache(.init(directory: directory), environment: application)
        guard plan.writes else { return cache }
        Task.detached {
            for number in 0... {
                do {
                    let bytes = [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 2_000)
                    try await cache.insert(bytes, for: "key \(number)")
                    say("stored \(number)")
                } catch {
                    say("refused \(number) \(error)")
                }
            }
        }
        return cache
    }

    /// Begins and ends tasks in turn, from one thread.
    private func makePairs(_ application: Application) {
        // The first ones make what stays.
        for _ in 0..<100 { makePair(application) }
        let before = resources
        say("pairs begin")
        for _ in 0..<plan.pairs { makePair(application) }
        say("pairs end")
        say("pairs \(plan.pairs) descriptors \(resources.descriptors - before.descriptors)")
        say("kilobytes \(resources.kilobytes - before.kilobytes)")
    }

    private func makePair(_ application: Application) {
        application.endBackgroundTask(application.beginBackgroundTask(withName: "pair") {})
    }

    /// Open files, and memory that this process alone has written to, as the kernel counts it page by page.
    private var resources: (descriptors: Int, kilobytes: Int) {
        let files = FileSystem()
        let names = (try? files.names(in: "/proc/self/fd").count) ?? 0
        let text = String(decoding: (try? files.contents(of: "/proc/self/smaps_rollup")) ?? [], as: UTF8.self)
        let line = text.split(separator: "\n").first { $0.hasPrefix("Anonymous:") }
        return (names, line?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0)
    }
}
