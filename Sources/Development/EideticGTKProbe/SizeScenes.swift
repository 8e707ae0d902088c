#if GTK
import CGTK
import Eidetic
import EideticCore
import EideticGTK

extension Scenes {
    /// Pictures are decoded to the widget's size by its scale factor, which the environment may have set.
    static func sizes(_ stage: Stage) async throws {
        let url = try stage.put("wide.png", .red, width: 800, height: 400)
        let fit = stage.add(gtk_picture_new()), cover = stage.add(gtk_picture_new())
        gtk_picture_set_content_fit(OpaquePointer(cover), GTK_CONTENT_FIT_COVER)
        // An image fills its area, whatever its pixel size: that counts where there is no area yet.
        let icon = stage.add(gtk_image_new(), 32, 32), roomy = stage.add(gtk_image_new()), later = gtk_image_new()
        for image in [icon, roomy, later] { gtk_image_set_pixel_size(OpaquePointer(image), 32) }
        await stage.present()
        let scale = Int(gtk_widget_get_scale_factor(fit))
        print("scale \(scale)")
        func size(_ widget: UnsafeMutablePointer<GtkWidget>?, _ given: PixelSize? = nil) async throws -> String {
            guard let widget else { return "no widget" }
            let view = ImageWidget(widget, pipeline: stage.pipeline)
            return "\(try await view.show(url, options: .fromLoaderOnly, size: given).image.size)"
        }
        let sizes = try await [
            size(fit), size(cover), size(icon), size(roomy), size(later), size(fit, PixelSize(width: 50, height: 50)),
        ]
        let wanted = [
            "\(100 * scale)x\(50 * scale)", "\(200 * scale)x\(100 * scale)", "\(32 * scale)x\(16 * scale)",
            "\(100 * scale)x\(50 * scale)", "\(32 * scale)x\(16 * scale)", "50x25",
        ]
        stage.expect(sizes == wanted, "\(sizes), wanted \(wanted)")
        // What was decoded finer takes no more room.
        let paintable = gtk_picture_get_paintable(OpaquePointer(cover))
        let width = gdk_paintable_get_intrinsic_width(paintable)
        stage.expect(width == 200, "\(width)")
    }

    /// A widget without a size loads when it has one; one that never gets one by itself is loaded all the same.
    static func notSized(_ stage: Stage) async throws {
        let url = try stage.put("large.png", .red, width: 800, height: 800)
        var sizes: [String: String] = [:]
        func load(_ widget: Widget, _ name: String) {
            ImageWidget(widget.pointer, pipeline: stage.pipeline).setImage(url) {
                sizes[name] = (try? $0.get()).map { "\($0.image.size)" } ?? "failed"
            }
        }
        let whole = Widget(gtk_picture_new()), empty = Widget(gtk_picture_new()), hidden = Widget(gtk_picture_new())
        load(whole, "whole")
        let window = whole.inWindowOfItsOwn()
        gtk_widget_set_halign(empty.pointer, GTK_ALIGN_CENTER)
        gtk_fixed_put(UnsafeMutableRawPointer(stage.area).assumingMemoryBound(to: GtkFixed.self), empty.pointer, 0, 0)
        gtk_widget_set_visible(hidden.pointer, 0)
        gtk_fixed_put(UnsafeMutableRawPointer(stage.area).assumingMemoryBound(to: GtkFixed.self), hidden.pointer, 0, 0)
        load(empty, "empty")
        load(hidden, "hidden")
        guard case .loading = ImageWidget(hidden.pointer, pipeline: stage.pipeline).loadState() else {
            return stage.expect(false, "what waits is loading")
        }
        await stage.present()
        await stage.until("both loads") { sizes.count == 2 }
        stage.expect(sizes["whole"] == "200x200", "\(sizes)")
        // Not larger than the screen, which is 1280 by 900.
        stage.expect(sizes["empty"] == "800x800", "\(sizes)")
        gtk_widget_set_visible(hidden.pointer, 1)
        await stage.until("the hidden one") { sizes["hidden"] != nil }
        if let window { gtk_window_destroy(window) }
    }
}
#endif
