public import EideticCore

/// What can show a picture: a widget, a button's state, a marker on a map, a terminal.
///
/// Everything is called on the main actor.
@MainActor
public protocol ImageDisplay: AnyObject {
    /// Shows `image`, or nothing where it is `nil`.
    ///
    /// `transition` says how to get there, at once where it is `nil`; `completion` is to be called once when that is
    /// over.
    func display(_ image: Image?, transition: ImageTransition?, completion: @escaping @MainActor () -> Void)

    /// Shows that something is being loaded, or no longer where `indicator` is `nil`. Does nothing by default.
    func displayIndicator(_ indicator: ImageIndicator?)
}

extension ImageDisplay {
    /// Does nothing.
    public func displayIndicator(_ indicator: ImageIndicator?) {}
}

/// How a picture comes into view.
public struct ImageTransition: Sendable, Hashable {
    /// What is seen meanwhile.
    public enum Kind: String, Sendable, Hashable {
        /// The new picture appears over what was there.
        case crossFade
    }

    /// What is seen meanwhile.
    public let kind: Kind

    /// How long it takes.
    public let duration: Duration

    /// The new picture appears over what was there; in half a second by default.
    public static func crossFade(_ duration: Duration = .milliseconds(500)) -> ImageTransition {
        ImageTransition(kind: .crossFade, duration: duration)
    }
}

/// What is shown while a picture is loaded.
public enum ImageIndicator: Sendable, Hashable {
    /// Something turns.
    case spinner
    /// A part of 1 is there; `nil` where the size is not known.
    case progress(Double?)
}
