import Eidetic
import EideticCore
import EideticTestSupport
import EideticViews
import Glibc
import Testing

/// All steps of one load in their order, with the thread of each.
@MainActor
@Suite("Order of the steps", .timeLimit(.minutes(2)))
struct StepOrderTests {
    @Test(
        "L18 placeholder, memory, disk, download, progress, previews, decode, transform, memory and display, disk: in this order"
    )
    func order() async throws {
        let png = try TestImage.png(width: 200, height: 160), log = StepLog(), gate = Gate()
        let server = try ScriptedOrigin { _ in
            log.add("request")
            let head = ScriptedOrigin.Step.head(200, headers: ["Content-Length": "\(png.count)"])
            let middle = png.count * 2 / 3
            return [head, .send(Array(png[..<middle])), .wait(gate), .send(Array(png[middle...]))]
        }
        let directory = try TemporaryDirectory(named: "order"), plan = FaultPlan()
        let settings = DiskCache.Configuration(directory: directory.path(of: "cache"))
        let disk = try DiskCache(settings, fileSystem: FileSystem(observer: plan))
        let pipeline = ImagePipeline(.init(diskCache: disk))
        let request = ImageRequest(
            .remote(try FetchRequest(url: server.url + "/a")),
            rendering: .init(transform: LoggingTransform(log: log)),
            options: .progressive,
            cachePolicy: .afterStorage
        )
        let path = disk.path(for: request.name)
        plan.before(.open, pathContaining: path) { log.add("disk read") }
        plan.before(.rename, pathContaining: "/cache/") { log.add("disk write") }
        let display = LoggingDisplay(log: log)
        let slot = ImageSlot(display: display, pipeline: pipeline, gate: DisplayGate())
        let pixels = try TestImage.pixels(width: 1, height: 1)
        let placeholder = Image(frames: [Image.Frame(pixels: pixels)], format: .png, sourceSize: pixels.size)
        slot.load(request, presentation: .init(placeholder: placeholder)) { _ in
            log.add("completion")
        } progress: { progress in
            if progress.received > 0 { log.addOnce("progress") }
        }
        // Shown when the call returns; the load goes on meanwhile.
        #expect(log.steps.first?.name == "show 1x1")
        try await eventually("the image is displayed") { log.contains("show 200x160") }
        gate.open()
        try await eventually("the completion is called") { log.contains("completion") }
        let names = log.steps.map(\.name)
        func first(_ name: String) throws -> Int { try #require(names.firstIndex(of: name), "\(name) in \(names)") }
        func last(_ name: String) throws -> Int { try #require(names.lastIndex(of: name), "\(name) in \(names)") }
        #expect(try first("show 1x1") < first("disk read"))
        #expect(try first("disk read") < first("request"))
        #expect(try first("request") < first("progress"))
        #expect(try first("progress") < first("show 200x160"))
        // The first transform is that of a preview, the last that of the image.
        #expect(try first("transform") < first("show 200x160"))
        #expect(try first("show 200x160") < last("transform"))
        #expect(try last("transform") < first("disk write"))
        #expect(try last("transform") < last("show 200x160"))
        #expect(try last("show 200x160") < last("completion"))
        let onMain: Set = ["show 1x1", "show 200x160", "progress", "completion"]
        // The main actor may run on another thread than at the start of the process.
        for step in log.steps where !onMain.contains(step.name) { #expect(!step.isOnMainThread, "\(step)") }
    }

    @Test("L18 the image is delivered, and in memory, while it is still being written to disk")
    func storesMeanwhile() async throws {
        let directory = try TemporaryDirectory(named: "order"), plan = FaultPlan(), gate = Monitor(false)
        let settings = DiskCache.Configuration(directory: directory.path(of: "cache"))
        let disk = try DiskCache(settings, fileSystem: FileSystem(observer: plan))
        let pipeline = ImagePipeline(.init(diskCache: disk)), png = try TestImage.png(width: 8, height: 6)
        let request = ImageRequest(.provider(name: "chart") { () throws(EideticError) in png })
        plan.before(.rename, pathContaining: "/cache/") { gate.wait { $0 ? () : nil } }
        #expect(try await pipeline.image(for: request).size.width == 8)
        #expect(pipeline.cachedImage(for: request) != nil)
        #expect(access(disk.path(for: "provider:chart"), F_OK) != 0)
        gate.withLock { $0 = true }
        gate.broadcast()
        try await eventually("the pipeline is idle") { pipeline.isIdle }
        #expect(try disk.blocking.contains("provider:chart"))
    }
}

/// The steps of a load, with the kind of thread of each.
private final class StepLog: Sendable {
    struct Step: Sendable {
        let name: String
        let isOnMainThread: Bool
    }

    private let mainThread: UInt
    private let state = Guarded<[Step]>([])

    @MainActor
    init() { mainThread = UInt(pthread_self()) }

    var steps: [Step] { state.withLock { $0 } }
    func contains(_ name: String) -> Bool { steps.contains { $0.name == name } }

    func add(_ name: String) {
        let step = Step(name: name, isOnMainThread: UInt(pthread_self()) == mainThread)
        state.withLock { $0.append(step) }
    }

    func addOnce(_ name: String) { if !contains(name) { add(name) } }
}

private struct LoggingTransform: ImageTransform {
    let key = "logging"
    let log: StepLog

    func apply(to pixels: PixelBuffer) throws(EideticError) -> PixelBuffer {
        log.add("transform")
        return pixels
    }
}

@MainActor
private final class LoggingDisplay: ImageDisplay {
    private let log: StepLog

    init(log: StepLog) { self.log = log }

    func display(_ image: Image?, transition: ImageTransition?, completion: @escaping @MainActor () -> Void) {
        log.add("show \(image.map { "\($0.size)" } ?? "nothing")")
        completion()
    }
}
