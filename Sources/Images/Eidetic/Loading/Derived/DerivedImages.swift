extension ImagePipeline.Configuration {
    /// The images of other sizes, and the transformed ones, that are kept on disk beside the images as they were
    /// received.
    ///
    /// They are made after the delivery, while no image is decoded that a caller waits for; those that are not made
    /// when the process ends, or whose pixels memory has lost meanwhile, are made again. They have a share of their own
    /// of the disk cache's limit (`DiskCache.Configuration.derivedShare`), and beyond it are evicted first. One is used
    /// only as long as the disk knows that the resource has the bytes that it was made from, and as long as those are
    /// fresh. Of what must not be stored, of animations, and of images that are not converted to sRGB none are kept.
    ///
    /// The key of a transform names it on disk, too: a transform that makes other pixels than in an earlier version of
    /// the program needs another key.
    public struct DerivedImages: Sendable, Hashable {
        package enum Policy: Sendable, CaseIterable { case originals, both, automatic }

        package var policy: Policy

        /// A Boolean value indicating whether the pixels are kept without loss; false by default.
        ///
        /// Otherwise, opaque images are stored as JPEG with a peak signal-to-noise ratio of at least 42 dB.
        public var isExact: Bool

        package init(policy: Policy, isExact: Bool = false) {
            self.policy = policy
            self.isExact = isExact
        }

        /// Images as they were received, and no others.
        public static let originals = DerivedImages(policy: .originals)
        /// Each image that is made, too.
        public static let both = DerivedImages(policy: .both)
        /// Each image whose reading takes less than a quarter of the processor time in which it was made, too.
        public static let automatic = DerivedImages(policy: .automatic)
    }
}
