/// The statistics of all loads since a pipeline was created.
///
/// ``prometheusText`` has further counts, and the times of the stages.
public struct PipelineStatistics: Sendable, Hashable {
    /// The durations of the steps of one kind.
    package struct Stage: Sendable, Hashable {
        /// The number of steps.
        package var count = 0
        /// The duration of all steps together, with their waiting time.
        package var total: Duration = .zero
        /// The part of ``total`` in which the steps waited: for threads, for memory, or in the queue of downloads.
        package var waiting: Duration = .zero
        /// The duration of the longest step, with its waiting time.
        package var longest: Duration = .zero

        package init() {}

        /// The part of ``total`` in which the steps did not wait.
        package var working: Duration { total - waiting }
    }

    /// The number of loads.
    public var loads = 0
    /// The number of images from memory.
    public var memoryHits = 0
    /// The number of images from the disk cache; local resources are not counted.
    public var diskHits = 0
    /// The number of images that the disk cache had resized and transformed already.
    package var derivedHits = 0
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
    /// One load may join several, for example with `refreshCached`. It is counted even if it is cancelled afterwards.
    package var joined = 0
    /// The number of encoded bytes that caches saved from the network.
    ///
    /// An unchanged image that a server sent again is not counted.
    package var savedBytes = 0
    /// The number of images that were decoded in the sandbox.
    package var sandboxedImages = 0
    /// The number of images decoded in this process because there was no program for the sandbox.
    package var unsandboxedImages = 0
    /// The steps by their kind; a step that several loads share counts for each.
    package var stages: [LoadTrace.Stage: Stage] = [:]

    package init() {}
}

extension PipelineStatistics {
    /// The fraction of all images that came from memory; 0 without images.
    package var memoryHitRatio: Double { ratio(memoryHits, of: memoryHits + diskHits + sharedHits + networkLoads) }

    /// The fraction of the images not in memory that came from disk; 0 without images.
    package var diskHitRatio: Double { ratio(diskHits, of: diskHits + sharedHits + networkLoads) }

    /// The fraction of the images neither in memory nor on disk that came from the shared tier; 0 without images.
    package var sharedHitRatio: Double { ratio(sharedHits, of: sharedHits + networkLoads) }

    private func ratio(_ part: Int, of total: Int) -> Double { total == 0 ? 0 : Double(part) / Double(total) }

    /// The statistics in the text format of Prometheus.
    ///
    /// - SeeAlso: https://prometheus.io/docs/instrumenting/exposition_formats/
    public var prometheusText: String {
        let counters: [(String, String, Int)] = [
            ("loads_total", "Loads of images.", loads),
            ("memory_hits_total", "Images from memory.", memoryHits),
            ("disk_hits_total", "Images from disk.", diskHits),
            ("derived_hits_total", "Images from disk in their size, and transformed.", derivedHits),
            ("shared_hits_total", "Images from the shared tier.", sharedHits),
            ("network_loads_total", "Images from the network.", networkLoads),
            ("cancelled_total", "Loads that were cancelled.", cancelled),
            ("failures_total", "Loads that failed.", failures),
            ("joined_total", "Joins of the download or decode of another load.", joined),
            ("saved_bytes_total", "Encoded bytes that caches saved from the network.", savedBytes),
            ("sandboxed_images_total", "Images that were decoded in the sandbox.", sandboxedImages),
            ("unsandboxed_images_total", "Images that were decoded without the missing sandbox.", unsandboxedImages),
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
        let sorted = stages.sorted { $0.key.rawValue < $1.key.rawValue }
        let lines = sorted.map { stage, numbers in
            let label = "{stage=\"\(stage.rawValue)\"}"
            return "eidetic_stage_seconds_sum\(label) \(numbers.total.inSeconds)\n"
                + "eidetic_stage_seconds_count\(label) \(numbers.count)\n"
        }
        let waitingHead =
            "# HELP eidetic_stage_waiting_seconds_total Waiting time by stage, a part of eidetic_stage_seconds.\n"
            + "# TYPE eidetic_stage_waiting_seconds_total counter\n"
        let waitingLines = sorted.map { stage, numbers in
            "eidetic_stage_waiting_seconds_total{stage=\"\(stage.rawValue)\"} \(numbers.waiting.inSeconds)\n"
        }
        return head + lines.joined() + waitingHead + waitingLines.joined()
    }
}
