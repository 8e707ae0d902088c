#if GTK
import CGTK
import Eidetic
import EideticCore
import EideticGTK

/// A `GtkGridView` of ten thousand numbered images.
@MainActor
final class NumberedGrid {
    let cells: ImageCells
    private(set) var mismatches: [String] = []
    private(set) var comparisons = 0
    private(set) var largestMemoryUsage = ByteCount.zero
    private let stage: Stage
    private let scrolledWindow: UnsafeMutablePointer<GtkWidget>
    private let pipeline: ImagePipeline
    private var target: Double?
    private var positions: [UnsafeMutablePointer<GtkWidget>: Int] = [:]

    init(stage: Stage, pipeline: ImagePipeline, url: String) {
        self.stage = stage
        self.pipeline = pipeline
        scrolledWindow = stage.add(gtk_scrolled_window_new(), width: 640, height: 480)
        cells = ImageCells(in: OpaquePointer(scrolledWindow), pipeline: pipeline)
        let model = gtk_string_list_new(nil)
        for number in 0..<10_000 { gtk_string_list_append(model, "\(number)") }
        let factory = gtk_signal_list_item_factory_new()
        cells.onChange = { [unowned self] in check($0, change: $1) }
        // The signals are connected before the grid creates its first cells.
        connect(UnsafeMutableRawPointer(factory), url: url)
        let grid = gtk_grid_view_new(gtk_no_selection_new(model), factory)
        gtk_grid_view_set_min_columns(OpaquePointer(grid), 8)
        gtk_grid_view_set_max_columns(OpaquePointer(grid), 8)
        gtk_scrolled_window_set_child(OpaquePointer(scrolledWindow), grid)
        startScrolling()
    }

    private func connect(_ factory: UnsafeMutableRawPointer?, url: String) {
        guard let factory else { return }
        Signal.connect(factory, signal: "setup") { item in
            guard let item, let widget = gtk_picture_new() else { return }
            gtk_widget_set_size_request(widget, Int32(NumberedImage.side), Int32(NumberedImage.side))
            gtk_widget_set_halign(widget, GTK_ALIGN_CENTER)
            gtk_widget_set_valign(widget, GTK_ALIGN_CENTER)
            gtk_list_item_set_child(OpaquePointer(item), widget)
        }
        Signal.connect(factory, signal: "bind") { [unowned self] item in
            guard let item, let widget = gtk_list_item_get_child(OpaquePointer(item)) else { return }
            let position = Int(gtk_list_item_get_position(OpaquePointer(item)))
            let size = PixelSize(width: NumberedImage.side, height: NumberedImage.side)
            let request = ImageRequest("\(url)/n/\(position).png", size: size)
            positions[widget] = position
            cells.bind(widget, to: request, at: position)
        }
        Signal.connect(factory, signal: "unbind") { [unowned self] item in
            guard let item, let widget = gtk_list_item_get_child(OpaquePointer(item)) else { return }
            positions[widget] = nil
            cells.unbind(widget)
        }
    }

    /// The positions of all bound cells.
    var boundPositions: Set<Int> { Set(positions.values) }

    /// The cells that are completely visible, with their places in the window.
    var visibleCells: [(position: Int, x: Int, y: Int)] {
        positions.compactMap { widget, position in
            var area = graphene_rect_t()
            guard gtk_widget_get_mapped(widget) != 0, gtk_widget_compute_bounds(widget, scrolledWindow, &area) != 0,
                area.size.height == 64, area.origin.y >= 0,
                area.origin.y + 64 <= 480
            else { return nil }
            return (position, Int(area.origin.x.rounded()), Int(area.origin.y.rounded()))
        }
    }

    // MARK: Scrolling

    func scroll(by distance: Double) async { await scroll(to: gtk_adjustment_get_value(adjustment) + distance) }

    func scroll(to value: Double) async {
        target = value
        while target != nil { await stage.waitForFrames(1) }
        await stage.waitForFrames(1)
        MainThreadWatch.exclude { compareVisibleCells() }
    }

    /// Scrolls in a callback of the toolkit like the user's wheel, so that GTK's own work is outside our jobs.
    private func startScrolling() {
        gtk_widget_add_tick_callback(
            scrolledWindow,
            { _, _, grid in
                // Safe to send: GTK calls this on the main thread, which is checked.
                nonisolated(unsafe) let grid = grid
                MainActor.assumeIsolated {
                    if let grid { Unmanaged<NumberedGrid>.fromOpaque(grid).takeUnretainedValue().scrollToTarget() }
                }
                return 1
            },
            Unmanaged.passRetained(self).toOpaque(),
            { grid in if let grid { Unmanaged<NumberedGrid>.fromOpaque(grid).release() } }
        )
    }

    private func scrollToTarget() {
        guard let target else { return }
        self.target = nil
        gtk_adjustment_set_value(adjustment, target)
    }

    private var adjustment: UnsafeMutablePointer<GtkAdjustment>? {
        gtk_scrolled_window_get_vadjustment(OpaquePointer(scrolledWindow))
    }

    // MARK: Comparison

    /// Compares each visible cell's texture with its position.
    private func compareVisibleCells() {
        largestMemoryUsage = max(largestMemoryUsage, pipeline.memoryUsage)
        for (widget, position) in positions where gtk_widget_get_mapped(widget) != 0 {
            guard let paintable = gtk_picture_get_paintable(OpaquePointer(widget)),
                let texture = eidetic_paintable_image(UnsafeMutableRawPointer(paintable))
            else { continue }
            var pixels = [UInt8](repeating: 0, count: NumberedImage.side * NumberedImage.side * 4)
            gdk_texture_download(texture, &pixels, gsize(NumberedImage.side * 4))
            let number = NumberedImage.readNumber { x, y in pixels[4 * (y * NumberedImage.side + x)] }
            comparisons += 1
            if number != position { mismatches.append("\(number) in cell \(position)") }
        }
    }

    /// Checks that a loaded image is the requested one.
    private func check(_ request: ImageRequest, change: ImageCells.Change) {
        MainThreadWatch.exclude {
            guard case .shown(let response) = change else {
                return mismatches.append("\(request.name) failed: \(change)")
            }
            let number = NumberedImage.readNumber { response.image.pixels[$0, $1].x }
            if !request.name.hasSuffix("/n/\(number).png") { mismatches.append("\(number) for \(request.name)") }
        }
    }

    /// Checks the numbers of all cells on the screen.
    func checkScreen() async throws {
        await stage.waitForFrames(2)
        let cells = MainThreadWatch.exclude { visibleCells }
        let screen = try await stage.screenshot()
        MainThreadWatch.exclude {
            stage.expect(cells.count >= 30, otherwise: "\(cells.count) cells are visible")
            for cell in cells {
                let number = NumberedImage.readNumber { screen[cell.x + $0, cell.y + $1].red }
                if number != cell.position { mismatches.append("\(number) on the screen for \(cell.position)") }
            }
        }
    }
}
#endif
