import Eidetic
import EideticBackground
import EideticCore
import EideticStore
import Glibc
import Synchronization

// What the probe does beside living: listening, loading, taking memory.
extension Probe {
    /// Says what it is told of memory and by notices; takes memory while it is not critical.
    @MainActor
    func observeSystem(for application: Application) {
        let pressure = application.memoryPressure
        let growth = MemoryGrowth(mebibytesPerSecond: plan.memoryGrowth)
        Task {
            for await level in pressure {
                printLine("pressure \(level)")
                if level == .critical { growth.stop() }
            }
        }
        for (name, behavior) in plan.observedNotices {
            let notices = application.notices(named: name, suspensionBehavior: behavior)
            printLine("observes \(name.rawValue)")
            Task {
                for await notice in notices {
                    let payload = notice.payload.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }.joined()
                    printLine("notice \(name.rawValue) \(notice.object)\(payload) count \(notice.coalescedCount)")
                }
            }
        }
    }

    /// Loads a picture through a pipeline that follows the application, and says what became of it.
    func startLoad(in application: Application, cache: DiskCache?) {
        guard let url = plan.url else { return }
        Task.detached { [self] in
            do throws(EideticError) {
                var configuration = ImagePipeline.Configuration(diskCache: cache)
                configuration.environment = application
                let pipeline = ImagePipeline(configuration)
                let options: ImageOptions = plan.continuesInBackground ? .continueInBackground : []
                let request = try ImageRequest(url, options: options)
                try await show(request, pipeline)
                for await state in application.states where state == .background {
                    // Whoever was told of a state holds the process until it asks for the next one.
                    while pipeline.cachedImage(for: request) != nil { await Task.yield() }
                    printLine("memory is empty in the background")
                }
            } catch {
                printLine("not loaded: \(error.code)")
            }
        }
    }

    /// Loads the same bytes on several connections without a pause, whatever becomes of them.
    func startLoadStorm(in application: Application) {
        guard let url = plan.stormURL else { return }
        var configuration = ImagePipeline.Configuration(diskCache: nil)
        configuration.environment = application
        let pipeline = ImagePipeline(configuration)
        for number in 0..<6 {
            Task.detached {
                for round in 0... {
                    // Another picture each time, which nobody has asked for.
                    let request = try ImageRequest("\(url)?\(number).\(round)", options: .allowInvalidCertificates)
                    do {
                        _ = try await pipeline.response(for: request)
                        printLine("storm \(round)")
                    } catch { printLine("storm failed \(error)") }
                }
            }
        }
    }

    /// The picture is gone when this returns: one that is still in use stays findable.
    private func loadImage(for request: ImageRequest, pipeline: ImagePipeline) async throws(EideticError) {
        let response = try await pipeline.response(for: request)
        printLine("loaded \(response.image.size.width) from \(response.source)")
        printLine("in memory \(pipeline.cachedImage(for: request) != nil)")
    }

    /// Listens until it is sent to the background, and then keeps the stream without ever asking again.
    func abandonStateStream(of application: Application) async {
        for await state in application.states where state == .background {
            printLine("listens no more")
            await application.waitUntilTerminated()
        }
    }
}

/// Takes memory at a steady pace, on a thread of its own, and gives it all back when it is stopped.
private final class MemoryGrowth: Sendable {
    private let isStopped = Atomic<Bool>(false)

    init(mebibytesPerSecond: Int) {
        guard mebibytesPerSecond > 0 else { return }
        Thread.start(name: "growth") {
            var blocks: [UnsafeMutableRawPointer] = []
            while !self.isStopped.load(ordering: .relaxed) {
                let block = mmap(nil, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                guard let block, block != MAP_FAILED else { break }
                memset(block, 1, 1 << 20)
                blocks.append(block)
                usleep(UInt32(1_000_000 / mebibytesPerSecond))
            }
            for block in blocks { munmap(block, 1 << 20) }
            printLine("gave back \(blocks.count) MiB")
        }
    }

    func stop() { isStopped.store(true, ordering: .relaxed) }
}

/// Tasks that begin and end on several threads; counts the threads that are inside one.
final class TaskStorm: Sendable {
    let openTaskCount = Atomic<Int>(0)

    func start(threadCount threads: Int, application: Application) {
        for _ in 0..<threads { Thread.start(name: "storm") { self.run(in: application) } }
    }

    private func run(in application: Application) {
        var pause = 0
        while true {
            let task = application.beginBackgroundTask(withName: "storm")
            if task != .invalid {
                openTaskCount.add(1, ordering: .sequentiallyConsistent)
                sched_yield()
                openTaskCount.subtract(1, ordering: .sequentiallyConsistent)
                application.endBackgroundTask(task)
            }
            pause = (pause + 7) % 100
            usleep(UInt32(pause))
        }
    }
}
