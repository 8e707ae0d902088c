import Eidetic

// A thumbnail of exactly 400 × 400 pixels; what matters in the image stays in view.
let side = PixelSize(width: 400, height: 400)
var request = ImageRequest("https://example.org/a.jpg", size: side, contentMode: .fillCropped(focus: .content))
print(try await ImagePipeline.shared.image(for: request).size)

// An avatar: decoded to the size of the first transform, then cut out. Each chain is cached under its own key.
var avatar = ImageRequest("https://example.org/a.jpg")
avatar.rendering.transform = TransformChain([
    .resize(PixelSize(width: 96, height: 96), contentMode: .fillCropped()),
    .circle(borderWidth: 2, borderColor: .white),
])
print(try await ImagePipeline.shared.image(for: avatar).size)

// A transform of one's own is used like these.
struct Sepia: ImageTransform {
    let key = "sepia"

    func apply(to pixels: PixelBuffer) throws(EideticError) -> PixelBuffer {
        let brown = ImageColor(red: 112, green: 66, blue: 20, alpha: 80)
        return try TransformChain([.grayscale, .tint(brown)]).apply(to: pixels)
    }
}
avatar.rendering.transform = Sepia()
print(try await ImagePipeline.shared.image(for: avatar).size)
