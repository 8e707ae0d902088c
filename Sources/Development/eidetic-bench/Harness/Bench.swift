/// The environment of a suite: its arguments, measurement functions and output format.
struct Bench: Sendable {
    let suite: String
    /// The values of the suite's `--NAME=VALUE` arguments.
    let arguments: [String: String]
    let isJSON: Bool
    /// A Boolean value indicating whether fewer samples are measured, to see whether a suite works.
    let isQuick: Bool

    /// Returns the value of an integer argument; without one, `quick` for `--quick`, and else the default.
    func integer(named name: String, default value: Int, quick: Int? = nil) throws(UsageError) -> Int {
        guard let text = arguments[name] else { return isQuick ? quick ?? value : value }
        guard let number = Int(text) else { throw UsageError(message: "--\(name): \"\(text)\" is not a number") }
        return number
    }

    /// Returns the number of samples: one for `--quick`.
    func sampleCount(_ count: Int) -> Int { isQuick ? 1 : count }

    /// Measures code of Eidetic against a baseline, and reports both.
    ///
    /// Both functions run once to warm up. Then their samples alternate, so that other load on the machine affects both
    /// equally. A sample is the time of one call of `ours` or `theirs`, divided by `operations`.
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
        for _ in 0..<sampleCount(samples) {
            ourTimes.append(benchmark.unit.value(seconds: try await Self.seconds(ours) / Double(operations)))
            theirTimes.append(benchmark.unit.value(seconds: try await Self.seconds(theirs) / Double(operations)))
        }
        report(benchmark, samples: Samples(values: ourTimes), baseline: (baseline, Samples(values: theirTimes)))
    }

    /// Measures code without a baseline, and reports it.
    func measure(
        _ benchmark: BenchmarkCase,
        operations: Int = 1,
        samples: Int = 15,
        body: () async throws -> Void
    ) async rethrows {
        try await body()
        var values: [Double] = []
        for _ in 0..<sampleCount(samples) {
            values.append(benchmark.unit.value(seconds: try await Self.seconds(body) / Double(operations)))
        }
        report(benchmark, samples: Samples(values: values))
    }

    /// Reports samples that the suite has measured or counted itself.
    func report(_ benchmark: BenchmarkCase, samples: Samples, baseline: (name: String, samples: Samples)? = nil) {
        let result = CaseResult(suite: suite, benchmark: benchmark, samples: samples, baseline: baseline)
        print(isJSON ? result.json : result.text)
    }

    /// Returns the run time of a call, in seconds.
    static func seconds(_ body: () async throws -> Void) async rethrows -> Double {
        let clock = ContinuousClock()
        let start = clock.now
        try await body()
        let time = clock.now - start
        return Double(time.components.seconds) + Double(time.components.attoseconds) / 1e18
    }
}

/// Consumes a value, so that the optimiser does not remove its computation.
@inline(never)
@_optimize(none)
func blackHole<Value>(_ value: Value) {}
