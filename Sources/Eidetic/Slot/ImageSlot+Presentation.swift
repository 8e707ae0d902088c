public import EideticCore

extension ImageSlot {
    /// How a slot shows a load.
    public struct Presentation: Sendable {
        /// What is shown until the picture is there; nothing by default.
        public var placeholder: Image?

        /// What is shown when the load has failed; by default what was shown before.
        public var failureImage: Image?

        /// Which indicator is shown meanwhile; none by default.
        public var indicator: IndicatorStyle

        /// How the picture comes into view; at once by default.
        ///
        /// Skipped for a picture that was in memory.
        public var transition: ImageTransition?

        /// Whether the same picture in another size, where it is in memory, is shown instead of the placeholder.
        ///
        /// False by default.
        public var usesCachedPreview: Bool

        /// Creates a presentation; the default shows nothing but the picture.
        public init(
            placeholder: Image? = nil,
            failureImage: Image? = nil,
            indicator: IndicatorStyle = .none,
            transition: ImageTransition? = nil,
            startsFromCache: Bool = false
        ) {
            self.placeholder = placeholder
            self.failureImage = failureImage
            self.indicator = indicator
            self.transition = transition
            self.usesCachedPreview = startsFromCache
        }

        /// Whether the same is seen until the picture is there.
        func hasSameAppearance(as other: Presentation) -> Bool {
            placeholder?.pixels === other.placeholder?.pixels && indicator == other.indicator
                && usesCachedPreview == other.usesCachedPreview
        }
    }

    /// A kind of indicator.
    public enum IndicatorStyle: Sendable, Hashable {
        /// None.
        case none
        /// Something turns.
        case spinner
        /// A bar or a ring fills.
        case progress
    }

    /// What a slot does.
    public enum State: Sendable {
        /// Nothing was asked for.
        case empty
        /// A picture is being loaded.
        case loading
        /// The picture is shown.
        case shown(ImageSource)
        /// The load failed.
        case failed(EideticError)
    }
}
