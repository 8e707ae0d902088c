/// What a suite measures with.
struct Bench: Sendable {
    let suite: String
    /// The values of the suite's own `--NAME=VALUE` arguments.
    let arguments: [String: String]
    let isJSON: Bool

    /// A whole number among the arguments.
    func integer(named name: String, default value: Int) throws(UsageError) -> Int {
        guard let text = arguments[name] else { return value }
        guard let number = Int(text) else { throw UsageError(message: "--\(name): \"\(text)\" is not a number") }
        return number
    }

    /// Measures something of ours beside something else that does the same.
    ///
    /// Each is run once to warm up, then samples of both are taken in turn, so that whatever else the machine does
    /// meets both. A sample is the time of one call of `ours` or `theirs`, divided by `operations`.
    func compare(
        _ benchmark: BenchmarkCase,
        operations: Int = 1,
        samples: Int = 15,
        with baseline: String,
        ours: () async throws -> Void,
        theirs: () async throws -> Void
    ) async rethrows {
        try await ours()
        try await theirs()
        var ourTimes: [Double] = []
        var theirTimes: [Double] = []
        for _ in 0..<samples {
            ourTimes.append(benchmark.unit.value(seconds: try await Self.seconds(ours) / Double(operations)))
            theirTimes.append(benchmark.unit.value(seconds: try await Self.seconds(theirs) / Double(operations)))
        }
        report(benchmark, samples: Samples(values: ourTimes), baseline: (baseline, Samples(values: theirTimes)))
    }

    /// Measures something alone.
    func measure(
        _ benchmark: BenchmarkCase,
        operations: Int = 1,
        samples: Int = 15,
        body: () async throws -> Void
    ) async rethrows {
        try await body()
        var values: [Double] = []
        for _ in 0..<samples {
            values.append(benchmark.unit.value(seconds: try await Self.seconds(body) / Double(operations)))
        }
        report(benchmark, samples: Samples(values: values))
    }

    /// Reports what a suite has measured or counted itself.
    func report(_ benchmark: BenchmarkCase, samples: Samples, baseline: (name: String, samples: Samples)? = nil) {
        let result = CaseResult(suite: suite, kase: benchmark, samples: samples, baseline: baseline)
        print(isJSON ? result.json : result.text)
    }

    /// How long a call takes.
    static func seconds(_ body: () async throws -> Void) async rethrows -> Double {
        let clock = ContinuousClock()
        let start = clock.now
        try await body()
        let time = clock.now - start
        return Double(time.components.seconds) + Double(time.components.attoseconds) / 1e18
    }
}

/// Keeps the optimiser from leaving out what nobody reads.
@inline(never)
@_optimize(none)
func blackHole<Value>(_ value: Value) {}
