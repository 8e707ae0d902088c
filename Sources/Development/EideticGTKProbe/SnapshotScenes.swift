#if GTK
import CGTK
import EideticBackground
import EideticBackgroundGTK
import EideticGTK
import EideticTestSupport
import Glibc

extension Scenes {
    /// Shows a red widget, which snapshots hide, beside a green one, until the supervisor ends the application.
    static func snapshots(_ stage: Stage) async throws {
        let application = Application.shared
        var configuration = Application.Configuration()
        configuration.followsTerminal = false
        try application.start(configuration)
        application.followWindows()
        await stage.present()
        let (secret, other) = (stage.add(gtk_picture_new()), stage.add(gtk_picture_new()))
        application.hideInSnapshots(secret)
        for (widget, colour) in [(secret, Colour.red), (other, .green)] {
            let url = try stage.serve("\(colour.red).png", colour: colour)
            try await ImageWidget(widget, pipeline: stage.pipeline).show(ImageRequest(url))
        }
        await stage.waitForFrames(2)
        print("both are shown")
        fflush(nil)
        await application.waitUntilTerminated()
    }
}
#endif
