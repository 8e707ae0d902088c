/// What a pipeline has done since it was made.
public struct PipelineStatistics: Sendable, Hashable {
    /// How long the steps of one kind took together.
    public struct Stage: Sendable, Hashable {
        /// How many there were.
        public var count = 0
        /// How long they took together.
        public var total: Duration = .zero
        /// How long the longest took.
        public var longest: Duration = .zero
    }

    /// Pictures asked for.
    public var loads = 0
    /// Answers from memory.
    public var memoryHits = 0
    /// Answers from the disk cache; what came from a file, given bytes or a function of the caller's is not counted.
    public var diskHits = 0
    /// Answers from the network.
    public var networkLoads = 0
    /// Loads that their caller cancelled.
    public var cancelled = 0
    /// Loads that failed otherwise.
    public var failures = 0
    /// How often a load joined work that was under way: a download, a decode.
    ///
    /// One load may join several times, as with `refreshCached`, and counts also where its caller leaves afterwards.
    public var joined = 0
    /// Encoded bytes that caches answered without the network.
    ///
    /// A picture that a server sent again although it had not changed is not counted.
    public var savedBytes = 0
    /// Steps by their kind; a shared step counts once for each answer.
    public var stages: [LoadTrace.Stage: Stage] = [:]
}

extension PipelineStatistics {
    /// The part of all answers that came from memory; 0 where there were none.
    public var memoryHitRatio: Double { ratio(memoryHits, of: memoryHits + diskHits + networkLoads) }

    /// The part of the answers that memory did not have, and that came from disk; 0 where there were none.
    public var diskHitRatio: Double { ratio(diskHits, of: diskHits + networkLoads) }

    private func ratio(_ part: Int, of whole: Int) -> Double { whole == 0 ? 0 : Double(part) / Double(whole) }

    /// The numbers in the text format that Prometheus reads.
    ///
    /// - SeeAlso: https://prometheus.io/docs/instrumenting/exposition_formats/
    public var prometheusText: String {
        let counters: [(String, String, Int)] = [
            ("loads_total", "Pictures asked for.", loads),
            ("memory_hits_total", "Answers from memory.", memoryHits),
            ("disk_hits_total", "Answers from disk.", diskHits),
            ("network_loads_total", "Answers from the network.", networkLoads),
            ("cancelled_total", "Loads cancelled by their caller.", cancelled),
            ("failures_total", "Loads that failed.", failures),
            ("joined_total", "Joins of work that was under way.", joined),
            ("saved_bytes_total", "Encoded bytes that caches answered without the network.", savedBytes),
        ]
        let lines = counters.map { name, help, value in
            "# HELP eidetic_\(name) \(help)\n# TYPE eidetic_\(name) counter\neidetic_\(name) \(value)\n"
        }
        let ratios = [("memory", memoryHitRatio), ("disk", diskHitRatio)].map { "{tier=\"\($0)\"} \($1)\n" }
        let head = "# HELP eidetic_hit_ratio Answers of a tier by look-ups.\n# TYPE eidetic_hit_ratio gauge\n"
        return lines.joined() + head + ratios.map { "eidetic_hit_ratio\($0)" }.joined() + stageText
    }

    private var stageText: String {
        let head = "# HELP eidetic_stage_seconds Time by stage.\n# TYPE eidetic_stage_seconds summary\n"
        let lines = stages.sorted { $0.key.rawValue < $1.key.rawValue }.map { stage, numbers in
            let label = "{stage=\"\(stage.rawValue)\"}"
            return "eidetic_stage_seconds_sum\(label) \(numbers.total.inSeconds)\n"
                + "eidetic_stage_seconds_count\(label) \(numbers.count)\n"
        }
        return head + lines.joined()
    }
}
