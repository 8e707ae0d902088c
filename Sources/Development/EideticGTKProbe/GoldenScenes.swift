#if GTK
import CGTK
import Eidetic
import EideticCore
import EideticGTK
import EideticTestSupport
import Glibc

/// What stands still and is compared with goldens: all of it is drawn here, and no letter is among it.
extension Scenes {
    /// A wide and a tall picture, as each content fit of `GtkPicture` shows them.
    static func goldenFit(_ stage: Stage) async throws {
        let fits = [GTK_CONTENT_FIT_CONTAIN, GTK_CONTENT_FIT_COVER, GTK_CONTENT_FIT_FILL, GTK_CONTENT_FIT_SCALE_DOWN]
        setGround("#f2f2f2")
        let wide = try stage.put("wide.png", .pattern(160, 90)), tall = try stage.put("tall.png", .pattern(48, 80))
        let widgets = fits.flatMap { fit in
            [wide, tall].map { url in
                let picture = stage.add(gtk_picture_new(), 50, 150)
                gtk_picture_set_content_fit(OpaquePointer(picture), fit)
                return (picture, url)
            }
        }
        await stage.present()
        for (picture, url) in widgets { try await ImageWidget(picture, pipeline: stage.pipeline).show(url) }
        try await stage.saveScreenshot()
    }

    /// A placeholder, the failure's picture, what is kept, an image, and an animation that is not to move.
    static func goldenStates(_ stage: Stage) async throws {
        setGround("#f2f2f2")
        let pictures = (0..<4).map { _ in stage.add(gtk_picture_new(), 80, 100) }
        let image = stage.add(gtk_image_new(), 80, 100)
        gtk_image_set_pixel_size(OpaquePointer(image), 60)
        Motion.isAllowed = false
        await stage.present()
        let views = pictures.map { ImageWidget($0, pipeline: stage.pipeline) }
        let url = try stage.put("a.png", .pattern(80, 60)), slow = try stage.putSlow()
        views[0].setImage(slow, placeholder: try .plain(.blue, width: 40, height: 20))
        let failure = ImageSlot.Presentation(failureImage: try .pattern(30, 60))
        _ = try? await views[1].show(stage.missing, presentation: failure)
        try await views[2].show(url)
        views[2].setImage(slow, placeholder: try .plain(.blue), options: .keepCurrentImage)
        try await views[3].show(try stage.put("a.gif", [.yellow, .green], each: .milliseconds(20)))
        try await ImageWidget(image, pipeline: stage.pipeline).show(url)
        await stage.frames(10)
        try await stage.saveScreenshot()
    }

    /// Pictures that let the window's colour through, on a light one.
    static func goldenLight(_ stage: Stage) async throws { try await transparent(stage, on: "#f2f2f2") }

    /// The same on a dark one.
    static func goldenDark(_ stage: Stage) async throws { try await transparent(stage, on: "#202224") }

    /// Gives the window a colour that is not the theme's, which changes from one version to the next.
    private static func setGround(_ colour: String) {
        let provider = gtk_css_provider_new()
        gtk_css_provider_load_from_data(provider, "window { background: \(colour); }", -1)
        gtk_style_context_add_provider_for_display(gdk_display_get_default(), OpaquePointer(provider), 800)
    }

    private static func transparent(_ stage: Stage, on colour: String) async throws {
        setGround(colour)
        let picture = stage.add(gtk_picture_new(), 100, 100), image = stage.add(gtk_image_new(), 100, 100)
        let held = stage.add(gtk_picture_new(), 100, 100), faint = stage.add(gtk_picture_new(), 100, 100)
        gtk_image_set_pixel_size(OpaquePointer(image), 80)
        gtk_widget_set_opacity(faint, 0.5)
        await stage.present()
        let url = try stage.put("a.png", .pattern(100, 100, isTransparent: true))
        for widget in [picture, image, faint] { try await ImageWidget(widget, pipeline: stage.pipeline).show(url) }
        let placeholder = try Image.pattern(70, 40, isTransparent: true)
        ImageWidget(held, pipeline: stage.pipeline).setImage(try stage.putSlow(), placeholder: placeholder)
        try await stage.saveScreenshot()
    }
}

extension Image {
    /// Squares whose colours go from red at the left to green at the bottom, so that no part looks like another.
    static func pattern(_ width: Int, _ height: Int, isTransparent: Bool = false) throws(EideticError) -> Image {
        let size = PixelSize(width: width, height: height)
        let alpha: PixelBuffer.Alpha = isTransparent ? .straight : .opaque
        let pixels = try PixelBuffer(size: size, alpha: alpha) { pixels, bytesPerRow in
            for y in 0..<height {
                for x in 0..<width {
                    let place = y * bytesPerRow + 4 * x
                    let isLight = (x / 5 + y / 5) % 2 == 0
                    pixels[place] = UInt8(255 - 255 * x / width)
                    pixels[place + 1] = UInt8(255 * y / height)
                    pixels[place + 2] = isLight ? 230 : 40
                    pixels[place + 3] = isTransparent ? UInt8(255 * (x + y) / (width + height)) : 255
                }
            }
        }
        return Image(frames: [Frame(pixels: pixels)], format: .png, sourceSize: size)
    }
}

extension Stage {
    /// Puts a picture on the server.
    func put(_ name: String, _ image: Image) throws -> String {
        try server.addFile(try ImageEncoder.encode(image, as: .png), at: name)
    }

    /// Saves what the display server shows where the test asked for it.
    func saveScreenshot() async throws {
        await frames(3)
        let screen = try await screenshot()
        let size = PixelSize(width: screen.width, height: screen.height)
        let pixels = try PixelBuffer(size: size, alpha: .opaque) { pixels, bytesPerRow in
            for y in 0..<size.height {
                for x in 0..<size.width {
                    let colour = screen[x, y], place = y * bytesPerRow + 4 * x
                    (pixels[place], pixels[place + 1]) = (colour.red, colour.green)
                    (pixels[place + 2], pixels[place + 3]) = (colour.blue, 255)
                }
            }
        }
        guard let path = getenv("EIDETIC_SCREENSHOT") else { return expect(false, "EIDETIC_SCREENSHOT says where to") }
        let image = Image(frames: [Image.Frame(pixels: pixels)], format: .png, sourceSize: size)
        try ImageEncoder.encode(image, as: .png).withUnsafeBytes {
            try FileSystem().replaceContents(of: String(cString: path), with: $0)
        }
    }
}
#endif
