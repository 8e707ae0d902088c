/// The way an image is fitted to a size; an image is never enlarged.
///
/// The names are those of UIKit's `scaleAspectFit` and `scaleAspectFill`, and of CSS's `contain` and `cover`.
public enum ContentMode: Hashable, Sendable {
    /// The whole image, with its aspect ratio: neither side is longer than the target's.
    case fit
    /// The whole image, with its aspect ratio: it covers the target, and may exceed it in one dimension.
    case fill
    /// The target's aspect ratio: the image covers the target, and is cropped around `focus`.
    case fillCropped(focus: CropFocus = .center)
    /// The whole image with the target's aspect ratio, distorted if its own differs.
    case stretch
}

extension ContentMode {
    /// The name of the mode in the keys of images; ``fill`` cropped in earlier ones.
    package var key: String { self == .fill ? "cover" : name }

    package var name: String {
        switch self {
        case .fit: "fit"
        case .fill: "fill"
        case .fillCropped: "fillCropped"
        case .stretch: "stretch"
        }
    }

    /// Creates a mode from its name, `fillCropped` with the centre; `nil` for any other text.
    package init?(named name: some StringProtocol) {
        guard let mode = [ContentMode.fit, .fill, .fillCropped(), .stretch].first(where: { $0.name == name }) else {
            return nil
        }
        self = mode
    }

    /// The part that stays in view; `nil` where nothing is cut off.
    package var focus: CropFocus? { if case .fillCropped(let focus) = self { focus } else { nil } }

    /// A Boolean value indicating whether the image has the target's proportions, so that no other can be made of it.
    package var changesProportions: Bool { self == .stretch || focus != nil }
}

/// The part of an image that stays in view when the image is cropped.
public enum CropFocus: Hashable, Sendable {
    /// The point nearest to the centre of the crop, in fractions of the upright width and height from the top left.
    ///
    /// Coordinates outside 0 to 1 are clamped.
    case point(x: Double, y: Double)
    /// The part with the most edges, saturated colours and skin tones; computed without a model.
    case content

    /// The centre of the image.
    public static let center = CropFocus.point(x: 0.5, y: 0.5)
}
