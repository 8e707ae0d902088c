#if GTK
import EideticCodecs
import EideticCore
import EideticTestSupport
import Testing

@Suite(
    "Snapshots of windows",
    .serialized,
    .timeLimit(.minutes(3)),
    .enabled(if: SupervisedScreen.canRun, "needs the programs of Scene, and xdotool")
)
struct SnapshotTests {
    /// The way in which the window of the scene leaves the screen.
    enum Exit: String, CaseIterable, Sendable { case minimized, visible }

    @Test(
        "B21 a widget that is hidden in snapshots is covered, however its window left the screen",
        arguments: Exit.allCases
    )
    func sensitive(exit: Exit) async throws {
        let (red, green) = ([220, 20, 30], [20, 160, 40])
        let screen = try await SupervisedScreen(), name = "org.example.Secret"
        try await screen.app("launch", name, Scene.executablePath(of: "EideticGTKProbe"), "snapshots")
        await screen.waitForOutput("both are shown")
        let window = try #require(try await screen.windows(named: "^Eidetic scene$").first)
        let shown = try await screen.capture(window)
        #expect(shown.shows(red, at: (50, 50)) && shown.shows(green, at: (150, 50)))
        if exit == .minimized {
            try await screen.suspendByMinimizing(windowNamed: "^Eidetic scene$")
        } else {
            try await screen.app("background", name)
            try await screen.waitForState("suspended")
        }
        let snapshot = try #require(try await screen.snapshot())
        #expect(snapshot.size == PixelSize(width: 400, height: 300))
        for point in [(1, 1), (50, 50), (98, 98)] { #expect(snapshot.shows([128, 128, 128], at: point), "\(point)") }
        #expect(snapshot.shows(green, at: (150, 50)) && !snapshot.contains(red))
        try await screen.finish(name)
    }

    /// The size of the image that the window shows before; `nil` for a window without one.
    private static let earlierSizes = [
        PixelSize(width: 64, height: 48), PixelSize(width: 30, height: 60), nil,
    ]

    @Test(
        "B21 B18 a completed fetch draws the snapshot again, with its image, whatever the window has shown before",
        arguments: earlierSizes
    )
    func fetch(earlierSize: PixelSize?) async throws {
        let nginx = try await Nginx(), (blue, green) = ([30, 60, 210], [20, 160, 40])
        let screen = try await SupervisedScreen(), name = "org.eidetic.BackgroundFetch"
        let first = try Self.image(of: blue, size: earlierSize ?? PixelSize(width: 64, height: 48))
        let url = try nginx.addFile(first, at: "new")
        try await screen.app("launch", name, Scene.executablePath(of: "BackgroundFetch"), url)
        try await screen.waitForState("active")
        if earlierSize != nil { try await Self.fetchVisibly(on: screen, name, showing: blue) }
        try await screen.suspendByMinimizing(windowNamed: "^BackgroundFetch$")
        let before = try #require(try await screen.snapshot())
        let centre = (before.size.width / 2, before.size.height / 2)
        #expect(before.shows(blue, at: centre) == (earlierSize != nil))
        // Of another length, so that the server tells them apart within a second.
        _ = try nginx.addFile(try Self.image(of: green, as: .jpeg), at: "new")
        try await screen.app("simulate", name, "fetch")
        await screen.waitForOutput("ends with new data", times: earlierSize == nil ? 1 : 2)
        try await screen.waitForState("suspended")
        let after = try #require(try await screen.snapshot())
        #expect(after.size == before.size && after.shows(green, at: centre))
        // An image of these proportions leaves nothing at the sides.
        #expect(after.shows(green, at: (2, before.size.height / 2)))
        try await screen.finish(name)
    }

    /// Lets the application fetch while its window is seen.
    private static func fetchVisibly(on screen: SupervisedScreen, _ name: String, showing colour: [Int]) async throws {
        try await screen.app("simulate", name, "fetch")
        // The window may become active, which resets the badge, during the fetch.
        await screen.waitForOutput("ends with new data")
        try await eventually("the image") {
            guard let window = try await screen.windows(named: "^BackgroundFetch$").first else { return false }
            return try await screen.capture(window).contains(colour)
        }
    }

    @Test("B02 B18 an application that is launched for a fetch shows no window until the user opens it, then the image")
    func launchedInBackground() async throws {
        let nginx = try await Nginx(), blue = [30, 60, 210]
        let screen = try await SupervisedScreen(), name = "org.eidetic.BackgroundFetch"
        let url = try nginx.addFile(try Self.image(of: blue), at: "new.png")
        try await screen.app("launch", "--background", name, Scene.executablePath(of: "BackgroundFetch"), url)
        await screen.waitForOutput("launched in the background")
        try await screen.app("simulate", name, "fetch")
        await screen.waitForOutput("the badge is 1; ends with new data")
        try await screen.waitForState("suspended")
        #expect(try await screen.windows(named: "^BackgroundFetch$").isEmpty)
        try await screen.app("foreground", name)
        try await screen.waitForState("active")
        try await eventually("the image") {
            guard let window = try await screen.windows(named: "^BackgroundFetch$").first else { return false }
            return try await screen.capture(window).contains(blue)
        }
        try await screen.finish(name)
    }

    private static func image(
        of colour: [Int],
        as format: ImageFormat = .png,
        size: PixelSize = PixelSize(width: 64, height: 48)
    ) throws -> [UInt8] {
        let pixels = try PixelBuffer(size: size, alpha: .opaque) { pixels, _ in
            for offset in pixels.indices { pixels[offset] = offset % 4 == 3 ? 255 : UInt8(colour[offset % 4]) }
        }
        let image = Image(frames: [.init(pixels: pixels)], format: format, sourceSize: size)
        return try ImageEncoder.encode(image, as: format)
    }
}
#endif
