public import EideticCore

extension ImagePipeline {
    /// The bytes of decoded pictures that are in memory now.
    ///
    /// - Complexity: O(1).
    public var memoryUsage: ByteCount { memory.images.totalCost }
}
