#if GTK
import EideticCodecs
import EideticCore
import EideticGTK
import EideticStore
import EideticTestSupport
import Glibc
import Testing

/// A running Gallery with a display, a server, a cache, keys, a mouse and a screen reader.
final class RunningGallery {
    let server: Nginx
    let directory: TemporaryDirectory
    private let screen: Screen
    private let bus: Subprocess
    private var process: Subprocess?
    private var otherProcess: Subprocess?
    private var window = ""
    private let transferPlace: TransferPlace
    /// Further variables of the program.
    var variables: [String: String?] = [:]

    /// A Boolean value indicating whether all required programs are installed.
    static var canRun: Bool {
        Scene.canPlay
            && ["xdotool", "dbus-daemon", "busctl", "jq"].allSatisfy { Subprocess.executablePath(for: $0) != nil }
            && Subprocess.executablePath(for: "/usr/libexec/at-spi-bus-launcher") != nil
    }

    init(imageCount count: Int, hasTouch: Bool = false) async throws {
        server = try await Nginx(.init(server: "autoindex on;"))
        directory = try TemporaryDirectory(named: "gallery")
        screen = try await Screen(hasTouch: hasTouch)
        bus = try await screen.startBus()
        transferPlace = try TransferPlace(directory: directory.path, runtimeDirectory: screen.runtimeDirectory)
        for number in 0..<count { try server.addFile(try Self.encodedImage(number: number), at: "\(number).png") }
        // From the middle of the screen to its corner: an image that appears under the mouse is drawn brighter.
        _ = try await xdotool("mousemove", "0", "0")
    }

    /// Returns the colour of an image.
    static func colour(ofImage number: Int) -> [Int] { [250 - 20 * number, 60 + 15 * number, 20 * number] }

    static func encodedImage(number: Int) throws -> [UInt8] {
        let size = PixelSize(width: 640, height: 480), colour = colour(ofImage: number)
        let pixels = try PixelBuffer(size: size, alpha: .opaque) { pixels, _ in
            for offset in pixels.indices { pixels[offset] = offset % 4 == 3 ? 255 : UInt8(colour[offset % 4]) }
        }
        return try ImageEncoder.encode(Image(frames: [.init(pixels: pixels)], format: .png, sourceSize: size), as: .png)
    }

    /// Returns a server of the fifth image that responds when a gate opens.
    static func heldOrigin(_ gate: Gate, reached: Gate = Gate()) throws -> ScriptedOrigin {
        let body = try encodedImage(number: 5), fields: KeyValuePairs = ["Content-Type": "image/png"]
        return try ScriptedOrigin { _ in
            [.open(reached), .wait(gate), .response(200, headers: fields, body: body), .close]
        }
    }

    /// Adds an incompressible image of about a megabyte to the server.
    func serveLarge(_ name: String) throws {
        let size = PixelSize(width: 700, height: 500)
        let pixels = try PixelBuffer(size: size, alpha: .opaque) { pixels, _ in
            for offset in pixels.indices { pixels[offset] = offset % 4 == 3 ? 255 : UInt8.random(in: 0...255) }
        }
        let image = Image(frames: [.init(pixels: pixels)], format: .png, sourceSize: size)
        try server.addFile(try ImageEncoder.encode(image, as: .png), at: name)
    }

    // MARK: Program

    /// Starts the program with URLs and directories, by default the server's index, and waits for an output, by default
    /// until all visible images are shown.
    @discardableResult
    func start(
        _ sources: [String]? = nil,
        options: [String] = [],
        awaiting output: String = "all shown"
    ) async throws -> ScreenReader {
        let places = ["--report", "--cache", directory.path(of: "cache")]
        let arguments = places + options + (sources ?? [server.url + "/"])
        process = try Subprocess(
            Scene.executablePath(of: "Gallery"),
            arguments: arguments,
            environment: environment
        )
        await waitForOutput(output)
        try await findWindow()
        return try await ScreenReader(sessionBus: screen.busAddress)
    }

    /// The variables of the program: it uses the desktop's theme, which has a light and a dark variant; screen readers
    /// find it over the bus.
    var environment: [String: String?] {
        let changes = ["GTK_THEME": nil, "GTK_A11Y": nil, "DBUS_SESSION_BUS_ADDRESS": screen.busAddress]
        return screen.environment(changes: changes.merging(transferPlace.environment) { $1 }.merging(variables) { $1 })
    }

    /// Waits for the window of the program on the screen.
    func findWindow() async throws {
        try await eventually("the window") {
            window = try await visibleWindows().first ?? ""
            return !window.isEmpty
        }
    }

    /// Returns the windows of galleries that are visible on the screen.
    func visibleWindows() async throws -> [String] {
        try await xdotool("search", "--onlyvisible", "--name", "^Gallery$").split(separator: "\n").map(String.init)
    }

    /// Returns the number of the program's process.
    var processIdentifier: Int32? { process?.identifier }

    func waitForOutput(_ text: String, times: Int = 1, location: SourceLocation = #_sourceLocation) async {
        guard let process else { return }
        let didAppear = await withTaskCancellationHandler {
            await process.waitForOutput(text, times: times)
        } onCancel: {
            process.kill()
        }
        let output = "\(process.outputSoFar) \(process.errorsSoFar)"
        #expect(didAppear, "no \"\(text)\" in the output: \(output)", sourceLocation: location)
    }

    func hasOutput(_ text: String) -> Bool { process?.outputSoFar.contains(text) ?? false }

    func outputCount(of text: String) -> Int { process?.outputSoFar.ranges(of: text).count ?? 0 }

    func quit() async throws {
        try await press("ctrl+q")
        try await waitUntilExit()
    }

    /// Sends a signal to the program.
    func kill(_ signal: Int32) { process?.kill(signal) }

    /// Kills the program, and waits for its end.
    func killAndWait() async {
        kill(SIGKILL)
        _ = await process?.waitUntilExit()
    }

    /// Waits until the transfer process has ended all transfers of the program.
    func waitForTransfers() async throws {
        try await eventually("the transfers have ended") { try await transferPlace.haveAllEnded }
    }

    /// Waits until the program ends, with status 0.
    func waitUntilExit() async throws {
        let result = await process?.waitUntilExit()
        #expect(result?.status == .exited(0), "\(result?.errorText ?? "")")
    }

    /// Returns the usage of the program's cache, as another program reads it.
    func usage() async throws -> DiskCache.Usage {
        try await DiskCache(DiskCache.Configuration(directory: directory.path(of: "cache"))).usage
    }

    // MARK: Input and screen

    /// Moves the keyboard focus to the window.
    func focus() async throws { _ = try await xdotool("windowfocus", "--sync", window) }

    func press(_ keys: String...) async throws {
        try await focus()
        for key in keys { _ = try await xdotool("key", key) }
    }

    func click(at point: (x: Int, y: Int)) async throws {
        _ = try await xdotool("mousemove", "--window", window, "\(point.x)", "\(point.y)", "click", "1")
    }

    /// Returns a finger, and the origin of the window on the touch screen.
    func touchScreen() async throws -> (finger: Finger, origin: (x: Int, y: Int)) {
        (try screen.finger(), (try await geometry("X="), try await geometry("Y=")))
    }

    /// Returns a number of the window's geometry.
    private func geometry(_ name: String) async throws -> Int {
        let lines = try await xdotool("getwindowgeometry", "--shell", window).split(separator: "\n")
        return try #require(lines.first { $0.hasPrefix(name) }.flatMap { Int($0.dropFirst(name.count)) }, "\(lines)")
    }

    func minimize() async throws { _ = try await xdotool("windowminimize", window) }

    /// Starts another program, whose window gets the focus.
    func openAnotherWindow() throws {
        otherProcess = try Subprocess(
            Scene.executablePath(of: "Gallery"),
            arguments: ["--cache", directory.path(of: "other cache"), server.url + "/0.png"],
            environment: screen.environment()
        )
    }

    func closeOtherWindow() async {
        otherProcess?.kill()
        _ = await otherProcess?.waitUntilExit()
        otherProcess = nil
    }

    func restore() async throws { _ = try await xdotool("windowactivate", "--sync", window) }

    /// Resizes the window.
    func resize(width: Int, height: Int) async throws {
        _ = try await xdotool("windowsize", "--sync", window, "\(width)", "\(height)")
    }

    private func xdotool(_ arguments: String...) async throws -> String {
        try await Subprocess.run("xdotool", arguments: arguments, environment: screen.environment()).outputText
    }

    /// Returns a screenshot of the window.
    func capture() async throws -> PixelBuffer { try await screen.capture(window) }

    /// Returns `true` if an image is shown in the upper part of the window.
    func shows(_ number: Int) async throws -> Bool {
        let image = try await capture(), colour = Self.colour(ofImage: number)
        return (0..<image.size.width / 8).contains { image.shows(colour, at: ($0 * 8, 200)) }
    }

    /// Waits until the first images are shown, each in its cell; the transition to each may still be running.
    func waitForImages(_ count: Int, among items: [ScreenReader.Item], reader: ScreenReader) async throws {
        var points: [(x: Int, y: Int)] = []
        for number in 0..<count {
            points.append(try await middle(of: try #require(items.last { $0.name == "\(number)" }), reader: reader))
        }
        try await eventually("the images that are not shown", is: [Int]()) {
            let capture = try await self.capture()
            return points.indices.filter { !capture.shows(Self.colour(ofImage: $0), at: points[$0]) }
        }
    }

    /// Returns the centre of a widget, in the window including the border of its shadow.
    func middle(of item: ScreenReader.Item, reader: ScreenReader) async throws -> (x: Int, y: Int) {
        let area = try await reader.area(of: item), windowArea = try await reader.area(of: try await reader.window())
        let border = (try await geometry("WIDTH=") - windowArea.width) / 2
        return (area.x + area.width / 2 + border, area.y + area.height / 2 + border)
    }
}

extension PixelBuffer {
    /// Returns `true` if the pixel at a point has a colour, apart from rounding.
    func shows(_ colour: [Int], at point: (x: Int, y: Int)) -> Bool {
        let pixel = self[point.x, point.y]
        return (0..<3).allSatisfy { abs(Int(pixel[$0]) - colour[$0]) <= 4 }
    }
}
#endif
