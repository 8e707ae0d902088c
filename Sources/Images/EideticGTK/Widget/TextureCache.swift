#if GTK
internal import CGTK
import EideticCore

/// The textures of decoded pixels.
///
/// A texture uses the pixels without a copy, or those of an image that is compact in memory expanded once; all widgets
/// that show the same pixels share one texture.
@MainActor
enum TextureCache {
    private static var textures: [ObjectIdentifier: WeakObjectReference] = [:]
    private static var sweepThreshold = 64

    /// Returns the texture for `pixels`.
    ///
    /// The texture retains the pixels, so their identity is unique as long as the texture exists.
    static func texture(for pixels: PixelBuffer) -> ObjectReference {
        let key = ObjectIdentifier(pixels)
        if let texture = textures[key]?.strongReference { return texture }
        let texture = makeTexture(of: pixels)
        textures[key] = WeakObjectReference(texture.rawPointer)
        if textures.count > sweepThreshold { removeReleasedTextures() }
        return texture
    }

    private static func makeTexture(of pixels: PixelBuffer) -> ObjectReference {
        // The texture format of grey pixels is one of GTK 4.12.
        let pixels = pixels.expandedOrEnded
        let texture = eidetic_texture_new(
            Int32(pixels.size.width),
            Int32(pixels.size.height),
            pixels.bytesPerRow,
            pixels.alpha == .straight ? 1 : 0,
            pixels.unsafeBytes.baseAddress,
            Unmanaged.passRetained(pixels).toOpaque()
        ) { owner in
            if let owner { Unmanaged<PixelBuffer>.fromOpaque(owner).release() }
        }
        guard let texture else { preconditionFailure("GDK cannot create a texture of this size") }
        return ObjectReference(adopting: texture)
    }

    private static func removeReleasedTextures() {
        textures = textures.filter { !$0.value.isReleased }
        sweepThreshold = max(64, 2 * textures.count)
    }
}
#endif
