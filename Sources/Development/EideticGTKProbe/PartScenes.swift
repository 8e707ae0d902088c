#if GTK
import CGTK
import Eidetic
import EideticCore
import EideticGTK
import Glibc

extension Scenes {
    /// Shows an image for each state of a button; a state without an image shows the normal one.
    static func buttons(_ stage: Stage) async throws {
        let button = stage.add(gtk_button_new(), width: 120, height: 120),
            plain = stage.add(gtk_button_new(), width: 120, height: 120)
        await stage.present()
        let view = ImageWidget(button, pipeline: stage.pipeline)
        try await view.show(ImageRequest(try stage.serve("red.png", colour: .red)))
        try await view.show(ImageRequest(try stage.serve("green.png", colour: .green)), for: .pressed)
        try await view.show(ImageRequest(try stage.serve("blue.png", colour: .blue)), for: .insensitive)
        try await ImageWidget(plain, pipeline: stage.pipeline).show(
            ImageRequest(try stage.serve("yellow.png", colour: .yellow))
        )
        func shownColour(x: Int) async throws -> Colour {
            await stage.waitForFrames(2)
            // The theme's own transitions have finished after these frames.
            await stage.waitForFrames(20)
            return try await stage.screenshot()[x, 60]
        }
        stage.expect(try await shownColour(x: 60), looksLike: .red, "normal")
        gtk_widget_set_state_flags(button, GTK_STATE_FLAG_ACTIVE, 0)
        gtk_widget_set_state_flags(plain, GTK_STATE_FLAG_ACTIVE, 0)
        stage.expect(try await shownColour(x: 60), looksLike: .green, "pressed")
        stage.expect(try await shownColour(x: 180), looksLike: .yellow, "pressed, without an image of its own")
        gtk_widget_unset_state_flags(button, GTK_STATE_FLAG_ACTIVE)
        gtk_widget_set_sensitive(button, 0)
        // Themes draw insensitive widgets paler.
        let pale = try await shownColour(x: 60)
        stage.expect(pale.blue > pale.red && pale.blue > pale.green, otherwise: "insensitive: \(pale)")
        gtk_widget_set_sensitive(button, 1)
        stage.expect(try await shownColour(x: 60), looksLike: .red, "normal again")
    }

    /// Shows an image in a marker on a map of libshumate.
    static func marker(_ stage: Stage) async throws {
        guard let shumate = Shumate() else { return stage.expect(false, otherwise: "no libshumate") }
        let map = stage.add(shumate.map(), width: 300, height: 300)
        let marker = shumate.marker(on: map)
        await stage.present()
        let url = try stage.serve("red.png", colour: .red)
        let response = try await ImageWidget(marker, pipeline: stage.pipeline)
            .show(ImageRequest(url, size: PixelSize(width: 40, height: 40)))
        await stage.waitForFrames(3)
        let screen = try await stage.screenshot()
        stage.expect(response.image.size.width, is: 40, "\(response.image.size)")
        stage.expect(screen[150, 150], looksLike: .red)
        stage.expect(!screen[150, 180].looks(like: .red), otherwise: "larger than it was decoded")
    }
}

/// The functions of libshumate that the scene needs, without linking it.
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

    private func symbol<Function>(_ name: String, as type: Function.Type) -> Function {
        guard let symbol = dlsym(library, name) else { preconditionFailure("no \(name)") }
        return unsafeBitCast(symbol, to: type)
    }

    func map() -> UnsafeMutablePointer<GtkWidget>? { symbol("shumate_map_new", as: Maker.self)() }

    /// Returns a marker at the centre of the map.
    func marker(on map: UnsafeMutablePointer<GtkWidget>) -> UnsafeMutableRawPointer {
        guard let marker = symbol("shumate_marker_new", as: Maker.self)(),
            let viewport = symbol("shumate_map_get_viewport", as: Getter.self)(map),
            let layer = symbol("shumate_marker_layer_new", as: Getter.self)(viewport)
        else { preconditionFailure("libshumate cannot create the map") }
        // A projection without tiles: no map is loaded.
        let registry = symbol("shumate_map_source_registry_new_with_defaults", as: Maker.self)()
        let named = symbol("shumate_map_source_registry_get_by_id", as: Finder.self)
        let source = registry.flatMap { named($0, "osm-mapnik") }
        symbol("shumate_viewport_set_reference_map_source", as: Setter.self)(viewport, source)
        let place = symbol("shumate_location_set_location", as: Placer.self)
        place(marker, 0, 0)
        place(viewport, 0, 0)
        symbol("shumate_map_add_layer", as: Setter.self)(map, layer)
        symbol("shumate_marker_layer_add_marker", as: Setter.self)(layer, marker)
        return UnsafeMutableRawPointer(marker)
    }
}
#endif
