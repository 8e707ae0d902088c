#if GTK
import CGTK
import Eidetic
import EideticCore
import EideticStore
import EideticTestSupport
import Glibc

/// The environment of a scene: a window, a web server, and a pipeline of its own.
@MainActor
final class Stage {
    let server: Nginx
    let directory: TemporaryDirectory
    let pipeline: ImagePipeline
    let window: OpaquePointer
    let area: UnsafeMutablePointer<GtkWidget>
    private(set) var hasPassed = true
    /// A Boolean value indicating whether the program ends by `MainLoop.finish()` after the scene.
    var finishesLoop = false
    private var nextX = 0.0

    init(configuration: Nginx.Configuration = .init(server: Stage.serverConfiguration)) async throws {
        server = try await Nginx(configuration)
        directory = try TemporaryDirectory(named: "gtk")
        pipeline = try Self.makePipeline(directory: directory)
        guard let window = gtk_window_new(), let area = gtk_fixed_new() else {
            throw EideticError(.outOfMemory, message: "no window")
        }
        self.window = OpaquePointer(UnsafeMutableRawPointer(window))
        self.area = area
        let top = UnsafeMutableRawPointer(window).assumingMemoryBound(to: GtkWindow.self)
        gtk_window_set_title(top, Screenshot.windowName)
        gtk_window_set_decorated(top, 0)
        gtk_window_set_default_size(top, 400, 300)
        gtk_window_set_child(top, area)
    }

    /// The server's rules: files below /slow/ are slow; each name below /a/ and /b/ is the same slow or fast image.
    static let serverConfiguration = """
        location /slow/ { limit_rate 2k; }
        location /a/ { limit_rate 500; try_files /a.png =404; }
        location /b/ { try_files /b.png =404; }
        """

    /// Returns a pipeline with a disk cache in `directory`.
    static func makePipeline(directory: TemporaryDirectory) throws -> ImagePipeline {
        let disk = try DiskCache(DiskCache.Configuration(directory: directory.path(of: "cache")))
        return ImagePipeline(ImagePipeline.Configuration(diskCache: disk))
    }

    // MARK: Expectations

    /// Checks an expectation; a failure is printed, and the scene fails.
    func expect(
        _ condition: Bool,
        otherwise message: @autoclosure () -> String,
        file: String = #fileID,
        line: Int = #line
    ) {
        guard !condition else { return }
        hasPassed = false
        Failure.report("\(file):\(line): \(message())")
    }

    /// Checks that a value is the expected one.
    func expect<Value: Equatable>(
        _ seen: Value,
        is expected: Value,
        _ name: @autoclosure () -> String = "",
        file: String = #fileID,
        line: Int = #line
    ) {
        expect(
            seen == expected,
            otherwise: Self.message(name(), seen: "\(seen)", expected: "\(expected)"),
            file: file,
            line: line
        )
    }

    /// Checks that a pixel has the expected colour, apart from rounding.
    func expect(
        _ seen: Colour,
        looksLike expected: Colour,
        _ name: @autoclosure () -> String = "",
        file: String = #fileID,
        line: Int = #line
    ) {
        expect(
            seen.looks(like: expected),
            otherwise: Self.message(name(), seen: "\(seen)", expected: "\(expected)"),
            file: file,
            line: line
        )
    }

    private static func message(_ name: String, seen: String, expected: String) -> String {
        "\(name.isEmpty ? "" : "\(name): ")seen \(seen), expected \(expected)"
    }

    // MARK: Widgets

    /// Adds a widget to the window, to the right of the earlier ones.
    @discardableResult
    func add(
        _ widget: UnsafeMutablePointer<GtkWidget>?,
        width: Int32 = 100,
        height: Int32 = 100
    ) -> UnsafeMutablePointer<GtkWidget> {
        guard let widget else { preconditionFailure("GTK cannot create the widget") }
        gtk_widget_set_size_request(widget, width, height)
        gtk_fixed_put(fixed, widget, nextX, 0)
        nextX += Double(width)
        return widget
    }

    func remove(_ widget: UnsafeMutablePointer<GtkWidget>) { gtk_fixed_remove(fixed, widget) }

    private var fixed: UnsafeMutablePointer<GtkFixed> {
        UnsafeMutableRawPointer(area).assumingMemoryBound(to: GtkFixed.self)
    }

    /// Shows the window, and waits until it is drawn.
    func present() async {
        gtk_window_present(UnsafeMutableRawPointer(window).assumingMemoryBound(to: GtkWindow.self))
        await waitForFrames(3)
    }

    /// Waits until `count` frames of the window were drawn.
    func waitForFrames(_ count: Int) async {
        for _ in 0..<count { await FrameClock.waitForFrame(of: area) }
    }

    /// Waits until a condition holds, which is evaluated each frame; the scene fails after a minute.
    func wait(for event: String, file: String = #fileID, line: Int = #line, until condition: () -> Bool) async {
        let end = ContinuousClock.now + .seconds(60)
        while !condition() {
            guard ContinuousClock.now < end else {
                return expect(false, otherwise: "not within a minute: \(event)", file: file, line: line)
            }
            await FrameClock.waitForFrame(of: area)
        }
    }

    // MARK: Images

    /// Adds an image of one colour to the server, and returns its URL.
    func serve(_ name: String, colour: Colour, width: Int = 64, height: Int = 64) throws -> String {
        try server.addFile(try Image.plain(colour, width: width, height: height).encoded(as: .png), at: name)
    }

    /// Adds an image to the server whose download takes many seconds, and returns its URL.
    func serveSlow(_ name: String = "slow/a.png") throws -> String { try server.addFile(try noise(), at: name) }

    /// Returns an image whose pixels cannot be compressed.
    func noise() throws -> [UInt8] {
        let size = PixelSize(width: 120, height: 120)
        let noise = try PixelBuffer(size: size, alpha: .opaque) { pixels, _ in
            for offset in pixels.indices { pixels[offset] = offset % 4 == 3 ? 255 : UInt8.random(in: 0...255) }
        }
        return try Image(frames: [Image.Frame(pixels: noise)], format: .png, sourceSize: size).encoded(as: .png)
    }

    /// Adds an animation with a frame for each colour to the server, and returns its URL.
    func serve(_ name: String, colours: [Colour], frameDuration duration: Duration, loops: Int? = nil) throws -> String
    {
        var frames: [Image.Frame] = []
        for colour in colours {
            frames.append(Image.Frame(pixels: try .plain(colour, width: 64, height: 64), duration: duration))
        }
        let image = Image(frames: frames, loopCount: loops, format: .gif, sourceSize: frames[0].pixels.size)
        return try server.addFile(try image.encoded(as: .gif), at: name)
    }

    /// Returns a request for a square size.
    func request(for url: String, side: Int = 64, options: ImageOptions = []) throws -> ImageRequest {
        ImageRequest(url, size: PixelSize(width: side, height: side), options: options)
    }

    /// A URL for which the server has no image.
    var missingURL: String { server.url + "/missing.png" }

    /// Returns a screenshot of the window.
    func screenshot() async throws -> Screenshot { try await Screenshot.capture() }

    /// Moves the mouse, or presses its buttons: the words of commands of `xdotool`, for which `%1` is the window.
    func mouse(_ words: String) async throws {
        let arguments = ["search", "--name", Screenshot.windowName] + words.split(separator: " ").map(String.init)
        let result = try await Subprocess.run("xdotool", arguments: arguments)
        expect(result.status == .exited(0), otherwise: result.errorText)
    }
}

/// The failures of a scene, as the tests read them: a line each, which no crash loses.
enum Failure {
    static func report(_ text: String) {
        print("FAILED \(text.replacing("\n", with: " | "))")
        fflush(nil)
    }
}

/// The frame clock of a widget.
@MainActor
enum FrameClock {
    static func waitForFrame(of widget: UnsafeMutablePointer<GtkWidget>) async {
        await withCheckedContinuation { continuation in
            let waiter = Unmanaged.passRetained(Waiter(continuation)).toOpaque()
            gtk_widget_add_tick_callback(
                widget,
                { _, _, waiter in
                    if let waiter { Unmanaged<Waiter>.fromOpaque(waiter).takeUnretainedValue().resume() }
                    return 0
                },
                waiter,
                { waiter in
                    guard let waiter else { return }
                    // A destroyed widget has no further frames.
                    Unmanaged<Waiter>.fromOpaque(waiter).takeRetainedValue().resume()
                }
            )
        }
    }

    private final class Waiter {
        private var continuation: CheckedContinuation<Void, Never>?
        init(_ continuation: CheckedContinuation<Void, Never>) { self.continuation = continuation }
        func resume() {
            continuation?.resume()
            continuation = nil
        }
    }
}
#endif
