/// The statistics of all loads since a pipeline was created.
public struct PipelineStatistics: Sendable, Hashable {
    /// The durations of the steps of one kind.
    public struct Stage: Sendable, Hashable {
        /// The number of steps.
        public var count = 0
        /// The duration of all steps together.
        public var total: Duration = .zero
        /// The duration of the longest step.
        public var longest: Duration = .zero
    }

    /// The number of loads.
    public var loads = 0
    /// The number of images from memory.
    public var memoryHits = 0
    /// The number of images from the disk cache; local resources are not counted.
    public var diskHits = 0
    /// The number of images from the tier that several machines share.
    public var sharedHits = 0
    /// The number of images from the network.
    public var networkLoads = 0
    /// The number of loads that were cancelled.
    public var cancelled = 0
    /// The number of loads that failed for another reason.
    public var failures = 0
    /// The number of times that a load joined the download or decode of another one.
    ///
    /// One load may join several, as with `refreshCached`; it is counted also if it is cancelled afterwards.
    public var joined = 0
    /// The number of encoded bytes that caches saved from the network.
    ///
    /// An unchanged image that a server sent again is not counted.
    public var savedBytes = 0
    /// The steps by their kind; a step that several loads share counts for each.
    public var stages: [LoadTrace.Stage: Stage] = [:]
}

extension PipelineStatistics {
    /// The fraction of all images that came from memory; 0 without images.
    public var memoryHitRatio: Double { ratio(memoryHits, of: memoryHits + diskHits + sharedHits + networkLoads) }

    /// The fraction of the images not in memory that came from disk; 0 without images.
    public var diskHitRatio: Double { ratio(diskHits, of: diskHits + sharedHits + networkLoads) }

    /// The fraction of the images neither in memory nor on disk that came from the shared tier; 0 without images.
    public var sharedHitRatio: Double { ratio(sharedHits, of: sharedHits + networkLoads) }

    private func ratio(_ part: Int, of total: Int) -> Double { total == 0 ? 0 : Double(part) / Double(total) }

    /// The statistics in the text format of Prometheus.
    ///
    /// - SeeAlso: https://prometheus.io/docs/instrumenting/exposition_formats/
    public var prometheusText: String {
        let counters: [(String, String, Int)] = [
            ("loads_total", "Loads of images.", loads),
            ("memory_hits_total", "Images from memory.", memoryHits),
            ("disk_hits_total", "Images from disk.", diskHits),
            ("shared_hits_total", "Images from the shared tier.", sharedHits),
            ("network_loads_total", "Images from the network.", networkLoads),
            ("cancelled_total", "Loads that were cancelled.", cancelled),
            ("failures_total", "Loads that failed.", failures),
            ("joined_total", "Joins of the download or decode of another load.", joined),
            ("saved_bytes_total", "Encoded bytes that caches saved from the network.", savedBytes),
        ]
        let lines = counters.map { name, help, value in
            "# HELP eidetic_\(name) \(help)\n# TYPE eidetic_\(name) counter\neidetic_\(name) \(value)\n"
        }
        let tiers = [("memory", memoryHitRatio), ("disk", diskHitRatio), ("shared", sharedHitRatio)]
        let ratios = tiers.map { "{tier=\"\($0)\"} \($1)\n" }
        let head = "# HELP eidetic_hit_ratio Hits of a tier by look-ups.\n# TYPE eidetic_hit_ratio gauge\n"
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
