#if GTK
internal import CGTK
import EideticCore

/// Textures of decoded pixels: made without a copy, and one for all who show the same pixels at the same time.
@MainActor
enum Textures {
    private static var known: [ObjectIdentifier: WeakObject] = [:]
    private static var sweepCount = 64

    /// The texture of `pixels`.
    ///
    /// The texture keeps the pixels, so as long as it is there no others can have their identity.
    static func texture(of pixels: PixelBuffer) -> ObjectReference {
        let key = ObjectIdentifier(pixels)
        if let texture = known[key]?.strong { return texture }
        let texture = make(pixels)
        known[key] = WeakObject(texture.raw)
        if known.count > sweepCount { sweep() }
        return texture
    }

    private static func make(_ pixels: PixelBuffer) -> ObjectReference {
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
        guard let texture else { preconditionFailure("GDK makes a texture of any size") }
        return ObjectReference(adopting: texture)
    }

    private static func sweep() {
        known = known.filter { !$0.value.isGone }
        sweepCount = max(64, 2 * known.count)
    }
}
#endif
