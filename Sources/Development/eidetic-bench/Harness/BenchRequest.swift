/// The parsed command line.
struct BenchRequest {
    private enum Action { case list, help, run }

    /// A suite, and the `--NAME=VALUE` arguments that follow it.
    private struct SuiteRun {
        let suite: Suite
        var arguments: [String: String] = [:]
    }

    private var action = Action.run
    private var isJSON = false
    private var isQuick = false
    private var runs: [SuiteRun] = []

    static let usage = """
        usage: eidetic-bench [--list] [--json] [--quick] SUITE [ARGUMENT] [--NAME=VALUE …] …
               eidetic-bench [--json] [--quick] all

        Runs suites of benchmarks. Arguments after a suite's name apply to that suite; --list lists them.
        --json prints one object per case. --quick measures less where a suite supports it: whether it works, not how
        fast.
        """

    init(arguments: [String]) throws(UsageError) {
        var remaining = arguments[...]
        while let argument = remaining.popFirst() {
            switch argument {
            case "--list": action = .list
            case "--help", "-h": action = .help
            case "--json": isJSON = true
            case "--quick": isQuick = true
            case "all": runs += Suite.all.map { SuiteRun(suite: $0) }
            case _ where argument.hasPrefix("-"): try parseOption(argument, remaining: &remaining)
            case _ where parsePositional(argument): break
            default: runs.append(SuiteRun(suite: try Self.suite(named: argument)))
            }
        }
        guard action != .run || !runs.isEmpty else { throw UsageError(message: "missing suite name\n\(Self.usage)") }
    }

    /// Performs the requested action.
    ///
    /// - Returns: The exit status: 1 if a suite failed; otherwise, 0.
    func perform() async -> Int32 {
        switch action {
        case .help: print(Self.usage)
        case .list:
            for suite in Suite.all {
                print("\(suite.name)  \(suite.summary)")
                for argument in suite.arguments { print("    --\(argument)") }
            }
        case .run: return await runAll()
        }
        return 0
    }

    private func runAll() async -> Int32 {
        var status: Int32 = 0
        for run in runs {
            let bench = Bench(
                suite: run.suite.name,
                arguments: run.arguments,
                isJSON: isJSON,
                isQuick: isQuick
            )
            do {
                try await run.suite.run(bench)
            } catch {
                printError("eidetic-bench: \(run.suite.name) failed: \(error)")
                status = 1
            }
        }
        return status
    }

    /// Stores an argument without a name in the suite before it, if that accepts one and it is not the name of a suite.
    ///
    /// - Returns: `true` if the argument was stored; otherwise, `false`.
    private mutating func parsePositional(_ argument: String) -> Bool {
        guard let last = runs.indices.last, let name = runs[last].suite.positional,
            runs[last].arguments[name] == nil, !Suite.all.contains(where: { $0.name == argument })
        else { return false }
        runs[last].arguments[name] = argument
        return true
    }

    /// Stores a `--NAME=VALUE` or `--NAME VALUE` argument in the suite before it.
    private mutating func parseOption(_ argument: String, remaining: inout ArraySlice<String>) throws(UsageError) {
        var parts = argument.drop { $0 == "-" }.split(separator: "=", maxSplits: 1).map(String.init)
        if parts.count == 1, !argument.hasSuffix("="), let value = remaining.popFirst() { parts.append(value) }
        guard argument.hasPrefix("--"), parts.count == 2, let last = runs.indices.last else {
            throw UsageError(message: "unknown option \(argument)\n\(Self.usage)")
        }
        let suite = runs[last].suite
        guard suite.arguments.contains(where: { $0.hasPrefix("\(parts[0])=") }) else {
            throw UsageError(message: "\(suite.name) has no argument --\(parts[0])")
        }
        runs[last].arguments[parts[0]] = parts[1]
    }

    private static func suite(named name: String) throws(UsageError) -> Suite {
        guard let suite = Suite.all.first(where: { $0.name == name }) else {
            let names = Suite.all.map(\.name).joined(separator: ", ")
            throw UsageError(message: "unknown suite \"\(name)\"; the suites are: \(names), all")
        }
        return suite
    }
}
