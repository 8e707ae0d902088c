#if GTK
internal import CGTK
public import Eidetic
import EideticCore

/// Pictures in the cells of a scrolling list or grid.
///
/// What is seen is loaded first; then, at low priority, the next screen in the direction of scrolling; what has left both
/// is cancelled. A picture in memory is there when its cell is bound. GTK binds many more cells than can be seen, so binding
/// alone says little.
///
/// ```swift
/// // In the factory's signals:
/// cells.bind(picture, request, at: position)
/// cells.unbind(picture)
/// ```
@MainActor
public final class ImageCells {
    /// What a cell's picture is doing, as told to ``onChange``.
    public enum Change: Sendable {
        /// The picture is seen.
        case shown(ImageResponse)
        /// It could not be loaded.
        case failed(EideticError)
    }

    /// How pictures are shown; a placeholder, an indicator and a transition are set here.
    public var presentation: ImageSlot.Presentation

    /// Told of each load that came to its end, but for cancelled ones.
    public var onChange: (@MainActor (ImageRequest, Change) -> Void)?

    /// The longest time that this spends on starting and cancelling loads in one frame: 3 milliseconds.
    private static let budget = 3_000

    private let pipeline: ImagePipeline
    private let scrolled: WeakObject
    private var cells: [UnsafeMutableRawPointer: ImageCell] = [:]
    private var tick: UInt32 = 0
    private var idleFrames = 0
    private var position = 0.0
    private var isForward = true

    /// Creates cells within a `GtkScrolledWindow`, which it follows and does not keep alive.
    public init(
        _ scrolledWindow: OpaquePointer,
        pipeline: ImagePipeline = .shared,
        presentation: ImageSlot.Presentation = .init()
    ) {
        self.pipeline = pipeline
        self.presentation = presentation
        scrolled = WeakObject(UnsafeMutableRawPointer(scrolledWindow))
        ScrollFollower.follow(scrolledWindow, pipeline: pipeline)
        guard let adjustment = gtk_scrolled_window_get_vadjustment(scrolledWindow) else { return }
        for signal in ["value-changed", "changed"] {
            Signal.connect(UnsafeMutableRawPointer(adjustment), signal) { [weak self] _ in self?.arrangeSoon() }
        }
    }

    /// Gives a widget the picture that it is to show from now on; `position` is its place in the list.
    public func bind(_ widget: UnsafeMutableRawPointer, _ request: ImageRequest, at position: Int) {
        MainThreadWatch.measure {
            let cell = ImageCell(widget, position, ImageWidget(widget, pipeline: pipeline), request)
            cells[widget] = cell
            if pipeline.cachedImage(for: request) != nil {
                start(cell, .normal)
            } else {
                cell.clear(presentation)
                arrangeSoon()
            }
        }
    }

    /// Takes a widget's picture away; its load is cancelled.
    public func unbind(_ widget: UnsafeMutableRawPointer) { cells.removeValue(forKey: widget)?.cancel() }

    /// How many of the pictures on the screen are still to come.
    public var missingCount: Int { cells.values.count { $0.zone == .seen && $0.isMissing } }

    /// How many cells load now.
    public var loadingCount: Int { cells.values.count(where: \.isLoading) }

    /// Asks the server whether the pictures that are bound have changed; what is seen stays until a new one is there.
    public func refresh() {
        for cell in cells.values { cell.isStale = true }
        arrangeSoon()
    }
}

// MARK: What is loaded
extension ImageCells {
    /// Looks at all cells with the next frames, when they have their places.
    private func arrangeSoon() {
        idleFrames = 0
        guard tick == 0, let widget = scrolled.strong else { return }
        tick = gtk_widget_add_tick_callback(
            eidetic_widget(widget.raw),
            { _, _, cells in
                onMainThread(cells) { cells in
                    guard let cells else { return 0 }
                    return MainThreadWatch.measure {
                        Unmanaged<ImageCells>.fromOpaque(cells).takeUnretainedValue().arrange()
                    }
                }
            },
            Unmanaged.passRetained(self).toOpaque(),
            { cells in if let cells { Unmanaged<ImageCells>.fromOpaque(cells).release() } }
        )
    }

    /// Starts and cancels what has to be; gives whether the next frame is to be looked at too.
    private func arrange() -> gboolean {
        guard let widget = scrolled.strong else { return 0 }
        follow(widget)
        var seen: ClosedRange<Int>?
        for (pointer, cell) in cells {
            cell.zone = isSeen(pointer, in: widget) ? .seen : .far
            guard cell.zone == .seen else { continue }
            let range = seen ?? cell.position...cell.position
            seen = min(range.lowerBound, cell.position)...max(range.upperBound, cell.position)
        }
        let next = seen.map(following)
        for cell in cells.values where cell.zone == .far && next?.contains(cell.position) == true { cell.zone = .near }
        let isDone = act()
        idleFrames += 1
        // New cells have no place before the second frame.
        if !isDone || idleFrames < 3 { return 1 }
        tick = 0
        return 0
    }

    private func follow(_ widget: ObjectReference) {
        let value = gtk_adjustment_get_value(gtk_scrolled_window_get_vadjustment(widget.pointer))
        if value != position { isForward = value > position }
        position = value
    }

    /// Whether a cell is on the screen; GTK unmaps those that are not, and leaves them where they were.
    private func isSeen(_ cell: UnsafeMutableRawPointer, in widget: ObjectReference) -> Bool {
        guard gtk_widget_get_mapped(eidetic_widget(cell)) != 0 else { return false }
        var area = graphene_rect_t()
        let isPlaced = gtk_widget_compute_bounds(eidetic_widget(cell), eidetic_widget(widget.raw), &area)
        guard isPlaced != 0, area.size.height > 0 else { return false }
        return area.origin.y + area.size.height > 0
            && area.origin.y < Float(gtk_widget_get_height(eidetic_widget(widget.raw)))
    }

    /// The places of a screen in the direction of scrolling, and of a quarter of one in the other.
    private func following(_ seen: ClosedRange<Int>) -> ClosedRange<Int> {
        let quarter = seen.count / 4
        let (above, below) = isForward ? (quarter, seen.count) : (seen.count, quarter)
        return seen.lowerBound - above...seen.upperBound + below
    }

    /// First what is seen, then what has left, then what comes next; gives whether all was done in the time there is.
    private func act() -> Bool {
        let start = g_get_monotonic_time()
        for zone in [ImageCell.Zone.seen, .far, .near] {
            for cell in cells.values where cell.zone == zone && cell.needsAction {
                act(on: cell)
                if g_get_monotonic_time() - start > Self.budget { return false }
            }
        }
        return true
    }

    private func act(on cell: ImageCell) {
        switch cell.zone {
        case .seen: self.start(cell, .normal)
        case .near: self.start(cell, .low)
        case .far: cell.cancel()
        }
    }

    private func start(_ cell: ImageCell, _ priority: LoadPriority) {
        cell.start(priority, presentation) { [weak self, weak cell] request, result in
            guard let self, let cell, cells[cell.key] === cell else { return }
            switch result {
            case .success(let response): onChange?(request, .shown(response))
            case .failure(let error): if error.code != .cancelled { onChange?(request, .failed(error)) }
            }
        }
    }
}
#endif
