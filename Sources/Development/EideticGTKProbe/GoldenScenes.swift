#if GTK
import CGTK
import Eidetic
import EideticCore
import EideticGTK
import EideticTestSupport
import Glibc

/// Still scenes that are compared with goldens. They contain no text, whose drawing differs between systems, and no
/// image that is fitted to a fraction of a pixel, which GTK 4.18 draws at whole ones.
extension Scenes {
    /// A wide and a tall image with each content fit of `GtkPicture`.
    static func goldenFit(_ stage: Stage) async throws {
        let fits = [GTK_CONTENT_FIT_CONTAIN, GTK_CONTENT_FIT_COVER, GTK_CONTENT_FIT_FILL, GTK_CONTENT_FIT_SCALE_DOWN]
        setBackground("#f2f2f2")
        let wide = try stage.serve("wide.png", image: .pattern(width: 160, height: 64)),
            tall = try stage.serve("tall.png", image: .pattern(width: 48, height: 96))
        let widgets = fits.flatMap { fit in
            [wide, tall].map { url in
                let widget = stage.add(gtk_picture_new(), width: 50, height: 200)
                gtk_picture_set_content_fit(OpaquePointer(widget), fit)
                return (widget, url)
            }
        }
        await stage.present()
        for (widget, url) in widgets { try await ImageWidget(widget, pipeline: stage.pipeline).show(ImageRequest(url)) }
        try await stage.saveScreenshot()
    }

    /// A placeholder, a failure image, an image that is kept, a `GtkImage`, and a paused animation.
    static func goldenStates(_ stage: Stage) async throws {
        setBackground("#f2f2f2")
        let widgets = (0..<4).map { _ in stage.add(gtk_picture_new(), width: 80, height: 100) }
        let image = stage.add(gtk_image_new(), width: 80, height: 100)
        gtk_image_set_pixel_size(OpaquePointer(image), 60)
        Motion.isAllowed = false
        await stage.present()
        let views = widgets.map { ImageWidget($0, pipeline: stage.pipeline) }
        let url = try stage.serve("a.png", image: .pattern(width: 80, height: 60))
        let slow = try stage.serveSlow()
        views[0].setImage(
            ImageRequest(slow),
            presentation: .init(placeholder: try .plain(.blue, width: 40, height: 20))
        )
        let failure = ImageSlot.Presentation(failureImage: try .pattern(width: 30, height: 60))
        _ = try? await views[1].show(ImageRequest(stage.missingURL), presentation: failure)
        try await views[2].show(ImageRequest(url))
        views[2].setImage(
            ImageRequest(slow),
            presentation: .init(placeholder: try .plain(.blue), keepsCurrentImage: true)
        )
        let animation = try stage.serve("a.gif", colours: [.yellow, .green], frameDuration: .milliseconds(20))
        try await views[3].show(ImageRequest(animation))
        try await ImageWidget(image, pipeline: stage.pipeline).show(ImageRequest(url))
        await stage.waitForFrames(10)
        try await stage.saveScreenshot()
    }

    /// Transparent images on a light window.
    static func goldenLight(_ stage: Stage) async throws { try await transparentScene(stage, on: "#f2f2f2") }

    /// Transparent images on a dark window.
    static func goldenDark(_ stage: Stage) async throws { try await transparentScene(stage, on: "#202224") }

    /// Sets the window's colour; the theme's own differs between versions.
    private static func setBackground(_ colour: String) {
        eidetic_add_style("window { background: \(colour); }", 800)
    }

    private static func transparentScene(_ stage: Stage, on colour: String) async throws {
        setBackground(colour)
        let plain = stage.add(gtk_picture_new(), width: 100, height: 100),
            image = stage.add(gtk_image_new(), width: 100, height: 100)
        let placeholderWidget = stage.add(gtk_picture_new(), width: 100, height: 100),
            faint = stage.add(gtk_picture_new(), width: 100, height: 100)
        gtk_image_set_pixel_size(OpaquePointer(image), 80)
        gtk_widget_set_opacity(faint, 0.5)
        await stage.present()
        let url = try stage.serve("a.png", image: .pattern(width: 100, height: 100, isTransparent: true))
        for widget in [plain, image, faint] {
            try await ImageWidget(widget, pipeline: stage.pipeline).show(ImageRequest(url))
        }
        let placeholder = try Image.pattern(width: 70, height: 42, isTransparent: true)
        ImageWidget(placeholderWidget, pipeline: stage.pipeline).setImage(
            ImageRequest(try stage.serveSlow()),
            presentation: .placeholder(placeholder)
        )
        try await stage.saveScreenshot()
    }
}

extension Image {
    /// Returns an image of squares with a gradient from red at the left to green at the bottom, so all parts differ.
    static func pattern(width: Int, height: Int, isTransparent: Bool = false) throws(EideticError) -> Image {
        let size = PixelSize(width: width, height: height)
        let alpha: PixelBuffer.Alpha = isTransparent ? .straight : .opaque
        let pixels = try PixelBuffer(size: size, alpha: alpha) { pixels, bytesPerRow in
            for y in 0..<height {
                for x in 0..<width {
                    let offset = y * bytesPerRow + 4 * x
                    let isLight = (x / 5 + y / 5) % 2 == 0
                    pixels[offset] = UInt8(255 - 255 * x / width)
                    pixels[offset + 1] = UInt8(255 * y / height)
                    pixels[offset + 2] = isLight ? 230 : 40
                    pixels[offset + 3] = isTransparent ? UInt8(255 * (x + y) / (width + height)) : 255
                }
            }
        }
        return Image(frames: [Frame(pixels: pixels)], format: .png, sourceSize: size)
    }
}

extension Stage {
    /// Adds an image to the server, and returns its URL.
    func serve(_ name: String, image: Image) throws -> String {
        try server.addFile(try image.encoded(as: .png), at: name)
    }

    /// Saves a screenshot in the file that the environment variable `EIDETIC_SCREENSHOT` names.
    func saveScreenshot() async throws {
        await waitForFrames(3)
        let screen = try await screenshot()
        let size = PixelSize(width: screen.width, height: screen.height)
        let pixels = try PixelBuffer(size: size, alpha: .opaque) { pixels, bytesPerRow in
            for y in 0..<size.height {
                for x in 0..<size.width {
                    let colour = screen[x, y]
                    let offset = y * bytesPerRow + 4 * x
                    (pixels[offset], pixels[offset + 1]) = (colour.red, colour.green)
                    (pixels[offset + 2], pixels[offset + 3]) = (colour.blue, 255)
                }
            }
        }
        guard let path = getenv("EIDETIC_SCREENSHOT") else {
            return expect(false, otherwise: "EIDETIC_SCREENSHOT is not set")
        }
        let image = Image(frames: [Image.Frame(pixels: pixels)], format: .png, sourceSize: size)
        try FileSystem().replaceContents(of: String(cString: path), with: image.encoded(as: .png))
    }
}
#endif
