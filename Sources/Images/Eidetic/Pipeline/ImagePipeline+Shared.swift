import EideticCore

extension ImagePipeline {
    private static let current = SharedPipeline()

    /// The default pipeline; the first use creates it with the standard configuration.
    ///
    /// It can be replaced at any time, on any thread. ``ImageCache/shared`` always is the cache of the current one.
    /// Slots, widgets and prefetchers without their own pipeline use the new one from their next load on. Loads in
    /// progress finish in the pipeline that started them.
    public static var shared: ImagePipeline {
        get { current.pipeline }
        set { current.replace(with: newValue) }
    }

    /// Creates a pipeline with a standard configuration that `configure` changes.
    ///
    /// ```swift
    /// let pipeline = ImagePipeline { $0.memoryLimit = .mebibytes(64) }
    /// ```
    ///
    /// - Parameter configure: A function that changes the standard configuration.
    /// - Throws: The error of `configure`.
    public convenience init<Failure: Error>(configure: (inout Configuration) throws(Failure) -> Void) throws(Failure) {
        var configuration = Configuration.standard
        try configure(&configuration)
        self.init(configuration)
    }
}

/// The shared pipeline: created on first use, unless it was set before.
private final class SharedPipeline: Sendable {
    private let current = Guarded<ImagePipeline?>(nil)
    /// The lock of those that create the first pipeline; nobody else waits for it.
    private let creation = Guarded<Void>(())

    var pipeline: ImagePipeline { existing ?? creation.withLock { _ in existing ?? insert(ImagePipeline(.standard)) } }

    private var existing: ImagePipeline? { current.withLock { $0 } }

    /// Inserts the first pipeline, unless another was set meanwhile; returns the shared one.
    private func insert(_ pipeline: ImagePipeline) -> ImagePipeline {
        current.withLock { current in
            let shared = current ?? pipeline
            current = shared
            return shared
        }
    }

    func replace(with pipeline: ImagePipeline) {
        // The old pipeline may end here, which must not happen under the lock.
        _ = current.withLock { exchange(&$0, with: pipeline) }
    }
}
