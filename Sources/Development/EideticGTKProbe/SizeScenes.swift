#if GTK
import CGTK
import Eidetic
import EideticCore
import EideticGTK
import Glibc

extension Scenes {
    /// Decodes images to the widget's size multiplied by its scale factor, which the environment may set.
    static func sizes(_ stage: Stage) async throws {
        let url = try stage.serve("wide.png", colour: .red, width: 800, height: 400)
        let fit = stage.add(gtk_picture_new())
        let cover = stage.add(gtk_picture_new())
        gtk_picture_set_content_fit(OpaquePointer(cover), GTK_CONTENT_FIT_COVER)
        // A GtkImage fills its area, whatever its pixel size, which counts only before the layout.
        let icon = stage.add(gtk_image_new(), width: 32, height: 32), roomy = stage.add(gtk_image_new()),
            later = gtk_image_new()
        for image in [icon, roomy, later] { gtk_image_set_pixel_size(OpaquePointer(image), 32) }
        await stage.present()
        stage.add(later, width: 32, height: 32)
        let scale = eidetic_widget_scale(fit)
        print("scale \(scale)")
        func size(width: Double, height: Double) -> String { "\(Int(width * scale))x\(Int(height * scale))" }
        func decodedSize(of widget: UnsafeMutablePointer<GtkWidget>?, requested given: PixelSize? = nil) async throws
            -> String
        {
            guard let widget else { return "no widget" }
            let view = ImageWidget(widget, pipeline: stage.pipeline)
            return "\(try await view.show(ImageRequest(url, size: given, cachePolicy: .reload)).image.size)"
        }
        let sizes = try await [
            decodedSize(of: fit), decodedSize(of: cover), decodedSize(of: icon), decodedSize(of: roomy),
            decodedSize(of: later), decodedSize(of: fit, requested: PixelSize(width: 50, height: 50)),
        ]
        let expected = [
            size(width: 100, height: 50), size(width: 200, height: 100), size(width: 32, height: 16),
            size(width: 100, height: 50), size(width: 32, height: 16), "50x25",
        ]
        stage.expect(sizes, is: expected)
        // An image of more pixels occupies no more room.
        let paintable = gtk_picture_get_paintable(OpaquePointer(cover))
        let width = gdk_paintable_get_intrinsic_width(paintable)
        stage.expect(width, is: 200)
    }

    /// Moves a shown image to a screen with twice the pixels: it is decoded again, one with a given size is not.
    static func scale(_ stage: Stage) async throws {
        typealias SetScale = @convention(c) (OpaquePointer?, Int32) -> Void
        let url = try stage.serve("large.png", colour: .red, width: 800, height: 800)
        let other = try stage.serve("other.png", colour: .green, width: 800, height: 800)
        let widget = stage.add(gtk_picture_new())
        let fixed = stage.add(gtk_picture_new())
        await stage.present()
        let small = PixelSize(width: 100, height: 100)
        let large = PixelSize(width: 200, height: 200)
        try await ImageWidget(fixed, pipeline: stage.pipeline).show(ImageRequest(other, size: small))
        let shown = try await ImageWidget(widget, pipeline: stage.pipeline).show(ImageRequest(url))
        stage.expect(shown.image.size, is: small)
        guard let symbol = dlsym(nil, "gdk_x11_display_set_surface_scale") else {
            return stage.expect(false, otherwise: "no display of X11")
        }
        unsafeBitCast(symbol, to: SetScale.self)(gtk_widget_get_display(widget), 2)
        func isDecoded(_ url: String) -> Bool {
            stage.pipeline.cachedImage(for: ImageRequest(url, size: large))?.size == large
        }
        await stage.wait(for: "the image of another scale") { isDecoded(url) }
        await stage.waitForFrames(3)
        stage.expect(!isDecoded(other), otherwise: "the image with a given size is decoded again")
    }

    /// Shows images that are longer than a surface of the renderer may be, in two colours each.
    static func veryWide(_ stage: Stage) async throws {
        func image(width: Int, height: Int, first: Colour, second: Colour) throws -> Image {
            let size = PixelSize(width: width, height: height)
            let pixels = try PixelBuffer(size: size, alpha: .opaque) { pixels, bytesPerRow in
                for y in 0..<height {
                    for x in 0..<width {
                        let colour = (width > height ? 2 * x < width : 2 * y < height) ? first : second
                        let bytes = [colour.red, colour.green, colour.blue, 255]
                        for channel in 0..<4 { pixels[y * bytesPerRow + 4 * x + channel] = bytes[channel] }
                    }
                }
            }
            return Image(frames: [Image.Frame(pixels: pixels)], format: .png, sourceSize: size)
        }
        let images = [
            try image(width: 40_000, height: 20, first: .red, second: .blue),
            try image(width: 20, height: 40_000, first: .green, second: .yellow),
        ]
        let slow = try stage.serveSlow()
        var views: [ImageWidget] = []
        for image in images {
            let widget = stage.add(gtk_picture_new())
            gtk_picture_set_content_fit(OpaquePointer(widget), GTK_CONTENT_FIT_FILL)
            let view = ImageWidget(widget, pipeline: stage.pipeline)
            view.setImage(ImageRequest(slow), presentation: .init(placeholder: image))
            views.append(view)
        }
        await stage.present()
        await stage.waitForFrames(2)
        let shown = try await stage.screenshot()
        for position in 0..<100 where !(48...51).contains(position) {
            stage.expect(shown[position, 50], looksLike: position < 50 ? .red : .blue, "column \(position)")
            stage.expect(shown[150, position], looksLike: position < 50 ? .green : .yellow, "row \(position)")
        }
        for view in views { view.cancel() }
    }

    /// Loads before the layout into widgets that are given more room than they request.
    static func smallRequests(_ stage: Stage) async throws {
        let url = try stage.serve("large.png", colour: .red, width: 800, height: 800)
        let requesting = Widget(gtk_picture_new())
        let icon = Widget(gtk_image_new())
        gtk_widget_set_size_request(requesting.pointer, 50, 50)
        gtk_image_set_pixel_size(OpaquePointer(icon.pointer), 32)
        var sizes: [String] = []
        var windows: [UnsafeMutablePointer<GtkWindow>?] = []
        for widget in [requesting, icon] {
            ImageWidget(widget.pointer, pipeline: stage.pipeline).setImage(ImageRequest(url)) {
                sizes.append((try? $0.get()).map { "\($0.image.size)" } ?? "failed")
            }
            windows.append(widget.presentInOwnWindow())
        }
        await stage.present()
        await stage.wait(for: "both loads") { sizes.count == 2 }
        stage.expect(sizes, is: ["200x200", "200x200"])
        for window in windows { gtk_window_destroy(window) }
    }

    /// Loads into widgets without a size: after their layout, or after some frames without one.
    static func notSized(_ stage: Stage) async throws {
        let url = try stage.serve("large.png", colour: .red, width: 800, height: 800)
        var sizes: [String: String] = [:]
        func load(_ widget: Widget, name: String) {
            ImageWidget(widget.pointer, pipeline: stage.pipeline).setImage(ImageRequest(url)) {
                sizes[name] = (try? $0.get()).map { "\($0.image.size)" } ?? "failed"
            }
        }
        let windowed = Widget(gtk_picture_new())
        let empty = Widget(gtk_picture_new())
        let hidden = Widget(gtk_picture_new())
        load(windowed, name: "whole")
        let window = windowed.presentInOwnWindow()
        gtk_widget_set_halign(empty.pointer, GTK_ALIGN_CENTER)
        gtk_fixed_put(UnsafeMutableRawPointer(stage.area).assumingMemoryBound(to: GtkFixed.self), empty.pointer, 0, 0)
        gtk_widget_set_visible(hidden.pointer, 0)
        gtk_fixed_put(UnsafeMutableRawPointer(stage.area).assumingMemoryBound(to: GtkFixed.self), hidden.pointer, 0, 0)
        load(empty, name: "empty")
        load(hidden, name: "hidden")
        guard case .loading = ImageWidget(hidden.pointer, pipeline: stage.pipeline).loadState() else {
            return stage.expect(false, otherwise: "a waiting load is in state loading")
        }
        await stage.present()
        await stage.wait(for: "both loads") { sizes.count == 2 }
        stage.expect(sizes["whole"], is: "200x200", "\(sizes)")
        // The screen has 1280 by 900 pixels, and no image becomes larger.
        stage.expect(sizes["empty"], is: "800x800", "\(sizes)")
        gtk_widget_set_visible(hidden.pointer, 1)
        await stage.wait(for: "the hidden widget") { sizes["hidden"] != nil }
        if let window { gtk_window_destroy(window) }
    }
}
#endif
