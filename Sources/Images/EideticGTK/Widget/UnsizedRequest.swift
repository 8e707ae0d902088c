#if GTK
import Eidetic
import EideticCore

/// An image request without its size, which the layout of the widget determines.
struct UnsizedRequest {
    let url: String
    let options: ImageOptions
    let transform: (any ImageTransform)?
    let mode: ContentMode

    /// Returns the request for a size; with `nil` for the image's own size.
    func makeRequest(size: PixelSize?) -> ImageRequest {
        let rendering = ImageRequest.Rendering(size: size, contentMode: mode, transform: transform)
        return ImageRequest(ImageRequest.Resource(url: url), rendering: rendering, options: options)
    }
}
#endif
