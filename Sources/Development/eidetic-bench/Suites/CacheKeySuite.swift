import EideticCore

extension Suite {
    /// The cost of creating a cache key.
    static let cacheKey = Suite(
        "cache-key",
        summary: "creating a cache key from a URL, against hashing the String itself"
    ) {
        bench in
        let urls = (0..<1_000).map {
            "https://images01.example.org/albums/2026/holiday/large/IMG_\(1_000_000 + $0).jpeg?w=640"
        }
        await bench.compare(
            BenchmarkCase("a URL of 79 bytes", unit: .nanoseconds, goal: .ratio(1)),
            operations: urls.count,
            with: "String.hashValue",
            ours: { for url in urls { blackHole(CacheKey(url)) } },
            theirs: { for url in urls { blackHole(url.hashValue) } }
        )
    }
}
