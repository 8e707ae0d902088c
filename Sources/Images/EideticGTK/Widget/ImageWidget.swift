#if GTK
internal import CGTK
public import Eidetic
public import EideticViews
public import EideticCore

/// A GTK widget that shows an image from a URL.
///
/// ```swift
/// ImageWidget(widget).setImage("https://example.org/a.jpg")
/// ```
///
/// `GtkPicture` and `GtkImage` show the image themselves. A `GtkButton`, and any other widget with a property `child`
/// such as `ShumateMarker`, gets a `GtkPicture` as its child, unless its child is a `GtkPicture` or a `GtkImage`
/// already. For other ways to show an image, conform to `ImageDisplay` and use an `ImageSlot`.
///
/// A new image cancels the load of the earlier one. An image in memory is shown before the call returns. The widget is
/// not retained, and its loads are cancelled when it is destroyed. The state is stored with the widget, so an
/// `ImageWidget` can be created for each call. Without a pipeline of its own it loads with the shared one.
@MainActor
public struct ImageWidget {
    /// A part of a widget with an image of its own.
    public enum Part: Sendable, Hashable, CaseIterable {
        /// The widget, or a button that is not pressed.
        case normal
        /// A pressed button.
        case pressed
        /// A disabled button.
        case insensitive
    }

    let state: WidgetState
    let ownPipeline: ImagePipeline?

    /// The pipeline of the next load.
    var pipeline: ImagePipeline { ownPipeline ?? .shared }

    /// Wraps a widget of a type that Swift imports as opaque, for example `GtkPicture`.
    ///
    /// - Precondition: The widget can show an image; see ``ImageWidget``.
    public init(_ widget: OpaquePointer, pipeline: ImagePipeline? = nil) {
        self.init(UnsafeMutableRawPointer(widget), pipeline: pipeline)
    }

    /// Wraps a widget of a type that Swift imports as a structure, for example `GtkWidget` or `GtkButton`.
    ///
    /// - Precondition: The widget can show an image; see ``ImageWidget``.
    public init<Widget>(_ widget: UnsafeMutablePointer<Widget>, pipeline: ImagePipeline? = nil) {
        self.init(UnsafeMutableRawPointer(widget), pipeline: pipeline)
    }

    /// Wraps a widget by its address.
    ///
    /// - Precondition: The object is a widget and can show an image; see ``ImageWidget``.
    public init(_ widget: UnsafeMutableRawPointer, pipeline: ImagePipeline? = nil) {
        guard let state = WidgetState.attached(to: widget) else {
            preconditionFailure("the widget is no GtkPicture, GtkImage or GtkButton, and has no property child")
        }
        self.init(state: state, pipeline: pipeline)
    }

    init(state: WidgetState, pipeline: ImagePipeline?) {
        self.state = state
        ownPipeline = pipeline
    }

    /// Loads an image and shows it.
    ///
    /// A request without a size is decoded to the widget's size in pixels of the screen, again when the scale of the
    /// screen changes; with the content mode `fit` it is fitted as the widget fits its content. A widget that is not
    /// laid out yet loads after its layout, because it may get more room than it requests: the completion waits until
    /// the widget is on the screen. `presentation.usesViewSize` turns that off. An animation plays, unless the request
    /// has the option `firstFrameOnly`.
    ///
    /// - Parameters:
    ///   - request: The request, also as the literal of a URL; `nil` to show the failure image, else the placeholder.
    ///   - part: The part that shows the image, for buttons.
    ///   - presentation: The placeholder, the indicator, the transition, and the other ways to show the load.
    ///   - completion: The function that is called once if there is a request; for an image in memory, in this call.
    ///   - progress: The function that is called as bytes are received.
    public func setImage(
        _ request: ImageRequest?,
        for part: Part = .normal,
        presentation: ImageSlot.Presentation = .init(),
        completion: (@MainActor (Result<ImageResponse, EideticError>) -> Void)? = nil,
        progress: (@MainActor (LoadProgress) -> Void)? = nil
    ) {
        let load = WidgetLoad(part: part, presentation: presentation, progress: progress, completion: completion)
        guard let request, request.size == nil, presentation.usesViewSize else { return start(load, for: request) }
        guard let size = state.knownSize else { return startWhenSized(load, for: request) }
        start(load, for: request, size: size)
    }

    /// Cancels the load of a part; the shown image stays.
    public func cancel(for part: Part = .normal) { state.existingSlot(for: part)?.cancel() }

    /// Returns the state of a part; `loading` also while the load waits for the widget's size.
    public func loadState(for part: Part = .normal) -> ImageSlot.State {
        guard let slot = state.existingSlot(for: part) else { return .empty }
        return slot.hasPendingLoad ? .loading : slot.imageSlot.state
    }

    /// Returns the running task of a part, which reports its progress and whose priority can be changed.
    public func task(for part: Part = .normal) -> ImageTask? { state.existingSlot(for: part)?.imageSlot.task }

    /// Returns the player of the animation that a part plays, to pause it or to move to a frame; `nil` if it shows a
    /// still image, or the user wants no motion.
    public func player(for part: Part = .normal) -> AnimationPlayer? { state.existingSlot(for: part)?.player }

    /// Sets the playback of animated images in a part.
    public func setAnimationPlayback(_ playback: AnimationPlayback, for part: Part = .normal) {
        guard state.widget != nil else { return }
        (state.existingSlot(for: part) ?? state.slot(for: part, pipeline: ownPipeline)).playback = playback
    }
}
#endif
