/// The statistics of all loads since a pipeline was created.
///
/// ``prometheusText`` has further counts, and the times of the stages.
public struct PipelineStatistics: Sendable, Hashable {
    /// The durations of the steps of one kind.
    package struct Stage: Sendable, Hashable {
        package var count: Int
        /// The duration of all steps together, with their waiting time.
        package var total: Duration
        /// The part of ``total`` in which the steps waited: for threads, for memory, or in the queue of downloads.
        package var waiting: Duration
        /// The duration of the longest step, with its waiting time.
        package var longest: Duration

        package init(count: Int = 0, total: Duration = .zero, waiting: Duration = .zero, longest: Duration = .zero) {
            self.count = count
            self.total = total
            self.waiting = waiting
            self.longest = longest
        }

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
        var text = lines.joined()
        text += "# HELP eidetic_hit_ratio Hits of a tier by look-ups.\n# TYPE eidetic_hit_ratio gauge\n"
        for (tier, ratio) in tiers { text += "eidetic_hit_ratio{tier=\"\(tier)\"} \(ratio)\n" }
        let sorted = stages.sorted { $0.key.rawValue < $1.key.rawValue }
        text += "# HELP eidetic_stage_seconds Time by stage.\n# TYPE eidetic_stage_seconds summary\n"
        for (stage, numbers) in sorted {
            let label = "{stage=\"\(stage.rawValue)\"}"
            text += "eidetic_stage_seconds_sum\(label) \(numbers.total.inSeconds)\n"
            text += "eidetic_stage_seconds_count\(label) \(numbers.count)\n"
        }
        let waiting = "eidetic_stage_waiting_seconds_total"
        text += "# HELP \(waiting) Waiting time by stage, a part of eidetic_stage_seconds.\n# TYPE \(waiting) counter\n"
        for (stage, numbers) in sorted {
            text += "\(waiting){stage=\"\(stage.rawValue)\"} \(numbers.waiting.inSeconds)\n"
        }
        return text
    }
}

extension PipelineStatistics: CustomStringConvertible {
    /// The counts on one line, as in `3 loads: 1 from memory, 0 from disk, 2 from the network; 0 joined, 1.2 MB saved`.
    ///
    /// Cancelled and failed loads, hits in a shared cache, and images without the missing sandbox appear
    /// if there are any.
    public var description: String {
        let optional = [(sharedHits, "from a shared cache"), (cancelled, "cancelled"), (failures, "failed")]
        let outcomes =
            ["\(memoryHits) from memory", "\(diskHits) from disk", "\(networkLoads) from the network"]
            + optional.filter { $0.0 > 0 }.map { "\($0) \($1)" }
        return "\(loads) \(loads == 1 ? "load" : "loads"): \(outcomes.joined(separator: ", ")); "
            + "\(joined) joined, \(ByteCount(savedBytes)) saved"
            + (unsandboxedImages > 0 ? "; \(unsandboxedImages) decoded without the sandbox" : "")
    }
}

extension PipelineStatistics.Stage: CustomStringConvertible {
    /// The times on one line, as in `12 steps, 240.0 ms, 80.0 ms of it waiting, at most 31.5 ms`.
    public var description: String {
        "\(count) \(count == 1 ? "step" : "steps"), \(total.millisecondText), "
            + "\(waiting.millisecondText) of it waiting, at most \(longest.millisecondText)"
    }
}
