import Eidetic

/// A transform that changes nothing and counts how often it is called.
struct CountingTransform: ImageTransform {
    let key = "counting"
    let count: Counter

    init(count: Counter) { self.count = count }

    func apply(to pixels: PixelBuffer) throws(EideticError) -> PixelBuffer {
        count.increment()
        return pixels
    }
}
