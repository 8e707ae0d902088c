/// A measured case, ready to be printed.
struct CaseResult {
    let suite: String
    let kase: BenchmarkCase
    let samples: Samples
    let baseline: (name: String, samples: Samples)?

    /// Ours divided by the baseline.
    private var ratio: Double? { baseline.map { samples.median / $0.samples.median } }

    private var goal: (ratio: Double?, value: Double?) {
        switch kase.goal {
        case .ratio(let ratio): (ratio, nil)
        case .value(let value): (nil, value)
        case nil: (nil, nil)
        }
    }

    /// One JSON object in one line.
    var json: String {
        let fields: [(String, String)] = [
            ("suite", Self.quoted(suite)), ("case", Self.quoted(kase.name)), ("unit", Self.quoted(kase.unit.rawValue)),
            ("median", Self.number(samples.median)), ("min", Self.number(samples.minimum)),
            ("samples", "\(samples.values.count)"),
            ("baseline", baseline.map { Self.quoted($0.name) } ?? "null"),
            ("baselineMedian", Self.number(baseline?.samples.median)), ("ratio", Self.number(ratio)),
            ("direction", Self.quoted(kase.direction.rawValue)),
            ("goalRatio", Self.number(goal.ratio)), ("goalValue", Self.number(goal.value)),
        ]
        return "{" + fields.map { "\"\($0)\":\($1)" }.joined(separator: ",") + "}"
    }

    /// One line for a person.
    var text: String {
        var line = "\(suite): \(kase.name): \(Self.rounded(samples.median)) \(kase.unit.rawValue)"
        line += " (min \(Self.rounded(samples.minimum)), \(samples.values.count) samples)"
        if let baseline, let ratio {
            line += "; \(baseline.name) \(Self.rounded(baseline.samples.median)), ratio \(Self.rounded(ratio))"
        }
        return line + verdict
    }

    /// Whether the goal was met.
    private var verdict: String {
        let reached = goal.ratio == nil ? samples.median : ratio
        guard let target = goal.ratio ?? goal.value, let reached else { return "" }
        let isMet = kase.direction == .lower ? reached <= target : reached >= target
        let sign = kase.direction == .lower ? "≤" : "≥"
        return "; goal \(goal.ratio == nil ? "" : "ratio ")\(sign) \(Self.rounded(target)): \(isMet ? "met" : "missed")"
    }

    private static func number(_ value: Double?) -> String {
        guard let value, value.isFinite else { return "null" }
        return "\(value)"
    }

    /// Three significant digits, and no exponent.
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
