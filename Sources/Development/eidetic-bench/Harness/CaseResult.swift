/// The result of a measured case, and its output formats.
struct CaseResult {
    let suite: String
    let benchmark: BenchmarkCase
    let samples: Samples
    let baseline: (name: String, samples: Samples)?

    /// The median divided by the baseline's median.
    private var ratio: Double? { baseline.map { samples.median / $0.samples.median } }

    private var goal: (ratio: Double?, value: Double?) {
        switch benchmark.goal {
        case .ratio(let ratio): (ratio, nil)
        case .value(let value): (nil, value)
        case nil: (nil, nil)
        }
    }

    /// The result as a JSON object on one line.
    var json: String {
        let fields: [(String, String)] = [
            ("suite", Self.quoted(suite)), ("case", Self.quoted(benchmark.name)),
            ("unit", Self.quoted(benchmark.unit.rawValue)),
            ("median", Self.number(samples.median)), ("min", Self.number(samples.minimum)),
            ("samples", "\(samples.values.count)"),
            ("baseline", baseline.map { Self.quoted($0.name) } ?? "null"),
            ("baselineMedian", Self.number(baseline?.samples.median)), ("ratio", Self.number(ratio)),
            ("direction", Self.quoted(benchmark.direction.rawValue)),
            ("goalRatio", Self.number(goal.ratio)), ("goalValue", Self.number(goal.value)),
        ]
        return "{" + fields.map { "\"\($0)\":\($1)" }.joined(separator: ",") + "}"
    }

    /// The result as a readable line of text.
    var text: String {
        var line = "\(suite): \(benchmark.name): \(Self.rounded(samples.median)) \(benchmark.unit.rawValue)"
        line += " (min \(Self.rounded(samples.minimum)), \(samples.values.count) samples)"
        if let baseline, let ratio {
            line += "; \(baseline.name) \(Self.rounded(baseline.samples.median)), ratio \(Self.rounded(ratio))"
        }
        return line + verdict
    }

    /// The goal, and "met" or "missed"; empty without a goal.
    private var verdict: String {
        let reached = goal.ratio == nil ? samples.median : ratio
        guard let target = goal.ratio ?? goal.value, let reached else { return "" }
        let isMet = benchmark.direction == .lower ? reached <= target : reached >= target
        let sign = benchmark.direction == .lower ? "≤" : "≥"
        return "; goal \(goal.ratio == nil ? "" : "ratio ")\(sign) \(Self.rounded(target)): \(isMet ? "met" : "missed")"
    }

    private static func number(_ value: Double?) -> String {
        guard let value, value.isFinite else { return "null" }
        return "\(value)"
    }

    /// Returns a number with about three significant digits and without an exponent.
    private static func rounded(_ value: Double) -> String {
        guard value.isFinite else { return "–" }
        guard abs(value) < 100 else { return "\(Int(value.rounded()))" }
        let factor = abs(value) < 1 ? 1_000.0 : abs(value) < 10 ? 100.0 : 10.0
        return "\((value * factor).rounded() / factor)"
    }

    private static func quoted(_ text: String) -> String {
        let escaped = text.unicodeScalars.map { scalar in
            switch scalar {
            case "\"": "\\\""
            case "\\": "\\\\"
            case "\u{0}"..<" ": "\\u00" + (scalar.value < 16 ? "0" : "") + String(scalar.value, radix: 16)
            default: String(scalar)
            }
        }
        return "\"" + escaped.joined() + "\""
    }
}
