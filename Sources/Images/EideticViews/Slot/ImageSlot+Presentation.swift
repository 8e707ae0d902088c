public import EideticCore

extension ImageSlot {
    /// The way in which a slot shows a load.
    public struct Presentation: Sendable {
        /// The image that is shown until the load is finished; none by default.
        public var placeholder: Image?

        /// The image that is shown if the load fails or there is no request; by default what was shown before.
        public var failureImage: Image?

        /// The indicator that is shown until the load is finished; none by default.
        public var indicator: IndicatorStyle

        /// The transition to the loaded image; by default it is shown at once.
        ///
        /// An image from memory is shown without a transition, unless ``transitionsFromMemory`` is true.
        public var transition: ImageTransition?

        /// A Boolean value indicating whether the same image in another size, if memory has it, replaces the
        /// placeholder.
        ///
        /// An image that only the disk has replaces the placeholder when it is decoded, also one that is stale, unless
        /// the loaded image is there before it. False by default.
        public var usesCachedPreview: Bool

        /// A Boolean value indicating whether the placeholder that is stored with the image on disk is shown meanwhile.
        ///
        /// It replaces ``placeholder`` when it is read, unless something else is shown by then. False by default.
        public var usesStoredPlaceholder: Bool

        /// A Boolean value indicating whether a request without a size is decoded to the size of the view; true by
        /// default.
        ///
        /// It concerns displays that know their size, as the widgets of `EideticGTK`.
        public var usesViewSize: Bool

        /// A Boolean value indicating whether the placeholder is shown only after the load has failed or ended without
        /// an image; false by default.
        public var delaysPlaceholder: Bool

        /// A Boolean value indicating whether the shown image stays until the new one is loaded, instead of the
        /// placeholder; false by default.
        public var keepsCurrentImage: Bool

        /// A Boolean value indicating whether an image from memory is shown with the ``transition`` too.
        ///
        /// False by default.
        public var transitionsFromMemory: Bool

        /// A Boolean value indicating whether the completion handler is called after the ``transition``.
        ///
        /// False by default.
        public var completesAfterTransition: Bool

        /// A Boolean value indicating whether the slot shows the image, instead of the completion handler.
        ///
        /// True by default.
        public var setsImage: Bool

        /// A Boolean value indicating whether the slot's earlier load is cancelled; true by default.
        public var cancelsEarlierLoad: Bool

        /// Returns a presentation with a placeholder, such as `.placeholder(.blurHash(text))`.
        public static func placeholder(_ image: Image?) -> Presentation { Presentation(placeholder: image) }

        /// A presentation with the placeholder that is stored with the image on disk.
        public static var storedPlaceholder: Presentation { Presentation(usesStoredPlaceholder: true) }

        /// Creates a presentation; by default it shows nothing but the loaded image.
        public init(
            placeholder: Image? = nil,
            failureImage: Image? = nil,
            indicator: IndicatorStyle = .none,
            transition: ImageTransition? = nil,
            usesCachedPreview: Bool = false,
            usesStoredPlaceholder: Bool = false,
            usesViewSize: Bool = true,
            delaysPlaceholder: Bool = false,
            keepsCurrentImage: Bool = false,
            transitionsFromMemory: Bool = false,
            completesAfterTransition: Bool = false,
            setsImage: Bool = true,
            cancelsEarlierLoad: Bool = true
        ) {
            self.placeholder = placeholder
            self.failureImage = failureImage
            self.indicator = indicator
            self.transition = transition
            self.usesCachedPreview = usesCachedPreview
            self.usesStoredPlaceholder = usesStoredPlaceholder
            self.usesViewSize = usesViewSize
            self.delaysPlaceholder = delaysPlaceholder
            self.keepsCurrentImage = keepsCurrentImage
            self.transitionsFromMemory = transitionsFromMemory
            self.completesAfterTransition = completesAfterTransition
            self.setsImage = setsImage
            self.cancelsEarlierLoad = cancelsEarlierLoad
        }

        /// A Boolean value indicating whether the placeholder is shown when a load starts.
        package var showsPlaceholderAtStart: Bool { !delaysPlaceholder && !keepsCurrentImage }

        /// Returns whether two presentations show the same until the load is finished.
        func hasSameAppearance(as other: Presentation) -> Bool {
            placeholder?.pixels === other.placeholder?.pixels
                && showsPlaceholderAtStart == other.showsPlaceholderAtStart
                && indicator == other.indicator
                && usesCachedPreview == other.usesCachedPreview
                && usesStoredPlaceholder == other.usesStoredPlaceholder
        }
    }

    /// A style of indicator.
    public enum IndicatorStyle: Sendable, Hashable {
        /// No indicator.
        case none
        /// A spinner, without a measure of progress.
        case spinner
        /// A bar or a ring that is filled.
        case progress

        var initialIndicator: ImageIndicator? {
            switch self {
            case .none: nil
            case .spinner: .spinner
            case .progress: .progress(nil)
            }
        }
    }

    /// The state of a slot.
    public enum State: Sendable {
        /// Nothing was requested, or the load was cancelled.
        case empty
        /// The image is being loaded.
        case loading
        /// The image is shown.
        case shown(ImageSource)
        /// The load failed.
        case failed(EideticError)
    }
}
