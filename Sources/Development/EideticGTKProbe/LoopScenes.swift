#if GTK
import CGTK
import Eidetic
import EideticCore
import EideticGTK
import Glibc

extension Scenes {
    /// The main actor is the thread of GLib's main loop, from whatever thread it is entered.
    static func mainActor(_ stage: Stage) async throws {
        let thread = pthread_self()
        let main = await Task.detached { await MainActor.run { pthread_self() } }.value
        stage.expect(pthread_equal(thread, main) != 0, "another thread")
        let flood = Flood()
        for _ in 0..<1_000 { await Task.detached { await flood.count() }.value }
        stage.expect(flood.jobs == 1_000, "\(flood.jobs)")
    }

    /// Jobs of the main actor that never end do not keep the window from being drawn, nor GLib's sources from running.
    static func flood(_ stage: Stage) async throws {
        let widget = stage.add(gtk_picture_new())
        let url = try stage.put("red.png", .red)
        await stage.present()
        let flood = Flood()
        for _ in 0..<4 { Task { await flood.run() } }
        await stage.frames(10)
        try await ImageWidget(widget, pipeline: stage.pipeline).show(url)
        await stage.frames(10)
        let screen = try await stage.screenshot()
        flood.isOver = true
        stage.expect(screen[50, 50].looks(like: .red), "\(screen[50, 50]) after \(flood.jobs) jobs")
        stage.expect(flood.jobs > 1_000, "\(flood.jobs) jobs")
    }
}

/// Jobs of the main actor.
@MainActor
private final class Flood {
    var isOver = false
    private(set) var jobs = 0

    func count() { jobs += 1 }

    /// One job after the other, until it is over.
    func run() async {
        while !isOver {
            jobs += 1
            await Task.yield()
        }
    }
}
#endif
