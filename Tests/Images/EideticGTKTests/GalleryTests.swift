#if GTK
import EideticCore
import EideticGTK
import EideticTestSupport
import Glibc
import Testing

@Suite("Gallery", .timeLimit(.minutes(3)), .needsGallery)
struct GalleryTests {
    @Test("L01 the Gallery's grid shows the server's images, each in its cell, and all widgets have accessible names")
    func grid() async throws {
        let gallery = try await RunningGallery(imageCount: 10)
        let reader = try await gallery.start()
        let items = try await reader.items()
        #expect(items.allSatisfy { $0.isNamed }, "\(items)")
        let names = Set(items.map(\.name))
        #expect(names.isSuperset(of: ["Images", "Refresh", "Dark colours", "10 images"]), "\(names)")
        #expect(names.contains { $0.hasPrefix("Size of the cache") }, "\(names)")
        try await gallery.waitForImages(10, among: items, reader: reader)
        // First light, then dark.
        let background = (x: 15, y: 700), light = try await gallery.capture()[background.x, background.y]
        try await gallery.press("ctrl+d")
        try await eventually("dark") { try await gallery.capture()[background.x, background.y].x < light.x / 2 }
        // Each image is revalidated, and the server responds that it has not changed.
        try await gallery.press("F5")
        try await eventually("revalidation") {
            try await gallery.server.requests().count { $0.status == 304 } >= 10
        }
        try await gallery.quit()
    }

    @Test("L01 the Gallery by keys, mouse and screen reader: to an image, its neighbours, and back")
    func detail() async throws {
        let gallery = try await RunningGallery(imageCount: 10)
        let reader = try await gallery.start()
        try await gallery.press("Right", "Down", "Return")
        await gallery.waitForOutput("detail shown: 5")
        try await eventually("the large image") {
            try await gallery.capture().shows(RunningGallery.colour(ofImage: 5), at: (560, 420))
        }
        try await gallery.press("Right")
        await gallery.waitForOutput("detail shown: 6")
        try await gallery.press("Left")
        await gallery.waitForOutput("detail shown: 5", times: 2)
        try await gallery.press("Escape")
        let second = try #require(try await reader.items(named: "2").last)
        let point = try await gallery.middle(of: second, reader: reader)
        try await eventually("the grid") {
            try await gallery.capture().shows(RunningGallery.colour(ofImage: 2), at: point)
        }
        try await gallery.click(at: point)
        await gallery.waitForOutput("detail shown: 2")
        try await reader.press("Next image")
        await gallery.waitForOutput("detail shown: 3")
        try await reader.press("Back to the grid")
        // The image under the mouse is brighter, so another one is compared.
        let seventh = try await gallery.middle(
            of: try #require(try await reader.items(named: "7").last),
            reader: reader
        )
        try await eventually("the grid again") {
            try await gallery.capture().shows(RunningGallery.colour(ofImage: 7), at: seventh)
        }
        try await gallery.quit()
    }

    @Test(
        "L01 the Gallery by touch: to an image and its neighbours",
        .enabled(if: TouchScreen.isInstalled, "needs root, and Xorg with its drivers dummy and inputtest")
    )
    func touch() async throws {
        let gallery = try await RunningGallery(imageCount: 10, hasTouch: true)
        let reader = try await gallery.start()
        let (finger, origin) = try await gallery.touchScreen()
        func point(of name: String) async throws -> (x: Int, y: Int) {
            let point = try await gallery.middle(
                of: try #require(try await reader.items(named: name).last),
                reader: reader
            )
            return (origin.x + point.x, origin.y + point.y)
        }
        try await finger.tap(at: try await point(of: "2"))
        await gallery.waitForOutput("detail shown: 2")
        let middle = (x: origin.x + 560, y: origin.y + 420)
        try await finger.drag(from: middle, to: (middle.x - 300, middle.y), steps: 8)
        await gallery.waitForOutput("detail shown: 3")
        try await finger.drag(from: middle, to: (middle.x + 300, middle.y), steps: 8)
        await gallery.waitForOutput("detail shown: 2", times: 2)
        try await gallery.quit()
    }

    @Test(
        "L01 the Gallery's grid scrolls under a finger",
        .enabled(if: TouchScreen.isInstalled, "needs root, and Xorg with its drivers dummy and inputtest")
    )
    func scroll() async throws {
        let gallery = try await RunningGallery(imageCount: 10, hasTouch: true)
        _ = try await gallery.start()
        let (finger, origin) = try await gallery.touchScreen()
        // One image in a row.
        try await gallery.resize(width: 500, height: 500)
        let top = (x: 250, y: 150)
        try await eventually("the first image") {
            try await gallery.capture().shows(RunningGallery.colour(ofImage: 0), at: top)
        }
        let low = (x: origin.x + top.x, y: origin.y + 450)
        try await finger.drag(from: low, to: (low.x, low.y - 250), steps: 30)
        try await eventually("another image") {
            try await !gallery.capture().shows(RunningGallery.colour(ofImage: 0), at: top)
        }
        try await gallery.quit()
    }

    @Test("C12 the Gallery shows the size of its cache in KB and MB, and its button clears it")
    func cache() async throws {
        let gallery = try await RunningGallery(imageCount: 3)
        var reader = try await gallery.start()
        // Images of other sizes are written after the images are shown.
        var usage = try await gallery.usage()
        try await eventually("the size of a small cache") { [reader] in
            usage = try await gallery.usage()
            return try await !reader.items(named: "\(usage.logicalSize)").isEmpty
        }
        #expect(usage.entryCount >= 3 && usage.logicalSize.description.hasSuffix(" KB"), "\(usage)")
        try await gallery.quit()
        try gallery.serveLarge("large.png")
        reader = try await gallery.start()
        try await eventually("the size of a large cache") { [reader] in
            usage = try await gallery.usage()
            return try await !reader.items(named: "\(usage.logicalSize)").isEmpty
        }
        #expect(usage.logicalSize.description.hasSuffix(" MB"), "\(usage)")
        let size = "\(usage.logicalSize)"
        let figure = try #require(try await reader.items().first { $0.isFocusable && $0.name.hasSuffix(size) })
        try await reader.press(figure)
        try await eventually("the button") { try await !reader.items(named: "Clear cache").isEmpty }
        try await reader.press("Clear cache")
        try await eventually("an empty cache") { try await reader.name(of: figure).hasSuffix("0 bytes") }
        #expect(try await gallery.usage().entryCount == 0)
        // Visible images stay; after a refresh they are loaded again, and counted.
        try await gallery.press("Escape")
        try await eventually("the button is gone") {
            try await !reader.items(named: "Clear cache").contains(where: \.isShowing)
        }
        try await gallery.press("F5")
        try await eventually("the images again") { try await reader.name(of: figure).hasSuffix(" MB") }
        try await gallery.quit()
    }

    @Test("L23 an image that the Gallery shows large starts from the grid's")
    func start() async throws {
        let gallery = try await RunningGallery(imageCount: 3)
        let reader = try await gallery.start()
        // Only the grid's image in memory is left.
        await gallery.server.stop()
        // What the grid has loaded may still be written.
        try await eventually("no cache is left") {
            try await Subprocess.run("rm", arguments: ["-rf", gallery.directory.path(of: "cache")]).status == .exited(0)
        }
        let item = try #require(try await reader.items(named: "1").last)
        try await gallery.click(at: try await gallery.middle(of: item, reader: reader))
        try await eventually("the failure") {
            try await !reader.items(named: "not in the cache, and the server cannot be reached").isEmpty
        }
        try await eventually("the grid's image") {
            try await gallery.capture().shows(RunningGallery.colour(ofImage: 1), at: (560, 420))
        }
        try await gallery.quit()
    }

    @Test("L01 the Gallery refuses a list that is a pipe, whose other end nobody opens")
    func pipe() async throws {
        let gallery = try await RunningGallery(imageCount: 1)
        let path = gallery.directory.path(of: "list")
        #expect(mkfifo(path, 0o600) == 0)
        let reader = try await gallery.start(["@" + path], awaiting: "state active")
        try await eventually("the failure") { try await !reader.items(named: "\(path): not a regular file").isEmpty }
        try await gallery.quit()
    }

    @Test("L07, L09 the Gallery shows its list and its images from the cache when there is no server")
    func offline() async throws {
        let gallery = try await RunningGallery(imageCount: 4)
        _ = try await gallery.start()
        try await gallery.quit()
        await gallery.server.stop()
        let reader = try await gallery.start()
        await gallery.waitForOutput("offline")
        #expect(!gallery.hasOutput("failed"))
        try await gallery.waitForImages(4, among: try await reader.items(), reader: reader)
        try await gallery.quit()
    }
}
#endif
