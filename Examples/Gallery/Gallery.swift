#if GTK
import CGTK
import Eidetic
import EideticBackground
import EideticCore
import EideticGTK
import EideticStore
import EideticTransfer
import Glibc

/// The window: a grid of images, a view of one large image, and the size of the cache.
@MainActor
final class Gallery {
    let interface = Interface()
    let pipeline: ImagePipeline
    let disk: DiskCache?
    let grid: ImageGrid
    private var options: GalleryOptions
    /// The position of the image that an earlier process showed, until the images are found.
    private var restoredPosition: Int?
    private let window: UnsafeMutablePointer<GtkWindow>
    private(set) lazy var detail = DetailView(gallery: self)
    private lazy var cacheView = CacheView(gallery: self)
    private var unreachable: Set<String> = []
    private var isIndexCached = false

    init(application: UnsafeMutablePointer<GtkApplication>, options: GalleryOptions) {
        self.options = options
        var configuration = DiskCache.Configuration(directory: options.cacheDirectory)
        configuration.maximumAge = .seconds(30 * 24 * 3_600)
        disk = try? DiskCache(configuration)
        pipeline = Self.makePipeline(disk: disk)
        grid = ImageGrid(interface: interface, pipeline: pipeline)
        guard let window = gtk_application_window_new(application) else {
            preconditionFailure("GTK cannot create the window")
        }
        self.window = UnsafeMutableRawPointer(window).assumingMemoryBound(to: GtkWindow.self)
        eidetic_add_style(Interface.style, 600)
        setUp()
        connect()
        isDark = options.isDark
        gtk_toggle_button_set_active(interface.pointer("dark", as: GtkToggleButton.self), options.isDark ? 1 : 0)
        Task { await findImages() }
        Task {
            for await state in Application.shared.states {
                report("state \(state)")
                if !isUnseen { detail.loadInterrupted() }
            }
        }
    }

    /// Creates a pipeline whose loads are handed over when the background time expires.
    private static func makePipeline(disk: DiskCache?) -> ImagePipeline {
        var configuration = ImagePipeline.Configuration()
        configuration.diskCache = disk
        configuration.transfers = try? BackgroundDownloads(identifier: "images")
        return ImagePipeline(configuration)
    }

    func present() { gtk_window_present(window) }

    private func setUp() {
        gtk_window_set_title(window, "Gallery")
        gtk_window_set_icon_name(window, "org.eidetic.Gallery")
        gtk_window_set_default_size(window, 1_120, 780)
        gtk_window_set_titlebar(window, interface.widget("header"))
        gtk_window_set_child(window, interface.widget("stack"))
        _ = detail
        cacheView.update()
    }

    // MARK: Images

    private func findImages() async {
        let list = ImageURLFinder(downloader: pipeline.configuration.downloader, cache: disk)
        do throws(EideticError) {
            let found = try await list.urls(of: options.sources)
            isIndexCached = found.isOffline
            grid.show(found.urls)
            setText(of: "subtitle", to: found.urls.count == 1 ? "1 image" : "\(found.urls.count) images")
            showPage(found.urls.isEmpty ? "empty" : "grid")
            if let position = restoredPosition { openDetail(at: position) }
            restoredPosition = nil
            // The arrow keys move among the images from the start.
            gtk_widget_grab_focus(interface.widget("grid"))
            setText(of: "message", to: "There are no images here.")
        } catch {
            isIndexCached = error.isUnreachable
            setText(of: "message", to: error.message)
            showPage("empty")
        }
        showOffline()
    }

    // MARK: State

    /// The state for the next launch: the position of the image that is shown, and its sources.
    var archive: [UInt8]? {
        Array(([detail.position.map { "\($0)" } ?? ""] + options.sources).joined(separator: "\n").utf8)
    }

    /// Returns to the state of an earlier process with the same sources.
    func restore(_ archive: [UInt8]) {
        let lines = String(decoding: archive, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        guard let position = lines.first.flatMap({ Int($0) }) else { return }
        if options.sources.isEmpty { options.sources = lines.dropFirst().map(String.init) }
        guard lines.dropFirst().map(String.init) == options.sources else { return }
        report("restored: image \(position)")
        restoredPosition = position
        if !grid.urls.isEmpty { openDetail(at: position) }
    }

    /// Shows the images of another source.
    func open(_ source: String) {
        closeDetail()
        options.sources = [source]
        Task { await findImages() }
    }

    // MARK: Actions

    private func connect() {
        Signal.connect(interface.object("back"), signal: "clicked") { [unowned self] _ in closeDetail() }
        Signal.connect(interface.object("refresh"), signal: "clicked") { [unowned self] _ in refresh() }
        Signal.connect(interface.object("clear"), signal: "clicked") { [unowned self] _ in cacheView.clear() }
        Signal.connect(interface.object("dark"), signal: "toggled") { [unowned self] _ in
            isDark = gtk_toggle_button_get_active(interface.pointer("dark", as: GtkToggleButton.self)) != 0
        }
        Signal.connectInteger(interface.object("grid"), signal: "activate") { [unowned self] in openDetail(at: Int($0))
        }
        grid.cells.onChange = { [unowned self] in loadEnded($0, change: $1) }
        guard let keys = gtk_event_controller_key_new() else { return }
        gtk_event_controller_set_propagation_phase(keys, GTK_PHASE_CAPTURE)
        Signal.connectKeyPress(UnsafeMutableRawPointer(keys)) { [unowned self] in handleKey(Int($0), modifiers: $1) }
        gtk_widget_add_controller(UnsafeMutableRawPointer(window).assumingMemoryBound(to: GtkWidget.self), keys)
    }

    /// Handles a key press.
    ///
    /// - Returns: `true` if the key has a meaning; otherwise, `false`.
    private func handleKey(_ key: Int, modifiers: UInt32) -> Bool {
        let control = modifiers & GDK_CONTROL_MASK.rawValue != 0
        switch key {
        case Int(GDK_KEY_F5): refresh()
        case Int(GDK_KEY_r) where control: refresh()
        case Int(GDK_KEY_d) where control:
            gtk_toggle_button_set_active(interface.pointer("dark", as: GtkToggleButton.self), isDark ? 0 : 1)
        case Int(GDK_KEY_q) where control: gtk_window_close(window)
        case Int(GDK_KEY_F11):
            gtk_window_is_fullscreen(window) != 0 ? gtk_window_unfullscreen(window) : gtk_window_fullscreen(window)
        case Int(GDK_KEY_Escape), Int(GDK_KEY_BackSpace):
            guard detail.position != nil else { return false }
            closeDetail()
        case Int(GDK_KEY_Left): return detail.move(by: -1)
        case Int(GDK_KEY_Right), Int(GDK_KEY_space): return detail.move(by: 1)
        default: return false
        }
        return true
    }

    private func openDetail(at position: Int) {
        detail.show(at: position)
        showPage("detail")
        gtk_widget_set_visible(interface.widget("back"), 1)
        gtk_widget_grab_focus(interface.widget("later"))
    }

    private func closeDetail() {
        guard let position = detail.position else { return }
        detail.close()
        showPage("grid")
        gtk_widget_set_visible(interface.widget("back"), 0)
        setText(of: "title", to: "Gallery")
        gtk_widget_grab_focus(interface.widget("grid"))
        grid.scroll(to: position)
    }

    private func refresh() {
        unreachable = []
        detail.position == nil ? grid.cells.refresh() : detail.refresh()
        if isIndexCached { Task { await findImages() } }
        showOffline()
    }

    private(set) var isDark = false {
        didSet {
            guard let settings = gtk_settings_get_default() else { return }
            eidetic_set_boolean(UnsafeMutableRawPointer(settings), "gtk-application-prefer-dark-theme", isDark ? 1 : 0)
        }
    }

    /// A Boolean value indicating whether the window is not seen: widgets draw the last state when it is again.
    var isUnseen: Bool { Application.shared.state == .background }

    // MARK: Reports

    /// Updates the offline badge and the cache view after a load.
    func loadEnded(_ request: ImageRequest, change: ImageCells.Change) {
        if isUnseen { report("not drawn yet: \(request.name)") }
        switch change {
        case .shown(let response):
            if case .failed(let error)? = response.revalidation, error.isUnreachable {
                unreachable.insert(request.name)
            } else if response.source == .network || response.revalidation != nil {
                unreachable = []
                isIndexCached = false
            }
        case .failed(let error):
            report("failed: \(error.message)")
            if error.isUnreachable { unreachable.insert(request.name) }
        }
        showOffline()
        cacheView.update()
        reportCompletion()
    }

    private func showOffline() {
        let isOffline = !unreachable.isEmpty || isIndexCached
        gtk_widget_set_visible(interface.widget("offline"), isOffline ? 1 : 0)
        if isOffline { report("offline") }
    }

    func setText(of name: String, to text: String) { gtk_label_set_text(interface.opaque(name), text) }

    private func showPage(_ name: String) { gtk_stack_set_visible_child_name(interface.opaque("stack"), name) }

    private func reportCompletion() {
        guard detail.position == nil, grid.cells.pendingCount == 0, grid.cells.loadingCount == 0 else { return }
        report("all shown")
    }

    /// Prints a line for tests and screenshots, with the option `--report`.
    func report(_ line: String) {
        guard options.reportsProgress else { return }
        print(line)
        fflush(nil)
    }
}
#endif
