import Eidetic
import EideticTestSupport

/// A transform that says when it begins, and waits.
struct BlockingTransform: ImageTransform {
    let key = "held"
    let started: Gate
    let proceed: Gate

    func apply(to pixels: PixelBuffer) throws(EideticError) -> PixelBuffer {
        started.open()
        proceed.block()
        return pixels
    }
}
