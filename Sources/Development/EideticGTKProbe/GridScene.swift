#if GTK
import CGTK
import Eidetic
import EideticCore
import EideticGTK
import EideticTestSupport
import Glibc

extension Scenes {
    /// Ten thousand cells are scrolled through at speed; every picture carries its number as pixels.
    ///
    /// The server is nginx in front of an origin that takes 30 milliseconds for each answer.
    static func grid(_ stage: Stage) async throws {
        let origin = try NumberedOrigin()
        let server = try await Nginx(.init(server: origin.proxy))
        let limit = ByteCount.mebibytes(4)
        var configuration = ImagePipeline.Configuration()
        configuration.memoryLimit = limit
        let pipeline = ImagePipeline(configuration)
        let grid = NumberedGrid(stage, pipeline, server.url)
        await stage.present()
        await stage.until("the first screen") { grid.cells.missingCount == 0 && grid.seen.count >= 30 }
        try await grid.checkScreen(stage)
        MainThreadWatch.start()
        let began = residentMemory()
        // Down in some seconds, with rests, back up in large steps, and to the middle at once.
        for rest in 0..<4 {
            for _ in 0..<40 { await grid.scroll(by: 330, stage) }
            for _ in 0..<40 { await grid.scroll(by: 12, stage) }
            await stage.until("all is there after rest \(rest)") { grid.cells.missingCount == 0 }
            try await grid.checkScreen(stage)
        }
        for _ in 0..<20 { await grid.scroll(by: -2_000, stage) }
        await grid.scroll(to: 40_000, stage)
        let asked = origin.count
        await stage.until("all is there in the middle") { grid.cells.missingCount == 0 }
        try await grid.checkScreen(stage)
        // Then what comes next, in the direction of scrolling.
        await stage.until("the next screen") { grid.cells.loadingCount == 0 }
        let last = grid.seen.map(\.position).max() ?? 0
        stage.expect(Set(origin.numbers).isSuperset(of: last + 8...last + 32), "the next screen was not prefetched")
        let late = origin.numbers.dropFirst(asked + 12)
        let near = grid.bound
        stage.expect(late.allSatisfy(near.contains), "asked for what had left: \(late.filter { !near.contains($0) })")
        for _ in 0..<4 { await grid.scroll(by: -300, stage) }
        await stage.until("the screen before") { grid.cells.loadingCount == 0 }
        let first = grid.seen.map(\.position).min() ?? 0
        stage.expect(Set(origin.numbers).isSuperset(of: first - 32...first - 8), "nothing was prefetched upwards")
        let longest = MainThreadWatch.takeLongest()
        let grown = residentMemory() - began
        let statistics = pipeline.statistics
        print(
            "held the main thread for \(longest.held), with \(longest.own) of its time, at the most; memory grew by \(grown);",
            terminator: " "
        )
        print("\(origin.count) requests, \(statistics.cancelled) loads cancelled, \(grid.looks) looks at cells")
        // By its own time: on a busy machine a lock may be held by a thread that has no processor.
        stage.expect(longest.own < limitOfHolding, "held for \(longest.own)")
        stage.expect(grid.wrong.isEmpty, "\(grid.wrong.count) wrong pictures: \(grid.wrong.prefix(10))")
        stage.expect(grid.looks > 2_000, "looked at \(grid.looks) pictures only")
        stage.expect(grid.largest <= limit, "\(grid.largest) in memory, \(limit) allowed")
        stage.expect(grown < .mebibytes(64), "the process grew by \(grown)")
        stage.expect(
            origin.count < statistics.cancelled / 2,
            "too little was cancelled in time: \(origin.count) requests, \(statistics.cancelled) loads cancelled"
        )
    }

    /// 8 milliseconds; several times as much where nothing is optimised.
    private static var limitOfHolding: Duration {
        #if DEBUG
        .milliseconds(40)
        #else
        .milliseconds(8)
        #endif
    }

    private static func residentMemory() -> ByteCount {
        guard let bytes = try? FileSystem().contents(of: "/proc/self/statm") else { return .zero }
        let fields = String(decoding: bytes, as: UTF8.self).split(separator: " ")
        return ByteCount((fields.count > 1 ? Int(fields[1]) ?? 0 : 0) * Int(sysconf(Int32(_SC_PAGESIZE))))
    }
}

/// Makes `/n/NUMBER.png`, each after 30 milliseconds.
private final class NumberedOrigin: Sendable {
    private let origin: ScriptedOrigin

    init() throws(EideticError) {
        origin = try ScriptedOrigin { request in
            usleep(30_000)
            let number = Self.number(request.path)
            guard let image = try? Numbered.image(number), let bytes = try? ImageEncoder.encode(image, as: .png) else {
                return [.response(500), .close]
            }
            return [
                .response(200, headers: ["Content-Type": "image/png", "Connection": "close"], body: bytes), .close,
            ]
        }
    }

    var proxy: String { "location /n/ { proxy_pass \(origin.url); }" }
    var count: Int { origin.requests.count }
    var numbers: [Int] { origin.requests.map { Self.number($0.path) } }

    private static func number(_ path: String) -> Int { Int(path.filter(\.isNumber)) ?? -1 }
}

/// Pictures of 64 by 64 pixels that carry a number: 16 bits as 4 by 4 blocks, light for 1.
enum Numbered {
    static let side = 64

    static func image(_ number: Int) throws(EideticError) -> Image {
        let size = PixelSize(width: side, height: side)
        let pixels = try PixelBuffer(size: size, alpha: .opaque) { pixels, bytesPerRow in
            for y in 0..<side {
                for x in 0..<side {
                    let bit = number >> (y / 16 * 4 + x / 16) & 1
                    for channel in 0..<3 { pixels[y * bytesPerRow + 4 * x + channel] = bit == 1 ? 230 : 25 }
                    pixels[y * bytesPerRow + 4 * x + 3] = 255
                }
            }
        }
        return Image(frames: [Image.Frame(pixels: pixels)], format: .png, sourceSize: size)
    }

    /// Reads a number from the middles of the blocks.
    static func read(_ light: (_ x: Int, _ y: Int) -> UInt8) -> Int {
        (0..<16).reduce(0) { $0 | (light($1 % 4 * 16 + 8, $1 / 4 * 16 + 8) > 127 ? 1 << $1 : 0) }
    }
}

/// A GtkGridView of ten thousand numbered pictures.
@MainActor
private final class NumberedGrid {
    let cells: ImageCells
    private(set) var wrong: [String] = []
    private(set) var looks = 0
    private(set) var largest = ByteCount.zero
    private let scrolled: UnsafeMutablePointer<GtkWidget>
    private let pipeline: ImagePipeline
    private var target: Double?
    private var positions: [UnsafeMutablePointer<GtkWidget>: Int] = [:]

    init(_ stage: Stage, _ pipeline: ImagePipeline, _ url: String) {
        self.pipeline = pipeline
        scrolled = stage.add(gtk_scrolled_window_new(), 640, 480)
        cells = ImageCells(OpaquePointer(scrolled), pipeline: pipeline)
        let model = gtk_string_list_new(nil)
        for number in 0..<10_000 { gtk_string_list_append(model, "\(number)") }
        let factory = gtk_signal_list_item_factory_new()
        cells.onChange = { [unowned self] in check($0, $1) }
        // Before the grid makes its first cells.
        connect(UnsafeMutableRawPointer(factory), url)
        let grid = gtk_grid_view_new(gtk_no_selection_new(model), factory)
        gtk_grid_view_set_min_columns(OpaquePointer(grid), 8)
        gtk_grid_view_set_max_columns(OpaquePointer(grid), 8)
        gtk_scrolled_window_set_child(OpaquePointer(scrolled), grid)
        followTarget()
    }

    private func connect(_ factory: UnsafeMutableRawPointer?, _ url: String) {
        guard let factory else { return }
        Signal.connect(factory, "setup") { item in
            guard let item, let picture = gtk_picture_new() else { return }
            gtk_widget_set_size_request(picture, Int32(Numbered.side), Int32(Numbered.side))
            gtk_widget_set_halign(picture, GTK_ALIGN_CENTER)
            gtk_widget_set_valign(picture, GTK_ALIGN_CENTER)
            gtk_list_item_set_child(OpaquePointer(item), picture)
        }
        Signal.connect(factory, "bind") { [unowned self] item in
            guard let item, let picture = gtk_list_item_get_child(OpaquePointer(item)) else { return }
            let position = Int(gtk_list_item_get_position(OpaquePointer(item)))
            let size = PixelSize(width: Numbered.side, height: Numbered.side)
            guard let request = try? ImageRequest("\(url)/n/\(position).png", size: size) else { return }
            positions[picture] = position
            cells.bind(picture, request, at: position)
        }
        Signal.connect(factory, "unbind") { [unowned self] item in
            guard let item, let picture = gtk_list_item_get_child(OpaquePointer(item)) else { return }
            positions[picture] = nil
            cells.unbind(picture)
        }
    }

    var bound: Set<Int> { Set(positions.values) }

    /// The cells that are seen as a whole, with their places in the window.
    var seen: [(position: Int, x: Int, y: Int)] {
        positions.compactMap { picture, position in
            var area = graphene_rect_t()
            guard gtk_widget_get_mapped(picture) != 0, gtk_widget_compute_bounds(picture, scrolled, &area) != 0,
                area.size.height == 64, area.origin.y >= 0,
                area.origin.y + 64 <= 480
            else { return nil }
            return (position, Int(area.origin.x.rounded()), Int(area.origin.y.rounded()))
        }
    }

    func scroll(by distance: Double, _ stage: Stage) async {
        await scroll(to: gtk_adjustment_get_value(adjustment) + distance, stage)
    }

    func scroll(to value: Double, _ stage: Stage) async {
        target = value
        while target != nil { await stage.frames(1) }
        await stage.frames(1)
        look()
    }

    /// Moves in a callback of the toolkit, as the user's wheel does: what GTK does then is not within a job of ours.
    private func followTarget() {
        gtk_widget_add_tick_callback(
            scrolled,
            { _, _, grid in
                nonisolated(unsafe) let grid = grid
                MainActor.assumeIsolated {
                    if let grid { Unmanaged<NumberedGrid>.fromOpaque(grid).takeUnretainedValue().move() }
                }
                return 1
            },
            Unmanaged.passRetained(self).toOpaque(),
            { grid in if let grid { Unmanaged<NumberedGrid>.fromOpaque(grid).release() } }
        )
    }

    private func move() {
        guard let target else { return }
        self.target = nil
        gtk_adjustment_set_value(adjustment, target)
    }

    private var adjustment: UnsafeMutablePointer<GtkAdjustment>? {
        gtk_scrolled_window_get_vadjustment(OpaquePointer(scrolled))
    }

    /// Compares what each seen cell draws now with what it should.
    private func look() { MainThreadWatch.exclude { compare() } }

    private func compare() {
        largest = max(largest, pipeline.memoryUsage)
        for (picture, position) in positions where gtk_widget_get_mapped(picture) != 0 {
            guard let paintable = gtk_picture_get_paintable(OpaquePointer(picture)),
                let texture = eidetic_paintable_picture(UnsafeMutableRawPointer(paintable))
            else { continue }
            var pixels = [UInt8](repeating: 0, count: Numbered.side * Numbered.side * 4)
            gdk_texture_download(texture, &pixels, gsize(Numbered.side * 4))
            let number = Numbered.read { x, y in pixels[4 * (y * Numbered.side + x)] }
            looks += 1
            if number != position { wrong.append("\(number) in cell \(position)") }
        }
    }

    /// The hook: what was loaded is what was asked for.
    private func check(_ request: ImageRequest, _ change: ImageCells.Change) {
        MainThreadWatch.exclude { compare(request, change) }
    }

    private func compare(_ request: ImageRequest, _ change: ImageCells.Change) {
        guard case .shown(let response) = change else { return wrong.append("\(request.name) failed: \(change)") }
        let number = Numbered.read { response.image.pixels[$0, $1].x }
        if !request.name.hasSuffix("/n/\(number).png") { wrong.append("\(number) for \(request.name)") }
    }

    /// Reads the numbers of all cells from the screen.
    func checkScreen(_ stage: Stage) async throws {
        await stage.frames(2)
        let places = MainThreadWatch.exclude { seen }
        let screen = try await stage.screenshot()
        MainThreadWatch.exclude { check(places, screen, stage) }
    }

    private func check(_ places: [(position: Int, x: Int, y: Int)], _ screen: Screenshot, _ stage: Stage) {
        stage.expect(places.count >= 30, "\(places.count) cells are seen")
        for place in places {
            let number = Numbered.read { screen[place.x + $0, place.y + $1].red }
            if number != place.position { wrong.append("\(number) on the screen for \(place.position)") }
        }
    }
}
#endif
