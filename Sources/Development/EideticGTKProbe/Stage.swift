#if GTK
import CGTK
import Eidetic
import EideticCore
import EideticTestSupport

/// What a scene plays on: a window, a web server, and a pipeline of its own.
@MainActor
final class Stage {
    let server: Nginx
    let directory: TemporaryDirectory
    let pipeline: ImagePipeline
    let window: OpaquePointer
    let area: UnsafeMutablePointer<GtkWidget>
    private(set) var isGood = true
    private var right = 0.0

    init(_ configuration: Nginx.Configuration = .init(server: Stage.slowPlaces)) async throws {
        server = try await Nginx(configuration)
        directory = try TemporaryDirectory(named: "gtk")
        pipeline = try Self.pipeline(directory)
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

    /// Below /slow/ everything comes slowly; below /a/ and /b/ each name is a picture, slow and fast.
    static let slowPlaces = """
        location /slow/ { limit_rate 2k; }
        location /a/ { limit_rate 500; try_files /a.png =404; }
        location /b/ { try_files /b.png =404; }
        """

    static func pipeline(_ directory: TemporaryDirectory) throws -> ImagePipeline {
        let disk = try DiskCache(DiskCache.Configuration(directory: directory.path(of: "cache")))
        return ImagePipeline(ImagePipeline.Configuration(diskCache: disk))
    }

    /// Notes what was expected and did not come.
    func expect(_ condition: Bool, _ what: @autoclosure () -> String, line: Int = #line) {
        guard !condition else { return }
        isGood = false
        print("FAILED line \(line): \(what())")
    }

    // MARK: Widgets

    /// Puts a widget of a size into the window, to the right of the earlier ones.
    @discardableResult
    func add(
        _ widget: UnsafeMutablePointer<GtkWidget>?,
        _ width: Int32 = 100,
        _ height: Int32 = 100
    ) -> UnsafeMutablePointer<GtkWidget> {
        guard let widget else { preconditionFailure("GTK makes widgets") }
        gtk_widget_set_size_request(widget, width, height)
        gtk_fixed_put(fixed, widget, right, 0)
        right += Double(width)
        return widget
    }

    func remove(_ widget: UnsafeMutablePointer<GtkWidget>) { gtk_fixed_remove(fixed, widget) }

    private var fixed: UnsafeMutablePointer<GtkFixed> {
        UnsafeMutableRawPointer(area).assumingMemoryBound(to: GtkFixed.self)
    }

    /// Shows the window and waits until it was drawn.
    func present() async {
        gtk_window_present(UnsafeMutableRawPointer(window).assumingMemoryBound(to: GtkWindow.self))
        await frames(3)
    }

    /// Waits until so many frames of the window were drawn.
    func frames(_ count: Int) async {
        for _ in 0..<count { await Frame.next(of: area) }
    }

    /// Waits until a condition holds, a frame at a time; gives up after 20 seconds.
    func until(_ what: String, line: Int = #line, _ condition: () -> Bool) async {
        let end = ContinuousClock.now + .seconds(20)
        while !condition() {
            guard ContinuousClock.now < end else { return expect(false, "waited in vain: \(what)", line: line) }
            await Frame.next(of: area)
        }
    }

    // MARK: Pictures

    /// Puts a picture of one colour on the server.
    func put(_ name: String, _ colour: Colour, width: Int = 64, height: Int = 64) throws -> String {
        try server.addFile(try ImageEncoder.encode(.plain(colour, width: width, height: height), as: .png), at: name)
    }

    /// Puts a picture on the server that takes many seconds to come: its pixels cannot be compressed.
    func putSlow(_ name: String = "slow/a.png") throws -> String {
        let size = PixelSize(width: 120, height: 120)
        let noise = try PixelBuffer(size: size, alpha: .opaque) { pixels, _ in
            for place in pixels.indices { pixels[place] = place % 4 == 3 ? 255 : UInt8.random(in: 0...255) }
        }
        let image = Image(frames: [Image.Frame(pixels: noise)], format: .png, sourceSize: size)
        return try server.addFile(try ImageEncoder.encode(image, as: .png), at: name)
    }

    /// Puts an animation on the server, a frame for each colour.
    func put(_ name: String, _ colours: [Colour], each duration: Duration, loops: Int? = nil) throws -> String {
        var frames: [Image.Frame] = []
        for colour in colours {
            frames.append(Image.Frame(pixels: try .plain(colour, width: 64, height: 64), duration: duration))
        }
        let image = Image(frames: frames, loopCount: loops, format: .gif, sourceSize: frames[0].pixels.size)
        return try server.addFile(try ImageEncoder.encode(image, as: .gif), at: name)
    }

    func request(_ url: String, side: Int = 64, options: ImageOptions = []) throws -> ImageRequest {
        try ImageRequest(url, size: PixelSize(width: side, height: side), options: options)
    }

    /// The URL of a picture that the server has not.
    var missing: String { server.url + "/missing.png" }

    /// What the display server shows.
    func screenshot() async throws -> Screenshot { try await Screenshot.take() }
}

/// Waits for the frame clock.
@MainActor
enum Frame {
    static func next(of widget: UnsafeMutablePointer<GtkWidget>) async {
        await withCheckedContinuation { continuation in
            let area = Unmanaged.passRetained(Waiter(continuation)).toOpaque()
            gtk_widget_add_tick_callback(
                widget,
                { _, _, waiter in
                    if let waiter { Unmanaged<Waiter>.fromOpaque(waiter).takeUnretainedValue().goOn() }
                    return 0
                },
                area,
                { waiter in
                    guard let waiter else { return }
                    // A widget that goes has no further frames.
                    Unmanaged<Waiter>.fromOpaque(waiter).takeRetainedValue().goOn()
                }
            )
        }
    }

    private final class Waiter {
        private var continuation: CheckedContinuation<Void, Never>?
        init(_ continuation: CheckedContinuation<Void, Never>) { self.continuation = continuation }
        func goOn() {
            continuation?.resume()
            continuation = nil
        }
    }
}
#endif
