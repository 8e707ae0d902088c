import Eidetic
import EideticBackground
import EideticCore
import EideticProbeWords
import EideticStore
import EideticViews
import Glibc

/// Carries out a plan until the application ends.
struct BackgroundProbe: Sendable {
    let plan: BackgroundPlan

    init(plan: BackgroundPlan) { self.plan = plan }

    func run() async throws(EideticError) {
        let application = Application.shared
        if plan.pairCount > 0 { runPairs(in: application) }
        if plan.skipsStart { return }
        if plan.unstartedWrites > 0 { try await endWithoutStart(application) }
        if plan.printsExitThread { Self.printExitThread() }
        if plan.readsInput { Thread.start(name: "input") { Self.readEndlessly() } }
        if plan.usesSharedPipeline { _ = (ImagePipeline.shared, await DisplayGate.shared) }
        let storm = TaskStorm()
        // Before the start, so that it is handled before any callback has returned.
        if plan.stopsAtStart { application.terminate() }
        let delegate = plan.blocksMainThread ? nil : await BackgroundDelegate(plan: plan, storm: storm)
        try application.start(plan.configuration, delegate: delegate)
        let cache = try openCache(in: application)
        await observeSystem(for: application)
        storm.start(threadCount: plan.stormThreads, application: application)
        startLoad(in: application, cache: cache)
        startLoadStorm(in: application)
        if plan.abandonsStateStream { return await abandonStateStream(of: application) }
        // Each presentation is set when the previous one has been reached.
        var (presentations, awaited) = (plan.presentations[...], ApplicationState.active)
        for await state in application.states {
            printLine("state \(state)")
            if plan.blocksMainThread, state == .active { await MainActor.run { Self.blockMainThread() } }
            guard state == awaited, let next = presentations.popFirst() else { continue }
            awaited = next == .active ? .active : next == .inactive ? .inactive : .background
            application.setPresentation(next)
        }
        _ = cache
        await application.waitUntilTerminated()
    }

    /// Ends an application that was never started, while entries are being stored.
    private func endWithoutStart(_ application: Application) async throws(EideticError) -> Never {
        let cache = try DiskCache(.init(directory: plan.cacheDirectory ?? ""))
        // Each call returns here when its write is queued.
        for number in 0..<plan.unstartedWrites {
            Task.immediate { try await cache.insert([UInt8(truncatingIfNeeded: number)], for: "key \(number)") }
        }
        await application.waitUntilTerminated()
    }

    private static func blockMainThread() {
        printLine("blocked")
        readEndlessly()
    }

    /// Waits for input that never comes, as the user of a terminal writes nothing; the stream is locked meanwhile.
    private static func readEndlessly() {
        var ends: [Int32] = [-1, -1]
        pipe(&ends)
        dup2(ends[0], STDIN_FILENO)
        _ = readLine()
    }

    /// Prints at the exit whether its handlers run on the thread of the lifecycle.
    private static func printExitThread() {
        atexit {
            let name = (try? FileSystem().contents(of: "/proc/thread-self/comm")) ?? []
            let isLifecycle = name.starts(with: "eidetic-life".utf8)
            printLine(isLifecycle ? "exit beside the main actor" : "exit on the main actor")
        }
    }

    /// Opens a disk cache and writes to it continuously; prints the stored and the rejected entries.
    private func openCache(in application: Application) throws(EideticError) -> DiskCache? {
        guard let directory = plan.cacheDirectory else { return nil }
        let isReadOnly = !plan.writesToCache && plan.wordsPath == nil && plan.url == nil
        let sweep = HeldSweep(file: plan.heldFile, application: application, isAwaited: isReadOnly)
        let files = FileSystem(observer: plan.heldFile == nil ? nil : sweep)
        let cache = try DiskCache(.init(directory: directory), fileSystem: files, environment: sweep)
        if let path = plan.wordsPath {
            guard let words = try? SharedWords(path: path, count: ProbeWord.count) else { exit(3) }
            CacheWriter(
                name: plan.writerName,
                words: words,
                cache: cache,
                reportPath: plan.storeReportPath
            ).start()
            return cache
        }
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

    /// Opens and closes tasks one after the other, on one thread.
    private func runPairs(in application: Application) {
        // The first pairs allocate what is kept.
        for _ in 0..<100 { runPair(in: application) }
        let before = ProcessResources.current
        printLine("pairs begin")
        for _ in 0..<plan.pairCount { runPair(in: application) }
        printLine("pairs end")
        let after = ProcessResources.current
        printLine("pairs \(plan.pairCount) descriptors \(after.descriptors - before.descriptors)")
        printLine("kilobytes \(after.kilobytes - before.kilobytes)")
    }

    private func runPair(in application: Application) {
        application.endBackgroundTask(application.beginBackgroundTask(withName: "pair") {})
    }
}
