package import EideticCore

/// The way in which a cache keeps track of evicted values that are still in use elsewhere.
package struct LiveValueTracking<Value: Sendable>: Sendable {
    /// A function that returns a value as long as it is referenced elsewhere.
    package typealias WeakReference = @Sendable () -> Value?

    let makeWeakReference: @Sendable (Value) -> WeakReference

    /// Creates tracking with a function that makes a weak reference to a value.
    ///
    /// The function and the references are called while the cache holds a lock, so they must not call the cache.
    package init(makeWeakReference: @escaping @Sendable (Value) -> WeakReference) {
        self.makeWeakReference = makeWeakReference
    }
}

extension LiveValueTracking where Value: AnyObject {
    /// Tracking of objects by weak references.
    package static var objects: Self {
        Self { object in { [weak object] in object } }
    }
}

extension LiveValueTracking where Value == Image {
    /// Tracking of images by their pixels: an image is in use as long as the pixels of all its frames are, and an
    /// animation as long as somebody shows it.
    package static var images: LiveValueTracking<Image> {
        Self { image in
            // An image that was never decoded is not on the screen.
            guard image.isDecoded else { return { nil } }
            let frames = image.frames.map { frame in WeakFrame(frame) }
            let attributes = image.attributes
            let isStreamed = image.streamed != nil
            return { [weak animation = image.streamed] in
                let liveFrames = frames.compactMap(\.frame)
                guard liveFrames.count == frames.count, !isStreamed || animation != nil else { return nil }
                let image = Image(frames: liveFrames, attributes: attributes)
                return isStreamed ? image.playing(animation) : image
            }
        }
    }
}

/// A frame with a weak reference to its pixels.
private struct WeakFrame: Sendable {
    private let pixels: @Sendable () -> PixelBuffer?
    private let duration: Duration

    init(_ frame: Image.Frame) {
        let buffer = frame.pixels
        pixels = { [weak buffer] in buffer }
        duration = frame.duration
    }

    var frame: Image.Frame? { pixels().map { Image.Frame(pixels: $0, duration: duration) } }
}
