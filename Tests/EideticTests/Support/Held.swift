import Eidetic
import EideticTestSupport

/// A transform that says when it begins, and waits.
struct Held: ImageTransform {
    let key = "held"
    let begun: Gate
    let goOn: Gate

    func apply(to pixels: PixelBuffer) throws(EideticError) -> PixelBuffer {
        begun.open()
        goOn.block()
        return pixels
    }
}
