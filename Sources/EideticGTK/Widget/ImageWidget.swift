#if GTK
internal import CGTK
public import Eidetic
public import EideticCore
public import EideticFetch

/// A widget into which one call puts a picture from a URL.
///
/// ```swift
/// ImageWidget(picture).setImage("https://example.org/a.jpg")
/// ```
///
/// `GtkPicture` and `GtkImage` show it themselves; a `GtkButton`, and whatever else has a property `child`, as libshumate's
/// `ShumateMarker` has, gets a `GtkPicture` as its child unless it has one or a `GtkImage`. Other ways to show pictures
/// conform to `ImageDisplay` and use an `ImageSlot`.
///
/// A new picture cancels the load of the earlier one; a picture in memory is there when the call returns. Nothing here keeps
/// the widget alive, and when it is destroyed its loads are cancelled. Make it as often as you like: what is known of a
/// widget is kept with the widget.
@MainActor
public struct ImageWidget {
    /// A part of a widget with a picture of its own.
    public enum Part: Sendable, Hashable, CaseIterable {
        /// The widget, or a button that is not pressed.
        case normal
        /// A button while it is pressed.
        case pressed
        /// A button that cannot be pressed.
        case insensitive
    }

    let state: WidgetState
    let pipeline: ImagePipeline

    /// Takes a widget of a type that Swift imports as opaque, as `GtkPicture`.
    ///
    /// - Precondition: It can show a picture, as said above.
    public init(_ widget: OpaquePointer, pipeline: ImagePipeline = .shared) {
        self.init(UnsafeMutableRawPointer(widget), pipeline: pipeline)
    }

    /// Takes a widget of a type that Swift imports as a structure, as `GtkWidget` and `GtkButton`.
    ///
    /// - Precondition: It can show a picture, as said above.
    public init<Widget>(_ widget: UnsafeMutablePointer<Widget>, pipeline: ImagePipeline = .shared) {
        self.init(UnsafeMutableRawPointer(widget), pipeline: pipeline)
    }

    /// Takes a widget that is known by its address.
    ///
    /// - Precondition: It is a widget, and can show a picture, as said above.
    public init(_ widget: UnsafeMutableRawPointer, pipeline: ImagePipeline = .shared) {
        guard let state = WidgetState.of(widget) else {
            preconditionFailure("a picture can be set into GtkPicture, GtkImage, GtkButton and what has a child")
        }
        self.state = state
        self.pipeline = pipeline
    }

    /// Loads the picture at `url` and shows it; with `nil` the placeholder is shown.
    ///
    /// - Parameters:
    ///   - url: Where the picture is: `http`, `https`, `file` or `data`.
    ///   - part: For buttons, the state in which it is seen.
    ///   - placeholder: What is seen until the picture is there.
    ///   - options: What is to be done differently; animated pictures play unless `firstFrameOnly` says otherwise.
    ///   - size: The size in pixels of the screen to which the picture is decoded. By default the widget's size, by its
    ///     scale factor; a widget that is not laid out yet loads when it is, unless it has a size request.
    ///   - transform: What is done to the decoded picture, on a decoding thread.
    ///   - presentation: Indicator, transition and what else is seen meanwhile.
    ///   - completion: Called once where there is a URL; within this call for a picture in memory.
    public func setImage(
        _ url: String?,
        for part: Part = .normal,
        placeholder: Image? = nil,
        options: ImageOptions = [],
        size: PixelSize? = nil,
        transform: (any ImageTransform)? = nil,
        presentation: ImageSlot.Presentation = .init(),
        completion: (@MainActor (Result<ImageResponse, EideticError>) -> Void)? = nil
    ) {
        setImage(
            url,
            for: part,
            placeholder: placeholder,
            options: options,
            size: size,
            transform: transform,
            presentation: presentation,
            progress: nil,
            completion: completion
        )
    }

    /// Loads the picture at `url`, tells how many bytes are there, and shows it.
    ///
    /// The other parameters are those of the form without `progress`.
    public func setImage(
        _ url: String?,
        for part: Part = .normal,
        placeholder: Image? = nil,
        options: ImageOptions = [],
        size: PixelSize? = nil,
        transform: (any ImageTransform)? = nil,
        presentation: ImageSlot.Presentation = .init(),
        progress: (@MainActor (FetchProgress) -> Void)?,
        completion: (@MainActor (Result<ImageResponse, EideticError>) -> Void)?
    ) {
        var presentation = presentation
        presentation.placeholder = placeholder ?? presentation.placeholder
        guard let url else { return set(nil, part, presentation, nil, nil) }
        let plan = LoadPlan(url: url, options: options, transform: transform, mode: state.contentMode)
        guard size == nil, state.knownSize == nil else {
            return set(plan, size ?? state.knownSize, part, presentation, progress, completion)
        }
        setWhenSized(plan, part, presentation, progress, completion)
    }

    /// Loads a picture that is described completely, and shows it; with `nil` the placeholder is shown.
    ///
    /// Nothing is added to the request: `preloadAllFrames` is needed for an animated picture to play.
    public func setImage(
        _ request: ImageRequest?,
        for part: Part = .normal,
        presentation: ImageSlot.Presentation = .init(),
        completion: (@MainActor (Result<ImageResponse, EideticError>) -> Void)? = nil
    ) {
        set(request, part, presentation, nil, completion)
    }

    /// Ends the load of a part; what is shown stays.
    public func cancel(_ part: Part = .normal) { state.existingSlot(part)?.cancel() }

    /// What a part does; `loading` also while it waits for the widget's size.
    public func loadState(_ part: Part = .normal) -> ImageSlot.State {
        guard let slot = state.existingSlot(part) else { return .empty }
        return slot.isWaiting ? .loading : slot.slot.state
    }

    /// The load of a part that goes on; its progress can be asked, its priority changed.
    public func load(_ part: Part = .normal) -> ImageTask? { state.existingSlot(part)?.slot.load }

    /// How animated pictures play in this widget.
    public func setAnimation(_ rules: AnimationRules, for part: Part = .normal) {
        guard state.widget != nil else { return }
        state.slot(part, pipeline).rules = rules
    }
}
#endif
