public import EideticCore

extension Downloader {
    /// Which of two equally urgent downloads starts first.
    public enum ExecutionOrder: Sendable, Hashable {
        /// The one that was asked for first.
        case firstInFirstOut
        /// The one that was asked for last: what the user looks at now.
        case lastInFirstOut
    }

    /// What holds for all downloads of a downloader.
    public struct Configuration: Sendable {
        /// The most downloads at once; at least 1, 6 by default.
        public var maximumConcurrent = 6

        /// The most downloads at once from one origin; at least 1, without a limit of its own by default.
        public var maximumPerHost = Int.max

        /// Which of equally urgent downloads starts first; first in, first out by default.
        public var executionOrder = ExecutionOrder.firstInFirstOut

        /// After so long in the queue a download goes before all others; 30 seconds by default.
        public var patience: Duration = .seconds(30)

        /// Header fields of every request; those of the request itself replace them.
        ///
        /// Empty by default.
        public var headers = HTTPHeaders()

        /// The media types that can be used, best first: the `Accept` field is made of them; `image/*` by default.
        ///
        /// `*/*;q=0.8` is added, since many servers know no better than to refuse otherwise.
        public var acceptedTypes = ["image/*"]

        /// The `User-Agent` field; `eidetic/VERSION` by default.
        public var userAgent = "eidetic/\(Version.current)"

        /// The most redirects that are followed; 10 by default.
        public var redirectLimit = 10

        /// A file of certificates (PEM) to trust instead of the system's; `nil`, the system's, by default.
        public var caFile: String?

        /// The shortest time between two reports of progress of one download; zero, every piece, by default.
        ///
        /// The first and the last report always come.
        public var minimumProgressInterval: Duration = .zero

        /// The clocks; the system's by default.
        public var time: any TimeSource = SystemTime()

        /// Creates a configuration with the defaults above.
        public init() {}
    }
}
