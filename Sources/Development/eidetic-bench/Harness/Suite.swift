/// A group of benchmarks that run together.
///
/// Each suite is a static constant in a file in `Suites/`, and an element of ``all``.
struct Suite: Sendable {
    let name: String
    /// A one-line description of the measurements and their baselines.
    let summary: String
    /// The `--NAME=VALUE` arguments, each as "NAME=VALUE  description".
    let arguments: [String]
    /// The name of the argument that may be given first and without its name.
    let positional: String?
    /// The function that measures and reports all cases.
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

    /// All suites, in the order of `--list`.
    static let all: [Suite] = [
        cacheKey,
        memoryCache,
        memory,
        hitRatio,
        decode,
        fetch,
        fetchLossy,
        diskCache,
        shared,
        background,
        transfer,
        pipeline,
        load,
        derived,
        transform,
        sandbox,
        service,
        gallery,
    ]
}
