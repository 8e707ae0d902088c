import Eidetic
import EideticTestSupport

/// A transform that opens a gate when it starts, and waits for another one.
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
