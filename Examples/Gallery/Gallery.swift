#if GTK
import CGTK
import Eidetic
import EideticCore
import EideticGTK
import EideticStore
import Glibc

/// The window: a grid of pictures, one of them large, and the cache.
@MainActor
final class Gallery {
    let interface = Interface()
    let pipeline: ImagePipeline
    let disk: DiskCache?
    let grid: PictureGrid
    private let options: GalleryOptions
    private let window: UnsafeMutablePointer<GtkWindow>
    private lazy var detail = DetailView(self)
    private lazy var cacheView = CacheView(self)
    private var unreachable: Set<String> = []
    private var isIndexOld = false

    init(_ application: UnsafeMutablePointer<GtkApplication>, _ options: GalleryOptions) {
        self.options = options
        var configuration = DiskCache.Configuration(directory: options.cacheDirectory)
        configuration.maximumAge = .seconds(30 * 24 * 3_600)
        disk = try? DiskCache(configuration)
        pipeline = ImagePipeline(ImagePipeline.Configuration(diskCache: disk))
        grid = PictureGrid(interface, pipeline)
        guard let window = gtk_application_window_new(application) else { preconditionFailure("GTK makes windows") }
        self.window = UnsafeMutableRawPointer(window).assumingMemoryBound(to: GtkWindow.self)
        Self.addStyle()
        setUp()
        connect()
        isDark = options.isDark
        gtk_toggle_button_set_active(interface.pointer("dark", as: GtkToggleButton.self), options.isDark ? 1 : 0)
        Task { await find() }
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

    private static func addStyle() {
        guard let display = gdk_display_get_default(), let provider = gtk_css_provider_new() else { return }
        gtk_css_provider_load_from_data(provider, Interface.style, -1)
        gtk_style_context_add_provider_for_display(display, OpaquePointer(provider), 600)
    }

    // MARK: The list

    private func find() async {
        let list = PictureList(downloader: pipeline.configuration.downloader, cache: disk)
        do throws(EideticError) {
            let found = try await list.urls(of: options.sources)
            isIndexOld = found.isOffline
            grid.show(found.urls)
            setText("subtitle", found.urls.count == 1 ? "1 picture" : "\(found.urls.count) pictures")
            showPage(found.urls.isEmpty ? "empty" : "grid")
            // The arrows move among the pictures from the beginning.
            gtk_widget_grab_focus(interface.widget("grid"))
            setText("message", "There are no pictures here.")
        } catch {
            isIndexOld = error.isUnreachable
            setText("message", error.message)
            showPage("empty")
        }
        showOffline()
    }

    // MARK: What the user does

    private func connect() {
        Signal.connect(interface.object("back"), "clicked") { [unowned self] _ in leaveDetail() }
        Signal.connect(interface.object("refresh"), "clicked") { [unowned self] _ in refresh() }
        Signal.connect(interface.object("clear"), "clicked") { [unowned self] _ in cacheView.clear() }
        Signal.connect(interface.object("dark"), "toggled") { [unowned self] _ in
            isDark = gtk_toggle_button_get_active(interface.pointer("dark", as: GtkToggleButton.self)) != 0
        }
        Signal.connectNumber(interface.object("grid"), "activate") { [unowned self] in open(Int($0)) }
        grid.cells.onChange = { [unowned self] in note($0, $1) }
        guard let keys = gtk_event_controller_key_new() else { return }
        gtk_event_controller_set_propagation_phase(keys, GTK_PHASE_CAPTURE)
        Signal.connectKey(UnsafeMutableRawPointer(keys)) { [unowned self] in press(Int($0), $1) }
        gtk_widget_add_controller(UnsafeMutableRawPointer(window).assumingMemoryBound(to: GtkWidget.self), keys)
    }

    /// Gives whether the key meant something here.
    private func press(_ key: Int, _ modifiers: UInt32) -> Bool {
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
            leaveDetail()
        case Int(GDK_KEY_Left): return detail.move(by: -1)
        case Int(GDK_KEY_Right), Int(GDK_KEY_space): return detail.move(by: 1)
        default: return false
        }
        return true
    }

    private func open(_ position: Int) {
        detail.show(position)
        showPage("detail")
        gtk_widget_set_visible(interface.widget("back"), 1)
        gtk_widget_grab_focus(interface.widget("later"))
    }

    private func leaveDetail() {
        guard let position = detail.position else { return }
        detail.leave()
        showPage("grid")
        gtk_widget_set_visible(interface.widget("back"), 0)
        setText("title", "Gallery")
        gtk_widget_grab_focus(interface.widget("grid"))
        grid.scroll(to: position)
    }

    private func refresh() {
        unreachable = []
        detail.position == nil ? grid.cells.refresh() : detail.refresh()
        if isIndexOld { Task { await find() } }
        showOffline()
    }

    private(set) var isDark = false {
        didSet {
            guard let settings = gtk_settings_get_default() else { return }
            eidetic_set_boolean(UnsafeMutableRawPointer(settings), "gtk-application-prefer-dark-theme", isDark ? 1 : 0)
        }
    }

    // MARK: What is told

    /// A load came to its end.
    func note(_ request: ImageRequest, _ change: ImageCells.Change) {
        switch change {
        case .shown(let response):
            if case .failed(let error)? = response.revalidation, error.isUnreachable {
                unreachable.insert(request.name)
            } else if response.source == .network || response.revalidation != nil {
                unreachable = []
                isIndexOld = false
            }
        case .failed(let error):
            say("failed: \(error.message)")
            if error.isUnreachable { unreachable.insert(request.name) }
        }
        showOffline()
        cacheView.update()
        report()
    }

    private func showOffline() {
        let isOffline = !unreachable.isEmpty || isIndexOld
        gtk_widget_set_visible(interface.widget("offline"), isOffline ? 1 : 0)
        if isOffline { say("offline") }
    }

    func setText(_ name: String, _ text: String) { gtk_label_set_text(interface.opaque(name), text) }

    private func showPage(_ name: String) { gtk_stack_set_visible_child_name(interface.opaque("stack"), name) }

    private func report() {
        guard detail.position == nil, grid.cells.missingCount == 0, grid.cells.loadingCount == 0 else { return }
        say("all shown")
    }

    /// Tells who started the program to take pictures of it, or to test it.
    func say(_ line: String) {
        guard options.reports else { return }
        print(line)
        fflush(nil)
    }
}
#endif
