import EideticCore

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
