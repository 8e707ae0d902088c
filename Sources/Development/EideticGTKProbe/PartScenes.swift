#if GTK
import CGTK
import Eidetic
import EideticCore
import EideticGTK
import Glibc

extension Scenes {
    /// A picture for each state of a button, and the normal one where a state has none.
    static func buttons(_ stage: Stage) async throws {
        let button = stage.add(gtk_button_new(), 120, 120), plain = stage.add(gtk_button_new(), 120, 120)
        await stage.present()
        let view = ImageWidget(button, pipeline: stage.pipeline)
        try await view.show(try stage.put("red.png", .red))
        try await view.show(try stage.put("green.png", .green), for: .pressed)
        try await view.show(try stage.put("blue.png", .blue), for: .insensitive)
        try await ImageWidget(plain, pipeline: stage.pipeline).show(try stage.put("yellow.png", .yellow))
        func seen(_ x: Int) async throws -> Colour {
            await stage.frames(2)
            // Transitions of the theme are over after that.
            await stage.frames(20)
            return try await stage.screenshot()[x, 60]
        }
        stage.expect(try await seen(60).looks(like: .red), "normal")
        gtk_widget_set_state_flags(button, GTK_STATE_FLAG_ACTIVE, 0)
        gtk_widget_set_state_flags(plain, GTK_STATE_FLAG_ACTIVE, 0)
        stage.expect(try await seen(60).looks(like: .green), "pressed")
        stage.expect(try await seen(180).looks(like: .yellow), "pressed, without a picture of its own")
        gtk_widget_unset_state_flags(button, GTK_STATE_FLAG_ACTIVE)
        gtk_widget_set_sensitive(button, 0)
        // Themes draw what is insensitive paler.
        let pale = try await seen(60)
        stage.expect(pale.blue > pale.red && pale.blue > pale.green, "insensitive: \(pale)")
        gtk_widget_set_sensitive(button, 1)
        stage.expect(try await seen(60).looks(like: .red), "normal again")
    }

    /// A marker on a map of libshumate shows the picture.
    static func marker(_ stage: Stage) async throws {
        guard let shumate = Shumate() else { return stage.expect(false, "no libshumate") }
        let map = stage.add(shumate.map(), 300, 300)
        let marker = shumate.marker(on: map)
        await stage.present()
        let url = try stage.put("red.png", .red)
        let response = try await ImageWidget(marker, pipeline: stage.pipeline)
            .show(url, size: PixelSize(width: 40, height: 40))
        await stage.frames(3)
        let screen = try await stage.screenshot()
        stage.expect(response.image.size.width == 40, "\(response.image.size)")
        stage.expect(screen[150, 150].looks(like: .red), "\(screen[150, 150])")
        stage.expect(!screen[150, 180].looks(like: .red), "larger than it was decoded")
    }
}

/// What the scene needs of libshumate, without linking it.
@MainActor
private struct Shumate {
    private typealias Maker = @convention(c) () -> UnsafeMutablePointer<GtkWidget>?
    private typealias Getter = @convention(c) (UnsafeMutableRawPointer) -> UnsafeMutableRawPointer?
    private typealias Setter = @convention(c) (UnsafeMutableRawPointer, UnsafeMutableRawPointer?) -> Void
    private typealias Placer = @convention(c) (UnsafeMutableRawPointer, Double, Double) -> Void
    private typealias Finder =
        @convention(c) (UnsafeMutableRawPointer, UnsafePointer<CChar>) -> UnsafeMutableRawPointer?
    private let library: UnsafeMutableRawPointer

    init?() {
        guard let library = dlopen("libshumate-1.0.so.1", RTLD_NOW) else { return nil }
        self.library = library
    }

    private func symbol<Function>(_ name: String, _ type: Function.Type) -> Function {
        guard let symbol = dlsym(library, name) else { preconditionFailure("no \(name)") }
        return unsafeBitCast(symbol, to: type)
    }

    func map() -> UnsafeMutablePointer<GtkWidget>? { symbol("shumate_map_new", Maker.self)() }

    /// A marker in the middle of the map.
    func marker(on map: UnsafeMutablePointer<GtkWidget>) -> UnsafeMutableRawPointer {
        guard let marker = symbol("shumate_marker_new", Maker.self)(),
            let viewport = symbol("shumate_map_get_viewport", Getter.self)(map),
            let layer = symbol("shumate_marker_layer_new", Getter.self)(viewport)
        else { preconditionFailure("libshumate makes maps") }
        // A projection without tiles: no map is loaded.
        let registry = symbol("shumate_map_source_registry_new_with_defaults", Maker.self)()
        let named = symbol("shumate_map_source_registry_get_by_id", Finder.self)
        let source = registry.flatMap { named($0, "osm-mapnik") }
        symbol("shumate_viewport_set_reference_map_source", Setter.self)(viewport, source)
        let place = symbol("shumate_location_set_location", Placer.self)
        place(marker, 0, 0)
        place(viewport, 0, 0)
        symbol("shumate_map_add_layer", Setter.self)(map, layer)
        symbol("shumate_marker_layer_add_marker", Setter.self)(layer, marker)
        return UnsafeMutableRawPointer(marker)
    }
}
#endif
