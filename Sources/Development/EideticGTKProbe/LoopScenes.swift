#if GTK
import CGTK
import Eidetic
import EideticCore
import EideticGTK
import Glibc

extension Scenes {
    /// Enters the main actor from other threads: it runs on the thread of GLib's main loop.
    static func mainActor(_ stage: Stage) async throws {
        let thread = pthread_self()
        let main = await Task.detached { await MainActor.run { pthread_self() } }.value
        stage.expect(pthread_equal(thread, main) != 0, otherwise: "another thread")
        let flood = Flood()
        for _ in 0..<1_000 { await Task.detached { await flood.recordJob() }.value }
        stage.expect(flood.jobs, is: 1_000)
    }

    /// Ends a program that has not started its application, with the writing of an image under way.
    static func finish(_ stage: Stage) async throws {
        let url = try stage.serve("red.png", colour: .red)
        _ = try await stage.pipeline.response(for: stage.request(for: url))
        stage.finishesLoop = true
    }

    /// Floods the main actor with jobs: the window is still drawn, and GLib's sources still run.
    static func flood(_ stage: Stage) async throws {
        let widget = stage.add(gtk_picture_new())
        let url = try stage.serve("red.png", colour: .red)
        await stage.present()
        let flood = Flood()
        for _ in 0..<4 { Task { await flood.run() } }
        await stage.waitForFrames(10)
        try await ImageWidget(widget, pipeline: stage.pipeline).show(ImageRequest(url))
        await stage.waitForFrames(10)
        let screen = try await stage.screenshot()
        flood.isFinished = true
        stage.expect(screen[50, 50], looksLike: .red, "after \(flood.jobs) jobs")
        stage.expect(flood.jobs > 1_000, otherwise: "\(flood.jobs) jobs")
    }
}

/// A flood of jobs of the main actor.
@MainActor
private final class Flood {
    var isFinished = false
    private(set) var jobs = 0

    func recordJob() { jobs += 1 }

    /// Runs one job after the other until the flood is finished.
    func run() async {
        while !isFinished {
            jobs += 1
            await Task.yield()
        }
    }
}
#endif
