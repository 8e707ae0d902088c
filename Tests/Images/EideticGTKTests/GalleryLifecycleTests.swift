#if GTK
import EideticCore
import EideticGTK
import EideticTestSupport
import Glibc
import Testing

/// The Gallery as an application, with an image that its server holds back until the test lets it go.
@Suite("Gallery in the background", .timeLimit(.minutes(3)), .needsGallery)
struct GalleryLifecycleTests {
    private let gallery: RunningGallery
    private let requestReached = Gate()
    private let responseGate = Gate()
    private let origin: ScriptedOrigin

    init() async throws {
        gallery = try await RunningGallery(imageCount: 1)
        origin = try RunningGallery.heldOrigin(responseGate, reached: requestReached)
    }

    /// Starts the Gallery with two images, of which the second is held back.
    private func start() async throws {
        try await gallery.start([gallery.server.url + "/0.png", origin.url + "/late.png"], awaiting: "state active")
        await requestReached.wait()
    }

    @Test("L25 an image that comes while the Gallery is minimised is on the screen when it is restored")
    func minimised() async throws {
        try await start()
        try await gallery.minimize()
        await gallery.waitForOutput("state background")
        responseGate.open()
        await gallery.waitForOutput("not drawn yet: \(origin.url)/late.png")
        try await gallery.restore()
        await gallery.waitForOutput("state active", times: 2)
        try await eventually("the image") { try await gallery.shows(5) }
        try await gallery.quit()
    }

    @Test("B01 the Gallery is inactive while another window has the focus")
    func inactive() async throws {
        try await start()
        responseGate.open()
        await gallery.waitForOutput("all shown")
        // It may have been inactive while it was launched.
        let count = gallery.outputCount(of: "state inactive")
        try gallery.openAnotherWindow()
        await gallery.waitForOutput("state inactive", times: count + 1)
        // The other one may come to the front once more, and would receive the keys.
        await gallery.closeOtherWindow()
        try await gallery.quit()
    }

    @Test("C17 the image that the Gallery is storing when it is stopped is on disk at the next start")
    func stoppedWhileStoring() async throws {
        try await start()
        // The store waits for the directory's lock, until the stop has begun.
        let lock = try FileSystem().open(gallery.directory.path(of: "cache/lock"), flags: O_RDWR)
        #expect(flock(lock.rawValue, LOCK_EX) == 0)
        responseGate.open()
        await gallery.waitForOutput("all shown")
        gallery.kill(SIGTERM)
        await gallery.waitForOutput("state background")
        #expect(flock(lock.rawValue, LOCK_UN) == 0)
        try await gallery.waitUntilExit()
        origin.stop()
        try await gallery.start([gallery.server.url + "/0.png", origin.url + "/late.png"])
        #expect(!gallery.hasOutput("failed"))
        try await eventually("the image") { try await gallery.shows(5) }
        try await gallery.quit()
    }
}
#endif
