// A GTK program that plays one scene; the tests start it in a display server of its own.
#if GTK
import CGTK
import EideticBackgroundGTK
import EideticCore
import EideticGTK
import Glibc

@main
struct Probe {
    /// Runs the scene; synchronous, because GLib owns the main thread.
    @MainActor
    static func main() {
        guard gtk_init_check() != 0 else { fail("no display") }
        guard CommandLine.arguments.count == 2, let scene = Scenes.all[CommandLine.arguments[1]] else {
            fail("usage: EideticGTKProbe \(Scenes.all.keys.sorted().joined(separator: " | "))")
        }
        MainLoop.attach()
        let loop = g_main_loop_new(nil, 0)
        var (hasPassed, finishesLoop) = (false, false)
        Task {
            do {
                let stage = try await Stage()
                try await scene(stage)
                hasPassed = stage.hasPassed
                finishesLoop = stage.finishesLoop
            } catch {
                Failure.report("\(error)")
            }
            g_main_loop_quit(loop)
        }
        g_main_loop_run(loop)
        print(hasPassed ? "scene over" : "scene failed")
        if finishesLoop {
            fflush(nil)
            MainLoop.finish()
        }
        exit(hasPassed ? 0 : 1)
    }

    private static func fail(_ text: String) -> Never {
        print(text)
        exit(2)
    }
}
#else
@main
struct Probe {
    static func main() { print("built without the trait GTK") }
}
#endif
