extension ImagePipeline.Configuration {
    /// The policy for resized and transformed images on disk, which are kept beside the received bytes.
    ///
    /// Derived images are written after delivery, while no caller waits for a decode. If the process ends before that,
    /// or memory has evicted the pixels meanwhile, the image is derived again by a later load. Derived images have a
    /// share of the disk cache's limit (`DiskCache.Configuration.derivedShare`), and beyond it are evicted first.
    ///
    /// A derived image is used only while its original on disk is fresh and has the bytes that it was made from. None
    /// are kept of animations, of images that are not converted to sRGB, and of responses that must not be stored.
    ///
    /// A transform's key is also part of the name on disk. If a new version of a program changes the result of a
    /// transform, it must change the key.
    public struct DerivedImages: Sendable, Hashable {
        package enum Policy: Sendable, CaseIterable { case originals, both, automatic }

        package var policy: Policy

        /// A Boolean value indicating whether an image always has the pixels that its original decodes to; false by
        /// default.
        ///
        /// Derived images are then kept without loss, and none is made from a larger one in memory. Otherwise, opaque
        /// images are stored as JPEG with a peak signal-to-noise ratio of at least 42 dB.
        public var isExact: Bool

        /// The largest number of images that wait for their write; others are not kept.
        package var queueLimit = 1_024

        package init(policy: Policy, isExact: Bool = false) {
            self.policy = policy
            self.isExact = isExact
        }

        /// No derived images; only the received bytes.
        public static let originals = DerivedImages(policy: .originals)
        /// All derived images.
        public static let both = DerivedImages(policy: .both)
        /// Derived images that take less than a quarter of the processor time to read than they took to make; the
        /// default.
        public static let automatic = DerivedImages(policy: .automatic)
    }
}
