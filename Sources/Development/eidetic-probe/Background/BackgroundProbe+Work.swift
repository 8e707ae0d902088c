import Eidetic
import EideticBackground
import EideticCore
import EideticStore
import EideticTestSupport
import EideticViews
import Glibc
import Synchronization

// The work of the probe: observing, loading, allocating memory.
extension BackgroundProbe {
    /// Prints memory pressure and notices, and allocates memory until the pressure is critical.
    @MainActor
    func observeSystem(for application: Application) {
        let pressure = application.memoryPressure
        let growth = MemoryGrowth(
            mebibytesPerSecond: max(plan.memoryGrowth, plan.pixelGrowth),
            after: plan.firstMemory,
            isForPixels: plan.pixelGrowth > 0
        )
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
                    if plan.noticeWork > .zero {
                        try? await Task.sleep(for: plan.noticeWork)
                        printLine("handled")
                    }
                }
            }
        }
    }

    /// Loads an image through a pipeline that observes the application, and prints the result.
    func startLoad(in application: Application, cache: DiskCache?) {
        guard let url = plan.url else { return }
        Task.detached { [self] in
            // Otherwise the process may exit between the end of the load and its line.
            let output = plan.continuesInBackground ? application.beginBackgroundTask(withName: "output") {} : .invalid
            do {
                let pipeline = plan.usesSharedPipeline ? .shared : makePipeline(in: application, cache: cache)
                let options: ImageOptions = plan.continuesInBackground ? .continueInBackground : []
                let request = ImageRequest(url, options: options)
                try await loadImage(for: request, pipeline: pipeline)
                application.endBackgroundTask(output)
                // A consumer that has not yet requested a value does not hold the process.
                let lines =
                    plan.continuesInBackground ? .invalid : application.beginBackgroundTask(withName: "lines") {}
                printLine("observes states")
                for await state in application.states where state == .background {
                    // A look-up would use an image that is being released, and so bring it back.
                    try await eventually("an empty memory", is: .zero) { pipeline.memoryUsage }
                    printLine("memory is empty in the background")
                    if plan.usesSharedPipeline {
                        try await eventually("held drawing") { await DisplayGate.shared.isHeld }
                        printLine("drawing is held in the background")
                    }
                    application.endBackgroundTask(lines)
                }
            } catch let error as EideticError {
                printLine("not loaded: \(error.code)")
                application.endBackgroundTask(output)
            } catch {
                printLine("\(error)")
            }
        }
    }

    /// Returns a pipeline that is given the application as its environment.
    private func makePipeline(in application: Application, cache: DiskCache?) -> ImagePipeline {
        var configuration = ImagePipeline.Configuration(diskCache: cache)
        configuration.environment = application
        return ImagePipeline(configuration)
    }

    /// Loads the same bytes on several connections continuously, and ignores failures.
    func startLoadStorm(in application: Application) {
        guard let url = plan.stormURL else { return }
        var configuration = ImagePipeline.Configuration(diskCache: nil)
        configuration.environment = application
        let pipeline = ImagePipeline(configuration)
        for number in 0..<6 {
            Task.detached {
                for round in 0... {
                    // A different URL each time, so that no load is coalesced or cached.
                    let request = ImageRequest("\(url)?\(number).\(round)", options: .allowInvalidCertificates)
                    do {
                        _ = try await pipeline.response(for: request)
                        printLine("storm \(round)")
                    } catch { printLine("storm failed \(error)") }
                }
            }
        }
    }

    /// Loads and releases the image, because an image in use remains in the memory cache's index.
    private func loadImage(for request: ImageRequest, pipeline: ImagePipeline) async throws(EideticError) {
        let response = try await pipeline.response(for: request)
        printLine("loaded \(response.image.size.width) from \(response.source)")
        printLine("in memory \(pipeline.cachedImage(for: request) != nil)")
    }

    /// Consumes states up to the background, and then keeps the stream without requesting another value.
    func abandonStateStream(of application: Application) async {
        // Until it requests a value the consumer does not hold the process.
        let lines = application.beginBackgroundTask(withName: "lines") {}
        for await state in application.states {
            printLine("consumed \(state)")
            guard state == .background else { continue }
            printLine("stopped consuming")
            application.endBackgroundTask(lines)
            await application.waitUntilTerminated()
        }
    }
}
