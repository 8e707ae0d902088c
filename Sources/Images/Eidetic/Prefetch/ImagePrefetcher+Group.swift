import EideticCore

extension ImagePrefetcher {
    /// The progress of a group of prefetches.
    public struct Progress: Sendable, Hashable {
        /// The number of images that are done, with or without success.
        public var finished: Int
        /// The number of images among them that failed or were cancelled.
        public var failed: Int
        /// The number of images among them that were already at the destination, so that nothing was loaded.
        public var skipped: Int
        /// The number of all images.
        public let total: Int

        /// Creates a progress.
        package init(finished: Int = 0, failed: Int = 0, skipped: Int = 0, total: Int) {
            self.finished = finished
            self.failed = failed
            self.skipped = skipped
            self.total = total
        }

        /// Counts an image that is done.
        mutating func count(_ outcome: Swift.Result<Result, EideticError>) {
            finished += 1
            switch outcome {
            case .success(let result): if result.wasPresent { skipped += 1 }
            case .failure: failed += 1
            }
        }
    }

    /// Images that are prefetched together.
    public final class Group: Sendable {
        /// The progress after each image; a slow reader receives only the latest value.
        ///
        /// The sequence ends when all images are done.
        public let progress: AsyncStream<Progress>
        private let task: Task<Progress, Never>

        init(progress: AsyncStream<Progress>, task: Task<Progress, Never>) {
            self.progress = progress
            self.task = task
        }

        /// Cancels the group: no further load is started, and the active ones are cancelled.
        public func cancel() { task.cancel() }

        /// Waits until all images are done.
        ///
        /// - Returns: The final progress.
        nonisolated(nonsending) public func finish() async -> Progress { await task.value }
    }
}
