public import EideticCore

/// An object that can show an image: a widget, a button, a marker on a map, a terminal.
///
/// Its functions are called on the main actor.
@MainActor
public protocol ImageDisplay: AnyObject {
    /// Shows an image.
    ///
    /// - Parameters:
    ///   - image: The image; `nil` to show nothing.
    ///   - transition: The transition to it; `nil` to show it at once.
    ///   - completion: A function to be called once, when the transition is finished.
    func display(_ image: Image?, transition: ImageTransition?, completion: @escaping @MainActor () -> Void)

    /// Shows an incomplete image, whose missing pixels are transparent. By default it is shown without the background.
    ///
    /// - Parameters:
    ///   - image: The image so far.
    ///   - background: The placeholder, or what else was shown before, which stays visible where pixels are missing.
    func displayPreview(_ image: Image, over background: Image?)

    /// Shows the next frame of the animation that is shown. By default it is shown like an image, without a transition.
    ///
    /// Called only while the slot plays; not for widgets of GTK, which play with the clock of the screen.
    ///
    /// - Parameter frame: The frame as a still image.
    func displayFrame(_ frame: Image)

    /// Shows the progress of a load. Does nothing by default.
    ///
    /// - Parameter indicator: The indicator; `nil` to hide it.
    func displayIndicator(_ indicator: ImageIndicator?)
}

extension ImageDisplay {
    /// Shows the image without the background.
    public func displayPreview(_ image: Image, over background: Image?) {
        display(image, transition: nil) {}
    }

    /// Shows the frame without a transition.
    public func displayFrame(_ frame: Image) { display(frame, transition: nil) {} }

    /// Does nothing.
    public func displayIndicator(_ indicator: ImageIndicator?) {}
}

/// A display that plays animations by itself, with the clock of its screen.
@MainActor
package protocol PlayingDisplay: ImageDisplay {}

/// A transition from one image to the next.
public struct ImageTransition: Sendable, Hashable {
    package enum Kind: String, Sendable, Hashable {
        /// The new image fades in over the old one.
        case crossFade
    }

    package let kind: Kind

    /// The duration of the transition.
    public let duration: Duration

    /// Returns a transition in which the new image fades in over the old one; in half a second by default.
    public static func crossFade(_ duration: Duration = .milliseconds(500)) -> ImageTransition {
        ImageTransition(kind: .crossFade, duration: duration)
    }
}

/// An indicator that is shown while an image is loaded.
public enum ImageIndicator: Sendable, Hashable {
    /// A spinner, without a measure of progress.
    case spinner
    /// The fraction that was received, from 0 to 1; `nil` if the size is unknown.
    case progress(Double?)
}
