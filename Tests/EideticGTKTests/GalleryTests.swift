#if GTK
import EideticCore
import EideticGTK
import EideticTestSupport
import Testing

@Suite("Gallery", .timeLimit(.minutes(3)), .enabled(if: RunningGallery.canRun, "needs what Scene needs, and D-Bus"))
struct GalleryTests {
    @Test("L01 the Gallery's grid shows the server's pictures, each in its cell, and all of it has names for people")
    func grid() async throws {
        let gallery = try await RunningGallery(pictures: 10)
        let reader = try await gallery.start()
        let items = try await reader.items()
        let unnamed = items.filter { $0.isFocusable && ($0.name.isEmpty || $0.name.hasPrefix("Gtk")) }
        #expect(unnamed.isEmpty, "\(unnamed)")
        let names = Set(items.map(\.name))
        let wanted = ["Pictures", "Refresh", "Dark colours", "Size of the cache", "Next picture", "10 pictures"]
        #expect(names.isSuperset(of: wanted), "\(names)")
        // The transition to each picture may still be under way.
        for number in 0..<10 {
            let item = try #require(items.last { $0.name == "\(number)" })
            let place = try await gallery.middle(item, reader)
            try await gallery.until("picture \(number)") {
                try await gallery.look().shows(RunningGallery.colour(number), place)
            }
        }
        // Light, then dark.
        let ground = (x: 15, y: 700), light = try await gallery.look()[ground.x, ground.y]
        try await gallery.press("ctrl+d")
        try await gallery.until("dark") { try await gallery.look()[ground.x, ground.y].x < light.x / 2 }
        // The server is asked for each picture whether it has changed, and says no.
        try await gallery.press("F5")
        try await gallery.until("revalidation") { try await gallery.server.requests().count { $0.status == 304 } >= 10 }
        try await gallery.quit()
    }

    @Test("L01 the Gallery by keys, mouse and screen reader: to a picture, its neighbours, and back")
    func detail() async throws {
        let gallery = try await RunningGallery(pictures: 10)
        let reader = try await gallery.start()
        try await gallery.press("Right", "Down", "Return")
        await gallery.waits(for: "detail shown: 5")
        try await gallery.until("the large picture") {
            try await gallery.look().shows(RunningGallery.colour(5), (560, 420))
        }
        try await gallery.press("Right")
        await gallery.waits(for: "detail shown: 6")
        try await gallery.press("Left")
        await gallery.waits(for: "detail shown: 5", times: 2)
        try await gallery.press("Escape")
        let second = try #require(try await reader.items("2").last)
        let place = try await gallery.middle(second, reader)
        try await gallery.until("the grid") { try await gallery.look().shows(RunningGallery.colour(2), place) }
        try await gallery.click(place)
        await gallery.waits(for: "detail shown: 2")
        try await reader.press("Next picture")
        await gallery.waits(for: "detail shown: 3")
        try await reader.press("Back to the grid")
        // Not the one under the mouse, which is brighter.
        let other = try await gallery.middle(try #require(try await reader.items("7").last), reader)
        try await gallery.until("the grid again") { try await gallery.look().shows(RunningGallery.colour(7), other) }
        try await gallery.quit()
    }

    @Test(
        "L01 the Gallery by touch: to a picture and its neighbours",
        .enabled(if: TouchScreen.isInstalled, "needs root, and Xorg with its drivers dummy and inputtest")
    )
    func touch() async throws {
        let gallery = try await RunningGallery(pictures: 10, hasTouch: true)
        let reader = try await gallery.start()
        let (finger, origin) = try await gallery.finger()
        func place(_ name: String) async throws -> (x: Int, y: Int) {
            let place = try await gallery.middle(try #require(try await reader.items(name).last), reader)
            return (origin.x + place.x, origin.y + place.y)
        }
        try await finger.tap(try await place("2"))
        await gallery.waits(for: "detail shown: 2")
        let middle = (x: origin.x + 560, y: origin.y + 420)
        try await finger.drag(from: middle, to: (middle.x - 300, middle.y), steps: 8)
        await gallery.waits(for: "detail shown: 3")
        try await finger.drag(from: middle, to: (middle.x + 300, middle.y), steps: 8)
        await gallery.waits(for: "detail shown: 2", times: 2)
        try await gallery.quit()
    }

    @Test(
        "L01 the Gallery's grid scrolls under a finger",
        .enabled(if: TouchScreen.isInstalled, "needs root, and Xorg with its drivers dummy and inputtest")
    )
    func scroll() async throws {
        let gallery = try await RunningGallery(pictures: 10, hasTouch: true)
        _ = try await gallery.start()
        let (finger, origin) = try await gallery.finger()
        // One picture in a row.
        try await gallery.resize(500, 500)
        let top = (x: 250, y: 150)
        try await gallery.until("the first picture") { try await gallery.look().shows(RunningGallery.colour(0), top) }
        let low = (x: origin.x + top.x, y: origin.y + 450)
        try await finger.drag(from: low, to: (low.x, low.y - 250), steps: 30)
        try await gallery.until("another") { try await !gallery.look().shows(RunningGallery.colour(0), top) }
        try await gallery.quit()
    }

    @Test("C12 the Gallery tells the size of its cache in KB and MB, and its button clears it")
    func cache() async throws {
        let gallery = try await RunningGallery(pictures: 3)
        var reader = try await gallery.start()
        let small = try await gallery.usage()
        #expect(small.entryCount >= 3 && small.logicalSize.description.hasSuffix(" KB"), "\(small)")
        try await gallery.until("\(small.logicalSize)") { try await !reader.items("\(small.logicalSize)").isEmpty }
        try await gallery.quit()
        try gallery.putLarge("large.png")
        reader = try await gallery.start()
        let large = try await gallery.usage()
        #expect(large.logicalSize.description.hasSuffix(" MB"), "\(large)")
        try await gallery.until("\(large.logicalSize)") { try await !reader.items("\(large.logicalSize)").isEmpty }
        let figure = try #require(try await reader.items("\(large.logicalSize)").first(where: \.isFocusable))
        try await reader.press("\(large.logicalSize)")
        try await gallery.until("the button") { try await !reader.items("Clear cache").isEmpty }
        try await reader.press("Clear cache")
        try await gallery.until("nothing") { try await reader.name(of: figure) == "0 bytes" }
        #expect(try await gallery.usage().entryCount == 0)
        // What is seen stays; when it is asked for again, it is loaded again, and counted.
        try await gallery.press("Escape", "F5")
        try await gallery.until("pictures again") { try await reader.name(of: figure).hasSuffix(" MB") }
        try await gallery.quit()
    }

    @Test("L23 a picture that the Gallery shows large starts from the grid's")
    func start() async throws {
        let gallery = try await RunningGallery(pictures: 3)
        let reader = try await gallery.start()
        // Nothing but the grid's picture in memory is left of it.
        await gallery.server.stop()
        _ = try await Subprocess.run("rm", arguments: ["-rf", gallery.directory.path(of: "cache")])
        let item = try #require(try await reader.items("1").last)
        try await gallery.click(try await gallery.middle(item, reader))
        try await gallery.until("the failure") {
            try await !reader.items("not in the cache, and the server cannot be reached").isEmpty
        }
        try await gallery.until("the grid's picture") {
            try await gallery.look().shows(RunningGallery.colour(1), (560, 420))
        }
        try await gallery.quit()
    }

    @Test("L07, L09 the Gallery shows its list and its pictures from the cache when there is no server")
    func offline() async throws {
        let gallery = try await RunningGallery(pictures: 4)
        _ = try await gallery.start()
        try await gallery.quit()
        await gallery.server.stop()
        let reader = try await gallery.start()
        await gallery.waits(for: "offline")
        #expect(!gallery.says("failed"))
        for number in 0..<4 {
            let place = try await gallery.middle(try #require(try await reader.items("\(number)").last), reader)
            try await gallery.until("picture \(number)") {
                try await gallery.look().shows(RunningGallery.colour(number), place)
            }
        }
        try await gallery.quit()
    }
}
#endif
