/// A group of cases that are run together.
///
/// Each stands in a file of its own in `Suites/`, as a static constant in an extension, and in the list ``all``.
struct Suite: Sendable {
    let name: String
    /// What is measured against what, in one line.
    let summary: String
    /// What `--NAME=VALUE` arguments it takes, each as "NAME=VALUE  what it means".
    let arguments: [String]
    /// Which of the arguments may stand without its name, first.
    let positional: String?
    /// Measures, and reports through the bench.
    let run: @Sendable (Bench) async throws -> Void

    init(
        _ name: String,
        summary: String,
        arguments: [String] = [],
        positional: String? = nil,
        run: @escaping @Sendable (Bench) async throws -> Void
    ) {
        self.name = name
        self.summary = summary
        self.arguments = arguments
        self.positional = positional
        self.run = run
    }

    /// Every suite, in the order of `--list`.
    static let all: [Suite] = [
        cacheKey,
        memoryCache,
        hitRatio,
        decode,
        fetch,
        fetchLossy,
        diskCache,
        background,
        pipeline,
        load,
    ]
}
