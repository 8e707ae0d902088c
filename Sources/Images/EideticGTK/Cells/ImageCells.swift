#if GTK
internal import CGTK
public import Eidetic
public import EideticViews
import EideticCore

/// Images in the cells of a scrolling list or grid.
///
/// Visible cells load first. Then the next screen in the direction of scrolling loads at low priority. Loads of all
/// other cells are cancelled. An image in memory is shown when its cell is bound. GTK binds many more cells than are
/// visible, so a bound cell does not load by itself.
///
/// ```swift
/// // In the factory's signals:
/// cells.bind(widget, to: request, at: position)
/// cells.unbind(widget)
/// ```
@MainActor
public final class ImageCells {
    /// The result of a cell's load.
    public enum Change: Sendable {
        /// The image is shown.
        case shown(ImageResponse)
        /// The image could not be loaded.
        case failed(EideticError)
    }

    /// The presentation of the images: placeholder, indicator and transition.
    public var presentation: ImageSlot.Presentation

    /// The function that is called at the end of each load, except for cancelled ones.
    public var onChange: (@MainActor (ImageRequest, Change) -> Void)?

    /// The longest time for starting and cancelling loads in one frame.
    private static let timeBudget = Duration.milliseconds(3)

    private let ownPipeline: ImagePipeline?
    private let weakScrolledWindow: WeakObjectReference
    private var cells: [UnsafeMutableRawPointer: ImageCell] = [:]
    private var tickCallback: UInt32 = 0
    private var framesSinceChange = 0
    private var scrollPosition = 0.0
    private var isScrollingForward = true

    /// Creates cells within a scrolled window.
    ///
    /// - Parameters:
    ///   - scrolledWindow: A `GtkScrolledWindow`, which is observed and not retained.
    ///   - pipeline: The pipeline that loads the images; `nil`, the default, for the shared one.
    ///   - presentation: The presentation of the images.
    public init(
        in scrolledWindow: OpaquePointer,
        pipeline: ImagePipeline? = nil,
        presentation: ImageSlot.Presentation = .init()
    ) {
        ownPipeline = pipeline
        self.presentation = presentation
        weakScrolledWindow = WeakObjectReference(UnsafeMutableRawPointer(scrolledWindow))
        ScrollObserver.observe(scrolledWindow, pipeline: pipeline)
        guard let adjustment = gtk_scrolled_window_get_vadjustment(scrolledWindow) else { return }
        for signal in ["value-changed", "changed"] {
            Signal.connect(UnsafeMutableRawPointer(adjustment), signal: signal) { [weak self] _ in
                self?.scheduleUpdate()
            }
        }
    }

    /// Binds a widget to an image.
    ///
    /// - Parameters:
    ///   - widget: The widget that shows the image.
    ///   - request: The request for the image.
    ///   - position: The image's position in the list.
    public func bind(_ widget: UnsafeMutableRawPointer, to request: ImageRequest, at position: Int) {
        MainThreadWatch.measure {
            let pipeline = ownPipeline ?? .shared
            let view = ImageWidget(widget, pipeline: ownPipeline)
            let cell = ImageCell(key: widget, position: position, view: view, request: request)
            cells[widget] = cell
            if pipeline.cachedImage(for: request) != nil {
                start(cell, priority: .normal)
            } else {
                cell.showPlaceholder(presentation: presentation)
                scheduleUpdate()
            }
        }
    }

    /// Unbinds a widget from its image, and cancels the load.
    public func unbind(_ widget: UnsafeMutableRawPointer) { cells.removeValue(forKey: widget)?.cancel() }

    /// The number of visible cells whose load has not ended.
    public var pendingCount: Int { cells.values.count { $0.zone == .visible && $0.isPending } }

    /// The number of cells that are loading.
    public var loadingCount: Int { cells.values.count(where: \.isLoading) }

    /// Revalidates the images of all bound cells; each stays visible until a newer one is loaded.
    public func refresh() {
        for cell in cells.values { cell.needsRefresh = true }
        scheduleUpdate()
    }
}

// MARK: Loading
extension ImageCells {
    /// Updates all loads with the next frames, when the cells are laid out.
    private func scheduleUpdate() {
        framesSinceChange = 0
        guard tickCallback == 0, let widget = weakScrolledWindow.strongReference else { return }
        tickCallback = gtk_widget_add_tick_callback(
            eidetic_widget(widget.rawPointer),
            { _, _, cells in
                MainActor.runCallback(with: cells) { cells in
                    guard let cells else { return 0 }
                    return MainThreadWatch.measure {
                        Unmanaged<ImageCells>.fromOpaque(cells).takeUnretainedValue().update()
                    }
                }
            },
            Unmanaged.passRetained(self).toOpaque(),
            { cells in if let cells { Unmanaged<ImageCells>.fromOpaque(cells).release() } }
        )
    }

    /// Assigns a zone to each cell, and starts and cancels loads.
    ///
    /// - Returns: 1 if the next frame needs another update; otherwise, 0.
    private func update() -> gboolean {
        guard let widget = weakScrolledWindow.strongReference else { return 0 }
        updateScrollDirection(of: widget)
        let upcomingRange = markVisibleCells(in: widget).map(prefetchRange)
        for cell in cells.values where cell.zone == .far && upcomingRange?.contains(cell.position) == true {
            cell.zone = .near
        }
        let isDone = updateLoads()
        framesSinceChange += 1
        // New cells are not laid out before the second frame.
        if !isDone || framesSinceChange < 3 { return 1 }
        tickCallback = 0
        return 0
    }

    private func updateScrollDirection(of widget: ObjectReference) {
        let value = gtk_adjustment_get_value(gtk_scrolled_window_get_vadjustment(widget.pointer))
        if value != scrollPosition { isScrollingForward = value > scrollPosition }
        scrollPosition = value
    }

    /// Sets the zone of each cell to `visible` or `far`.
    ///
    /// - Returns: The positions of the visible cells; `nil` if there is none.
    private func markVisibleCells(in widget: ObjectReference) -> ClosedRange<Int>? {
        var visibleRange: ClosedRange<Int>?
        for (pointer, cell) in cells {
            cell.zone = isVisible(pointer, in: widget) ? .visible : .far
            guard cell.zone == .visible else { continue }
            let range = visibleRange ?? cell.position...cell.position
            visibleRange = min(range.lowerBound, cell.position)...max(range.upperBound, cell.position)
        }
        return visibleRange
    }

    /// Returns `true` if a cell is on the screen; GTK unmaps other cells, and leaves them at their old places.
    private func isVisible(_ cell: UnsafeMutableRawPointer, in widget: ObjectReference) -> Bool {
        guard gtk_widget_get_mapped(eidetic_widget(cell)) != 0 else { return false }
        var area = graphene_rect_t()
        let isLaidOut = gtk_widget_compute_bounds(eidetic_widget(cell), eidetic_widget(widget.rawPointer), &area)
        guard isLaidOut != 0, area.size.height > 0 else { return false }
        return area.origin.y + area.size.height > 0
            && area.origin.y < Float(gtk_widget_get_height(eidetic_widget(widget.rawPointer)))
    }

    /// Returns the positions of one screen in the direction of scrolling, and of a quarter of a screen in the other.
    private func prefetchRange(around visibleRange: ClosedRange<Int>) -> ClosedRange<Int> {
        let quarter = visibleRange.count / 4
        let (above, below) =
            isScrollingForward ? (quarter, visibleRange.count) : (visibleRange.count, quarter)
        return visibleRange.lowerBound - above...visibleRange.upperBound + below
    }

    /// Updates the loads of visible cells, then of far cells, then of near ones.
    ///
    /// - Returns: `true` if all were updated within the time budget; otherwise, `false`.
    private func updateLoads() -> Bool {
        let start = g_get_monotonic_time()
        for zone in [ImageCell.Zone.visible, .far, .near] {
            for cell in cells.values where cell.zone == zone && cell.needsUpdate {
                updateLoad(of: cell)
                if .microseconds(g_get_monotonic_time() - start) > Self.timeBudget { return false }
            }
        }
        return true
    }

    private func updateLoad(of cell: ImageCell) {
        switch cell.zone {
        case .visible: self.start(cell, priority: .normal)
        case .near: self.start(cell, priority: .low)
        case .far: cell.cancel()
        }
    }

    private func start(_ cell: ImageCell, priority: LoadPriority) {
        cell.start(priority: priority, presentation: presentation) { [weak self, weak cell] request, result in
            guard let self, let cell, cells[cell.key] === cell else { return }
            switch result {
            case .success(let response): onChange?(request, .shown(response))
            case .failure(let error) where error.code == .cancelled: loadAgain(cell)
            case .failure(let error): onChange?(request, .failed(error))
            }
        }
    }

    /// Loads the image of a cell when the application returns from the background, where its time has expired.
    private func loadAgain(_ cell: ImageCell) {
        guard cell.zone != .far, DisplayGate.shared.isHeld else { return }
        DisplayGate.shared.load(for: self) { [weak self] in self?.scheduleUpdate() }
    }
}
#endif
