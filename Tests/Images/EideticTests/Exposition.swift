/// Returns the first violation of the Prometheus text format: each family has its help, its type, then its samples,
/// once.
func firstFlaw(inExposition text: String) -> String? {
    guard text.hasSuffix("\n") else { return "the last line has no end" }
    var families: [String] = [], kind: Substring = "", helped: Substring = "", seen: Set<Substring> = []
    for line in text.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
        let words = line.split(separator: " ")
        guard words.count > 1 else { return "too short: \(line)" }
        if line.hasPrefix("# HELP ") {
            helped = words[2]
        } else if line.hasPrefix("# TYPE ") {
            guard words[2] == helped, !families.contains(String(helped)) else { return "no help, or twice: \(line)" }
            families.append(String(helped))
            kind = words[3]
        } else {
            let name = words[0].prefix { $0 != "{" }, suffixes = kind == "summary" ? ["_sum", "_count"] : [""]
            guard let family = families.last, suffixes.contains(where: { name == family + $0 }),
                name.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }),
                seen.insert(words[0]).inserted, kind != "counter" || name.hasSuffix("_total")
            else { return "not of its family: \(line)" }
        }
    }
    return nil
}
