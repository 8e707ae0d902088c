import Eidetic
import EideticViews

/// A display that records what it shows.
@MainActor
final class RecordingDisplay: ImageDisplay {
    enum Shown: Equatable {
        case nothing
        case image(PixelSize, hasTransition: Bool)
        case indicator(ImageIndicator?)
    }

    private(set) var history: [Shown] = []
    /// The pixels of the images, as they were shown.
    private(set) var pixels: [PixelBuffer] = []
    private var transitions: [@MainActor () -> Void] = []

    var images: [Shown] {
        history.filter { if case .indicator = $0 { false } else { true } }
    }

    func display(_ image: Image?, transition: ImageTransition?, completion: @escaping @MainActor () -> Void) {
        if let image { pixels.append(image.pixels) }
        history.append(image.map { .image($0.size, hasTransition: transition != nil) } ?? .nothing)
        transition == nil ? completion() : transitions.append(completion)
    }

    func displayIndicator(_ indicator: ImageIndicator?) { history.append(.indicator(indicator)) }

    /// Finishes the transitions that were started.
    func finishTransitions() {
        let ending = transitions
        transitions = []
        for end in ending { end() }
    }
}

/// A display that records whether its images were decoded.
@MainActor
final class DecodingRecordingDisplay: ImageDisplay {
    private(set) var decodedStates: [Bool] = []

    func display(_ image: Image?, transition: ImageTransition?, completion: @escaping @MainActor () -> Void) {
        if let image { decodedStates.append(image.isDecoded) }
        completion()
    }
}
