extension ImagePrefetcher {
    /// The progress of a group of prefetches.
    public struct Progress: Sendable, Hashable {
        /// The number of images that are done, with or without success.
        public var finished: Int
        /// The number of images among them that failed or were cancelled.
        public var skipped: Int
        /// The number of all images.
        public let total: Int

        /// Creates a progress.
        package init(finished: Int, skipped: Int, total: Int) {
            self.finished = finished
            self.skipped = skipped
            self.total = total
        }
    }

    /// Images that are prefetched together.
    public final class Group: Sendable {
        /// The progress after each image; a slow reader gets the newest value only.
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
        public func finish() async -> Progress { await task.value }
    }
}
