#if GTK
import EideticCore
import EideticGTK
import EideticTestSupport
import Testing

/// The Gallery as its users have it: a program with a display, a server, a cache, keys, a mouse and a screen reader.
final class RunningGallery {
    let server: Nginx
    let directory: TemporaryDirectory
    private let screen: Screen
    private let bus: Subprocess
    private var process: Subprocess?
    private var window = ""

    /// Whether all is there that it takes.
    static var canRun: Bool {
        Scene.canPlay
            && ["xdotool", "dbus-daemon", "busctl", "jq"].allSatisfy { Subprocess.executablePath(for: $0) != nil }
            && Subprocess.executablePath(for: "/usr/libexec/at-spi-bus-launcher") != nil
    }

    init(pictures count: Int, hasTouch: Bool = false) async throws {
        server = try await Nginx(.init(server: "autoindex on;"))
        directory = try TemporaryDirectory(named: "gallery")
        screen = try await Screen(hasTouch: hasTouch)
        bus = try await screen.startBus()
        for number in 0..<count { try server.addFile(try Self.picture(number), at: "\(number).png") }
    }

    /// The colour of a picture.
    static func colour(_ number: Int) -> [Int] { [250 - 20 * number, 60 + 15 * number, 20 * number] }

    private static func picture(_ number: Int) throws -> [UInt8] {
        let size = PixelSize(width: 640, height: 480), colour = colour(number)
        let pixels = try PixelBuffer(size: size, alpha: .opaque) { pixels, _ in
            for place in pixels.indices { pixels[place] = place % 4 == 3 ? 255 : UInt8(colour[place % 4]) }
        }
        return try ImageEncoder.encode(Image(frames: [.init(pixels: pixels)], format: .png, sourceSize: size), as: .png)
    }

    /// Puts a picture of about a megabyte on the server, which nothing can make smaller.
    func putLarge(_ name: String) throws {
        let size = PixelSize(width: 700, height: 500)
        let pixels = try PixelBuffer(size: size, alpha: .opaque) { pixels, _ in
            for place in pixels.indices { pixels[place] = place % 4 == 3 ? 255 : UInt8.random(in: 0...255) }
        }
        let image = Image(frames: [.init(pixels: pixels)], format: .png, sourceSize: size)
        try server.addFile(try ImageEncoder.encode(image, as: .png), at: name)
    }

    // MARK: The program

    /// Starts it and waits until all pictures that can be seen are shown.
    func start() async throws -> ScreenReader {
        let arguments = ["--report", "--cache", directory.path(of: "cache"), server.url + "/"]
        // Its theme is the desktop's, which has a light and a dark form; the bus makes it known to screen readers.
        let changes = ["GTK_THEME": nil, "GTK_A11Y": nil, "DBUS_SESSION_BUS_ADDRESS": screen.busAddress]
        process = try Subprocess(
            Scene.program("Gallery"),
            arguments: arguments,
            environment: screen.environment(changes)
        )
        await waits(for: "all shown")
        let found = try await xdotool("search", "--onlyvisible", "--name", "^Gallery$")
        window = found.split(separator: "\n").first.map(String.init) ?? ""
        return try await ScreenReader(screen.busAddress)
    }

    func waits(for text: String, times: Int = 1, _ location: SourceLocation = #_sourceLocation) async {
        guard let process else { return }
        let came = await withTaskCancellationHandler {
            await process.waitForOutput(text, times: times)
        } onCancel: {
            process.kill()
        }
        let said = "\(process.outputSoFar) \(process.errorsSoFar)"
        #expect(came, "\"\(text)\" did not come, but: \(said)", sourceLocation: location)
    }

    func says(_ text: String) -> Bool { process?.outputSoFar.contains(text) ?? false }

    /// Asks the display or the bus again and again until a condition holds; gives up after 20 seconds.
    func until(
        _ what: String,
        _ location: SourceLocation = #_sourceLocation,
        _ condition: () async throws -> Bool
    ) async rethrows {
        let end = ContinuousClock.now + .seconds(20)
        while !(try await condition()) {
            guard ContinuousClock.now < end else {
                return _ = Issue.record("waited in vain for \(what)", sourceLocation: location)
            }
        }
    }

    func quit() async throws {
        try await press("ctrl+q")
        let result = await process?.waitUntilExit()
        #expect(result?.status == .exited(0), "\(result?.errorText ?? "")")
    }

    /// What its cache holds, as another program finds it.
    func usage() async throws -> DiskCache.Usage {
        try await DiskCache(DiskCache.Configuration(directory: directory.path(of: "cache"))).currentUsage()
    }

    // MARK: Keys, mouse and eyes

    func press(_ keys: String...) async throws {
        _ = try await xdotool("windowfocus", "--sync", window)
        for key in keys { _ = try await xdotool("key", key) }
    }

    func click(_ place: (x: Int, y: Int)) async throws {
        _ = try await xdotool("mousemove", "--window", window, "\(place.x)", "\(place.y)", "click", "1")
    }

    /// A finger, and where the window begins on the screen that it touches.
    func finger() async throws -> (finger: Finger, origin: (x: Int, y: Int)) {
        let lines = try await xdotool("getwindowgeometry", "--shell", window).split(separator: "\n")
        func value(_ name: String) throws -> Int {
            try #require(lines.first { $0.hasPrefix(name) }.flatMap { Int($0.dropFirst(name.count)) }, "\(lines)")
        }
        return (try screen.finger(), (try value("X="), try value("Y=")))
    }

    /// Makes the window smaller or larger.
    func resize(_ width: Int, _ height: Int) async throws {
        _ = try await xdotool("windowsize", "--sync", window, "\(width)", "\(height)")
    }

    private func xdotool(_ arguments: String...) async throws -> String {
        try await Subprocess.run("xdotool", arguments: arguments, environment: screen.environment()).outputText
    }

    /// The window as it is on the screen.
    func look() async throws -> PixelBuffer {
        let result = try await Subprocess.run(
            "import",
            arguments: ["-window", window, "png:-"],
            environment: screen.environment()
        )
        return try ImageDecoder.decode(result.output).pixels
    }

    /// The middle of a widget, in the window with the border that casts its shadow.
    func middle(_ item: ScreenReader.Item, _ reader: ScreenReader) async throws -> (x: Int, y: Int) {
        let area = try await reader.area(of: item), whole = try await reader.area(of: try await reader.window())
        let border = (try await look().size.width - whole.width) / 2
        return (area.x + area.width / 2 + border, area.y + area.height / 2 + border)
    }
}

extension PixelBuffer {
    /// Whether a pixel has a colour, but for rounding on its way.
    func shows(_ colour: [Int], _ place: (x: Int, y: Int)) -> Bool {
        let pixel = self[place.x, place.y]
        return (0..<3).allSatisfy { abs(Int(pixel[$0]) - colour[$0]) <= 4 }
    }
}
#endif
