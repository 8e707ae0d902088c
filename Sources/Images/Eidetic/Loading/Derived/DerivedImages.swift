extension ImagePipeline.Configuration {
    /// The images of other sizes, and the transformed ones, that are kept on disk beside the images as they were
    /// received.
    ///
    /// They are made at low priority after the delivery, have a share of the disk cache's limit of their own
    /// (`DiskCache.Configuration.derivedShare`), and beyond it are evicted first. One is used only as long as the disk
    /// knows that the resource has the bytes that it was made from, and as long as those are fresh. Of what must not be
    /// stored, of animations, and of images that are not converted to sRGB none are kept.
    ///
    /// The key of a transform names it on disk, too: a transform that makes other pixels than in an earlier version of
    /// the program needs another key.
    public struct DerivedImages: Sendable, Hashable {
        /// A choice of the images that are kept.
        public enum Policy: Sendable, Hashable, CaseIterable {
            /// Images as they were received, and no others.
            case originals
            /// Each image that is made, too.
            case both
            /// Each image whose reading takes less than a quarter of the processor time in which it was made, too.
            case automatic
        }

        /// The choice; `automatic` by default.
        public var policy: Policy

        /// A Boolean value indicating whether the pixels are kept without loss; false by default.
        ///
        /// Otherwise, opaque images are stored as JPEG with a peak signal-to-noise ratio of at least 42 dB.
        public var isExact: Bool

        /// Creates the settings.
        public init(policy: Policy = .automatic, isExact: Bool = false) {
            (self.policy, self.isExact) = (policy, isExact)
        }
    }
}
