#if GTK
import EideticGTK
import EideticTestSupport
import Glibc
import Testing

/// The Gallery whose background time expires while its server holds an image back.
@Suite("Gallery with transfers", .timeLimit(.minutes(3)), .needsGallery)
struct GalleryTransferTests {
    private let gallery: RunningGallery
    private let responseGate = Gate()
    private let origin: ScriptedOrigin

    init() async throws {
        gallery = try await RunningGallery(imageCount: 1)
        origin = try RunningGallery.heldOrigin(responseGate)
    }

    private var sources: [String] { [gallery.server.url + "/0.png", origin.url + "/late.png"] }

    /// Starts the Gallery, and minimises it until the transfer process has requested the image.
    private func handOver() async throws {
        try await gallery.start(sources, options: ["--background-time", "5"], awaiting: "state active")
        await origin.waitForRequests(count: 1)
        try await gallery.minimize()
        await origin.waitForRequests(count: 2)
        #expect(origin.requests.map { $0.headers["accept-encoding"] == "identity" } == [false, true])
    }

    @Test("L06 B14 an image that the Gallery has handed over before it was killed is shown without another request")
    func killed() async throws {
        try await handOver()
        await gallery.killAndWait()
        responseGate.open()
        try await gallery.waitForTransfers()
        try await gallery.start(sources)
        try await eventually("the image") { try await gallery.shows(5) }
        #expect(origin.requests.count == 2)
        try await gallery.quit()
    }

    @Test("L06 L25 an image whose load the background time has ended is loaded when the Gallery is restored")
    func restored() async throws {
        try await handOver()
        responseGate.open()
        try await gallery.restore()
        await gallery.waitForOutput("all shown")
        try await eventually("the image") { try await gallery.shows(5) }
        try await gallery.quit()
    }
}
#endif
