#if GTK
internal import CGTK
import EideticCore

extension WidgetState {
    /// The number of pixels of the screen for one pixel of the toolkit.
    var scaleFactor: Double { widget.map { eidetic_widget_scale($0) } ?? 1 }

    /// The content mode with which the widget fits an image into its area.
    var contentMode: ContentMode {
        guard let canvas, eidetic_widget_kind(canvas) == EIDETIC_WIDGET_GTK_PICTURE else { return .fit }
        let fit = gtk_picture_get_content_fit(OpaquePointer(canvas))
        return fit == GTK_CONTENT_FIT_COVER || fit == GTK_CONTENT_FIT_FILL ? .fill : .fit
    }

    /// The size in pixels at which the widget shows an image; `nil` before its layout.
    ///
    /// The widget's own request is only a minimum, and so is the pixel size of a `GtkImage`: both may have more room.
    var knownSize: PixelSize? {
        guard let canvas else { return nil }
        let (width, height) = (Int(gtk_widget_get_width(canvas)), Int(gtk_widget_get_height(canvas)))
        return width > 0 && height > 0 ? pixelSize(width: width, height: height) : nil
    }

    private func iconSize(of canvas: UnsafeMutablePointer<GtkWidget>) -> PixelSize? {
        guard eidetic_widget_kind(canvas) == EIDETIC_WIDGET_GTK_IMAGE else { return nil }
        let side = Int(gtk_image_get_pixel_size(OpaquePointer(canvas)))
        return side > 0 ? pixelSize(width: side, height: side) : nil
    }

    private func requestedSize(of canvas: UnsafeMutablePointer<GtkWidget>) -> PixelSize? {
        var (width, height) = (Int32(0), Int32(0))
        gtk_widget_get_size_request(canvas, &width, &height)
        return width > 0 && height > 0 ? pixelSize(width: Int(width), height: Int(height)) : nil
    }

    /// The size for a widget without room: what it requests; else, a side without length is as long as the screen's.
    var fallbackSize: PixelSize? {
        guard let canvas else { return nil }
        if let size = knownSize ?? iconSize(of: canvas) ?? requestedSize(of: canvas) { return size }
        guard let screen = screenSize else { return nil }
        let (width, height) = (Int(gtk_widget_get_width(canvas)), Int(gtk_widget_get_height(canvas)))
        return pixelSize(width: width > 0 ? width : screen.width, height: height > 0 ? height : screen.height)
    }

    private func pixelSize(width: Int, height: Int) -> PixelSize {
        let scale = scaleFactor
        func pixels(_ length: Int) -> Int { Int((Double(length) * scale).rounded(.up)) }
        return PixelSize(width: pixels(width), height: pixels(height))
    }

    /// The largest monitor's size, in pixels of the toolkit.
    private var screenSize: PixelSize? {
        guard let widget, let monitors = gdk_display_get_monitors(gtk_widget_get_display(widget)) else { return nil }
        var largest: PixelSize?
        for index in 0..<g_list_model_get_n_items(monitors) {
            guard let item = g_list_model_get_item(monitors, index) else { continue }
            defer { g_object_unref(item) }
            var area = GdkRectangle()
            gdk_monitor_get_geometry(OpaquePointer(item), &area)
            let size = PixelSize(width: Int(area.width), height: Int(area.height))
            if size.isPositive, size.pixelCount > largest?.pixelCount ?? 0 { largest = size }
        }
        return largest
    }
}
#endif
